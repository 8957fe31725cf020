/** The composition root: the list of plugins, and a host to run them. */

import { resolve } from 'node:path'
import type { LineInput } from './adapters/sources/lines.ts'
import { systemClock } from './adapters/system/clock.ts'
import { randomIds } from './adapters/system/ids.ts'
import { checkOptions } from './app/check-options.ts'
import { neverAborted } from './app/closed-home-context.ts'
import { createCommandRunner } from './app/command-runner.ts'
import { agentServices } from './app/plugins/agent-services.ts'
import { base } from './app/plugins/base.ts'
import { channels } from './app/plugins/channels.ts'
import { codingAgents } from './app/plugins/coding-agents.ts'
import { commands } from './app/plugins/commands.ts'
import { config } from './app/plugins/config.ts'
import { configuredPlugins } from './app/plugins/configured-plugins.ts'
import { connections } from './app/plugins/connections.ts'
import { conversation } from './app/plugins/conversation.ts'
import { documents } from './app/plugins/documents.ts'
import { egress } from './app/plugins/egress.ts'
import { engine } from './app/plugins/engine.ts'
import { events } from './app/plugins/events.ts'
import { home } from './app/plugins/home.ts'
import { journalFollower } from './app/plugins/journal-follower.ts'
import { kernel } from './app/plugins/kernel.ts'
import { log } from './app/plugins/log.ts'
import { mcp } from './app/plugins/mcp.ts'
import { models } from './app/plugins/models.ts'
import { notifier } from './app/plugins/notifier.ts'
import { past } from './app/plugins/past.ts'
import { queue } from './app/plugins/queue.ts'
import { residents } from './app/plugins/residents.ts'
import { secrets } from './app/plugins/secrets.ts'
import { server } from './app/plugins/server.ts'
import { skills } from './app/plugins/skills.ts'
import { socket } from './app/plugins/socket.ts'
import { sources } from './app/plugins/sources.ts'
import { store } from './app/plugins/store.ts'
import { subAgents } from './app/plugins/sub-agents.ts'
import { tools } from './app/plugins/tools.ts'
import { trace } from './app/plugins/trace.ts'
import type { RunParts } from './app/run-parts.ts'
import { StoreClock } from './app/store-clock.ts'
import { createUnhandledErrors } from './app/unhandled-errors.ts'
import type { CommandContext } from './commands/lib/context.ts'
import type { Progress } from './commands/lib/progress.ts'
import type { CommandInput, CommandName, CommandOutput } from './commands/lib/registry.ts'
import { defaultHome } from './config.ts'
import { readSafely, type TirelessError } from './domain/error.ts'
import type { StopSignals } from './engine/advance.ts'
import { homePaths } from './home.ts'
import { createHost, type Host } from './host/host.ts'
import type { Channel } from './ports/channel.ts'
import type { BasicClock } from './ports/clock.ts'
import type { Resolver } from './ports/egress.ts'
import { runAsOwner } from './ports/fault-owner.ts'
import type { Ids } from './ports/ids.ts'
import type { GivenModel } from './ports/model.ts'
import type { Plugin } from './ports/plugin.ts'

export { readConfig } from './app/config-service.ts'
export { lockHome } from './app/lock-home.ts'

export interface AppOptions extends RunParts {
  /** Path of the home; created if it does not exist. */
  readonly home?: string | undefined
  /** A configuration file; default: `tireless.yaml` in the home, if it exists. */
  readonly config?: string | undefined
  /** Plugins to add to those of the configuration. */
  readonly plugins?: readonly Plugin[]
  /** Leaves out the plugins of the configuration, because loading them failed with this error. */
  readonly withoutPlugins?: TirelessError
  /** True: `tireless.config.ts` of the home is loaded, as the command line does it. */
  readonly withOwnerModule?: boolean
  /** Channels to add to the built-in ones. */
  readonly channels?: readonly Channel[]
  /** The standard input, for a source that reads lines. */
  readonly input?: () => LineInput
  /** Replaces the configured model: one of this library's form, or of an AI SDK provider. */
  readonly model?: GivenModel | undefined
  /** Abort signals that stop the app. */
  readonly signals?: StopSignals
  readonly clock?: BasicClock
  readonly ids?: Ids
  /** If given, the start waits for a database that is away, instead of failing; called with the reason meanwhile. */
  readonly onStoreAway?: ((error: TirelessError) => void) | undefined
  /** Resolves host names; default: the resolver of the machine. */
  readonly resolve?: Resolver
  /** Name of this process, as the lock file of the home shows it to others. */
  readonly name?: string
  /**
   * True: the process runs only this app, so no unhandled rejection ends it. Default: a rejection of other code does.
   */
  readonly ownsProcess?: boolean
}

export interface App {
  readonly context: CommandContext
  readonly service: Host['service']
  /** Contract: runs the command, as the command line would. */
  run<Name extends CommandName>(
    command: Name,
    input: CommandInput<Name>,
    tell?: (progress: Progress) => void,
  ): Promise<CommandOutput<Name>>
  /** The same for a command whose name the compiler does not know; throws `usage` if there is no such command. */
  runByName(command: string, input: unknown, tell?: (progress: Progress) => void): Promise<unknown>
  /** Contract: when it resolves, nothing of the app runs and other processes can hold the home. */
  close(): Promise<void>
}

/** Contract: the app holds the home until it is closed. Throws `home_locked` if another process holds the home. */
export async function createApp(options: AppOptions = {}): Promise<App> {
  checkOptions(options)
  const { ids = randomIds, signals = neverAborted() } = options
  const clock = new StoreClock(options.clock ?? systemClock)
  const app = {}
  const unhandledErrors = createUnhandledErrors(app, options.ownsProcess ?? false)
  const host = createHost(clock)
  host.use(
    base(clock, ids, unhandledErrors),
    home(homePaths(resolve(options.home ?? defaultHome())), options.name ?? 'library'),
    config(options.config),
    secrets(),
    events(),
    log(),
    store({ onAway: options.onStoreAway, stop: signals.drain }),
    journalFollower(),
    egress(options.resolve),
    trace(),
    tools(options),
    skills(),
    mcp(),
    models(options.model),
    engine(),
    past(),
    documents(),
    queue(signals),
    channels(options.channels ?? []),
    connections(),
    notifier(),
    conversation(),
    subAgents(),
    codingAgents(),
    residents(),
    sources(options.input, options.withoutPlugins !== undefined),
    kernel(),
    server(),
    commands(),
    agentServices(),
    configuredPlugins({
      use: (...plugins) => void host.use(...plugins),
      without: options.withoutPlugins,
      withOwnerModule: options.withOwnerModule ?? false,
    }),
    ...(options.plugins ?? []),
    socket(),
  )
  const close = (): Promise<void> => host.stop().finally(() => unhandledErrors.close())
  try {
    await runAsOwner({ who: 'the start', app }, () => host.start())
  } catch (thrown) {
    unhandledErrors.close()
    throw thrown
  }
  const context = host.service('commands')
  const runNamed = createCommandRunner(context)
  const runByName: App['runByName'] = async (name, input, tell) =>
    runAsOwner({ who: readSafely('command', () => `command ${name}`), app }, () => runNamed(name, input, tell))
  // The command checks its output against the same schema from which the type comes.
  return { context, service: host.service, run: runByName as App['run'], runByName, close }
}
