/** The composition root: configuration in, a working program out. The only place that knows every adapter. */

import { resolve } from 'node:path'
import { systemClock } from './adapters/clock.ts'
import { hostEnvs } from './adapters/envs/host/host.ts'
import { workspacePreparer } from './adapters/envs/workspace.ts'
import { randomIds } from './adapters/ids.ts'
import { configuredModels } from './adapters/models/configured.ts'
import { openSqliteStore } from './adapters/stores/sqlite/store.ts'
import { builtinTools } from './adapters/tools/tools.ts'
import { soloBehaviours } from './behaviours/solo.ts'
import { COMMANDS } from './commands/all.ts'
import type { Context, Progress } from './commands/command.ts'
import { execute } from './commands/execute.ts'
import { apiKeyOf, type Config, defaultHome, environment, type LoadedConfig, loadConfig } from './config.ts'
import { TirelessError } from './domain/error.ts'
import type { Signals } from './engine/advance.ts'
import type { Engine } from './engine/run.ts'
import { type HomePaths, holdHome, homeLocked, homePaths } from './home.ts'
import { createDoorbell, type Doorbell, ringing } from './kernel/doorbell.ts'
import { drain, joinHome, type Kernel, leaveHome } from './kernel/drain.ts'
import type { Critic } from './ports/behaviour.ts'
import { type Clock, iso } from './ports/clock.ts'
import type { Ids } from './ports/ids.ts'
import type { Model, Models } from './ports/model.ts'
import type { Sink } from './ports/sink.ts'
import type { Store } from './ports/store.ts'
import type { AnyTool } from './ports/tool.ts'
import { serveSocket } from './server/socket.ts'

export interface AppOptions {
  /** The home; made where there is none. */
  readonly home?: string | undefined
  /** A configuration file; default: `tireless.yaml` in the home, where there is one. */
  readonly config?: string | undefined
  readonly tools?: readonly AnyTool[]
  readonly critics?: readonly Critic[]
  /** Used instead of what the configuration names. */
  readonly model?: Model | undefined
  /** How the app is asked to stop. */
  readonly signals?: Signals
  readonly clock?: Clock
  readonly ids?: Ids
  /** Who holds the home, as others are told. */
  readonly name?: string
}

export interface App {
  readonly context: Context
  /** Contract: runs the command of that name, as the command line would. */
  run(command: string, input: unknown, tell?: (progress: Progress) => void): Promise<unknown>
  /** Contract: nothing of it runs afterwards, and the home is free. */
  close(): Promise<void>
}

/** Contract: holds the home until it is closed; throws `home_locked` when another process does. */
export async function createApp(options: AppOptions = {}): Promise<App> {
  const paths = homePaths(resolve(options.home ?? defaultHome()))
  const clock = options.clock ?? systemClock
  const lock = holdHome(paths, { pid: process.pid, command: options.name ?? 'library', since: iso(clock.now()) })
  if (!lock) throw homeLocked(paths)
  const undo: (() => unknown)[] = [() => lock.release()]
  const close = async (): Promise<void> => {
    for (let step = undo.pop(); step; step = undo.pop()) await step()
  }
  try {
    const loaded = readConfig(paths, options.config)
    const bell = createDoorbell()
    const store = ringing(await openSqliteStore({ file: paths.database }), bell)
    undo.push(() => store.close())
    const sinks = fanOut()
    const engine = compose(options, loaded.config, paths, store, clock, sinks.sink)
    const queue = queueOf(engine, bell, loaded.config, options.signals ?? neverStop())
    undo.push(() => queue.leave())
    const context: Context = {
      ...queue,
      store,
      clock,
      ids: engine.ids,
      bell,
      kernelId: loaded.config.kernel.id,
      agents: ['default', ...loaded.config.kernel.agents.map((agent) => agent.agent_id)],
      checkConfig: () => readConfig(paths, options.config),
      workspace: workspacePreparer(paths.root, paths.workspaces, environment()),
      listen: sinks.listen,
      notices: noticesOf(loaded.config, engine.models),
      health: () => ({
        ok: queue.damage().length === 0,
        reasons: queue.damage().map((found) => `the database is damaged: ${found}`),
        degraded: bashIsOn(loaded.config) ? [] : [BASH_IS_OFF],
      }),
    }
    const socket = await serveSocket(paths.socket, COMMANDS, context)
    undo.push(() => socket.close())
    return { context, run: runner(context), close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

export function readConfig(paths: HomePaths, file: string | undefined): LoadedConfig {
  return loadConfig({ file: file ?? paths.config, required: file !== undefined })
}

function compose(
  options: AppOptions,
  config: Config,
  paths: HomePaths,
  store: Store,
  clock: Clock,
  sink: Sink,
): Engine {
  const tools = toolsOf(options.tools ?? [])
  return {
    store,
    clock,
    ids: options.ids ?? randomIds,
    models: options.model ? only(options.model) : configuredModels({ ...config.models, clock, apiKeyOf }),
    envs: hostEnvs({ callsDir: paths.calls, clock, env: environment() }),
    behaviours: soloBehaviours([...tools.keys()].filter((name) => name !== 'bash' || bashIsOn(config))),
    tools,
    critics: options.critics ?? [],
    sink,
    maxSteps: config.budget.per_dispatch_calls,
  }
}

/** Draining, and the worker's epoch, which begins with the first drain: looking at a home changes nothing in it. */
function queueOf(
  engine: Engine,
  bell: Doorbell,
  config: Config,
  signals: Signals,
): Pick<Context, 'drain' | 'draining' | 'signals'> & { damage(): readonly string[]; leave(): Promise<void> } {
  let kernel: Promise<Kernel> | undefined
  let whole = 0
  let damage: readonly string[] = []
  const joined = async (): Promise<Kernel> => {
    const { epoch, lost } = await joinHome(engine, `process ${process.pid}`)
    // After an unclean stop, in the background: nothing waits for it.
    if (lost > 0)
      void engine.store.verify().then(
        (found) => {
          damage = found
        },
        () => {},
      )
    return { engine, bell, epoch, maxConcurrent: config.kernel.max_concurrent }
  }
  return {
    signals,
    damage: () => damage,
    draining: () => whole > 0,
    async drain(wanted) {
      kernel ??= joined()
      const share = wanted.only === undefined ? 1 : 0
      whole += share
      try {
        await drain(await kernel, { ...wanted, signals })
      } finally {
        whole -= share
      }
    },
    async leave() {
      if (kernel) await leaveHome(await kernel)
    },
  }
}

function fanOut(): { readonly sink: Sink; readonly listen: Context['listen'] } {
  const listeners = new Set<(progress: Progress) => void>()
  const tell = (progress: Progress): void => {
    for (const listener of listeners) listener(progress)
  }
  return {
    sink: { event: (event) => tell({ kind: 'event', event }), delta: (delta) => tell({ kind: 'delta', delta }) },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function runner(context: Context): App['run'] {
  return (name, input, tell = () => {}) => {
    const command = COMMANDS.find((known) => known.name === name)
    if (!command)
      throw new TirelessError('usage', {
        what: 'there is no such command',
        got: name,
        expected: COMMANDS.map((known) => known.name).join(', '),
      })
    return execute(command, context, input, tell)
  }
}

const BASH_IS_OFF = 'bash is off: there is no sandbox yet; set `sandbox: off` to let the agent run commands as you'

/** A tool that is known and not offered can still say what is left of a call from before. */
const bashIsOn = ({ sandbox }: Config): boolean => sandbox === 'off'

function noticesOf(config: Config, models: Models): string[] {
  const notices = bashIsOn(config) ? [] : [BASH_IS_OFF]
  return models.defaultId.startsWith('offline/')
    ? [
        ...notices,
        'no model is configured: the built-in offline model follows simple rules and understands no language',
      ]
    : notices
}

function toolsOf(added: readonly AnyTool[]): ReadonlyMap<string, AnyTool> {
  const tools = new Map<string, AnyTool>()
  for (const tool of [...builtinTools(), ...added]) {
    if (tools.has(tool.name))
      throw new TirelessError('config_invalid', { what: 'two tools have one name', got: tool.name, fix: 'rename one' })
    tools.set(tool.name, tool)
  }
  return tools
}

const only = (model: Model): Models => ({ defaultId: model.id, get: () => model })

function neverStop(): Signals {
  return { drain: new AbortController().signal, abort: new AbortController().signal }
}
