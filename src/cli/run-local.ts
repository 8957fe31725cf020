/** Runs a command in this process: without a home, with the home locked but closed, or with the home open. */

import { systemClock } from '../adapters/system/clock.ts'
import { createClosedHomeContext } from '../app/closed-home-context.ts'
import { type App, createApp, lockHome, readConfig } from '../app.ts'
import type { ClosedHomeContext } from '../commands/lib/closed-home.ts'
import type { Command } from '../commands/lib/command.ts'
import type { CommandContext, NoHomeContext } from '../commands/lib/context.ts'
import type { Progress } from '../commands/lib/progress.ts'
import { type CommandOutput, loadCommand } from '../commands/lib/registry.ts'
import { validateAndRun, validateAndRunClosed } from '../commands/lib/validate-and-run.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { holderPid, homePaths } from '../home.ts'
import { askKernel } from '../server/socket.ts'
import type { CommandRequest, HomeLocation, RunCommand } from './run-command.ts'
import { handleSignals, type SignalHandling } from './signals.ts'

/** Time to wait for a process that holds the home but does not answer on its socket. */
const PATIENCE_MS = 30_000
const RETRY_MS = 25

/** `run`: used by `mcp serve`, which runs each call of its client as a separate command. */
export function runLocally(request: CommandRequest, run: RunCommand): Promise<unknown> {
  switch (request.command.runsIn) {
    case 'no_home':
      return runWithoutHome(request, run)
    case 'closed_home':
      return runWithClosedHome(request)
    default:
      return runWithOpenHome(request)
  }
}

async function runWithoutHome({ command, input, at, tell }: CommandRequest, run: RunCommand): Promise<unknown> {
  const { signals, cancelDeadline: over } = handleSignals()
  const context: NoHomeContext = {
    ...closedHomeContext(at, signals),
    serveMcp: serveOverMcp(at, signals, run),
    completionScript: async (shell) => (await import('./completion/completion.ts')).completionScript(shell),
  }
  try {
    return await validateAndRun(command, context, input, tell)
  } finally {
    over()
  }
}

/** SIGTERM and SIGINT are not handled: commands that run with a closed home can be killed at any moment. */
async function runWithClosedHome({ command, input, at, tell }: CommandRequest): Promise<unknown> {
  const lock = lockHome(homePaths(at.home), command.name, systemClock)
  try {
    return await validateAndRun(command, closedHomeContext(at), input, tell)
  } finally {
    lock.release()
  }
}

async function runWithOpenHome({ command, input, at, tell, signals }: CommandRequest): Promise<unknown> {
  let holder: number | undefined
  let giveUpAt = 0
  for (;;) {
    const onStoreAway = waitsForStore(command, input) ? (error: TirelessError) => tell(storeAway(error)) : undefined
    const opened = await openHome(at, command, { signals, onStoreAway, onStop: () => tell(STOPPING) })
    if (!(opened instanceof TirelessError)) return runInApp(opened, command, input, tell)
    if (opened.code === 'aborted' && onStoreAway) return STOPPED_EARLY
    if (opened.code !== 'home_locked') return validateAndRunClosed(command, closedHomeContext(at), input, opened)
    if (command.runsIn === 'own_process') throw await nameRunningPage(opened, at)
    const reply = await askKernel(homePaths(at.home).socket, command.name, input, tell)
    if (reply) return reply.output
    const now = systemClock.monotonic()
    const pid = holderPid(homePaths(at.home))
    // The waiting time starts again for each process that holds the home: short commands may hold it in turn.
    if (pid !== holder || giveUpAt === 0) giveUpAt = now + PATIENCE_MS
    holder = pid
    if (now >= giveUpAt) return validateAndRunClosed(command, closedHomeContext(at), input, opened)
    await systemClock.sleep(RETRY_MS)
  }
}

/** What `start` returns that was stopped while it waited for its database. */
const STOPPED_EARLY: CommandOutput<'start'> = { queue: null }

/** Contract: the error, with the address of the page if the process that holds the home serves one. */
async function nameRunningPage(locked: TirelessError, at: HomeLocation): Promise<TirelessError> {
  const reply = await askKernel(homePaths(at.home).socket, 'status', {}, () => {}).catch(() => undefined)
  const { page } = (reply?.output ?? {}) as { readonly page?: string | null }
  if (!page) return locked
  return new TirelessError('home_locked', {
    what: `Tireless is running already in this home; its page is ${page}`,
    where: at.home,
    got: `process ${holderPid(homePaths(at.home)) ?? 'unknown'}`,
    fix: 'open the page: tireless open; or stop it: tireless stop',
  })
}

const STOPPING: Progress = {
  kind: 'note',
  text: 'Stopping; running steps may finish. Ctrl-C again interrupts them. Nothing is lost.',
  zh: '正在停止；等待正在运行的步骤完成。再按 Ctrl-C 立即中断。不会丢失任何内容。',
}

/** A kernel waits for its database as long as it has to, because no person may be there to start it again. */
const waitsForStore = ({ name }: Command, input: unknown): boolean =>
  name === 'start' && (input as { readonly until_idle?: unknown }).until_idle !== true

const storeAway = ({ problem, fix }: TirelessError): Progress => ({
  kind: 'note',
  text: `Waiting: ${problem}. It goes on by itself. If it does not: ${fix}`,
  zh: `正在等待数据库：${problem}。恢复后会自动继续。`,
})

interface OpeningOptions {
  readonly signals: CommandRequest['signals']
  readonly onStoreAway: ((error: TirelessError) => void) | undefined
  onStop(): void
}

interface OpenHome {
  readonly app: App
  over(): void
}

const NO_HANDLERS: Omit<SignalHandling, 'signals'> = { delegateStop() {}, cancelDeadline() {}, removeHandlers() {} }

async function openHome(
  { home, configFile }: HomeLocation,
  { name, toleratesBrokenPlugins }: Command,
  { signals: given, onStoreAway, onStop }: OpeningOptions,
): Promise<OpenHome | TirelessError> {
  const {
    signals,
    cancelDeadline: over,
    removeHandlers: forget,
    delegateStop: stopBy,
  } = given ? { ...NO_HANDLERS, signals: given } : handleSignals(onStop)
  try {
    const own = { withOwnerModule: true, ownsProcess: true, input: () => process.stdin }
    const options = { home, config: configFile, signals, name, onStoreAway, ...own }
    const app = await createApp(options).catch((thrown) => {
      if (!toleratesBrokenPlugins || !isPluginError(thrown)) throw thrown
      return createApp({ ...options, withoutPlugins: thrown })
    })
    stopBy(() => app.context.stop(app.context.settings().stop_timeout))
    return { app, over }
  } catch (thrown) {
    over()
    forget()
    return asTirelessError(thrown)
  }
}

const isPluginError = (thrown: unknown): thrown is TirelessError =>
  thrown instanceof TirelessError && /^plugin_/.test(thrown.code)

async function runInApp(
  { app, over }: OpenHome,
  command: Command,
  input: unknown,
  tell: CommandRequest['tell'],
): Promise<unknown> {
  let hasFailed = true
  try {
    const output = await app.runByName(command.name, input, tell)
    hasFailed = false
    return output
  } finally {
    // What fails here after a failed command is only a consequence; the user must read the cause.
    await app.close().catch((thrown) => {
      if (!hasFailed) throw thrown
    })
    // Only the deadline is cancelled, not the handlers: a signal during exit must not turn a success into a kill.
    over()
  }
}

function closedHomeContext(
  { home, configFile }: HomeLocation,
  signals?: ClosedHomeContext['signals'],
): ClosedHomeContext {
  const paths = homePaths(home)
  return createClosedHomeContext(paths, () => readConfig(paths, configFile), systemClock, signals)
}

/** Serves commands as MCP tools on stdin and stdout. The home is held during a call only, not between calls. */
function serveOverMcp(
  at: HomeLocation,
  signals: CommandContext['signals'],
  run: RunCommand,
): NonNullable<NoHomeContext['serveMcp']> {
  return async (offers) => {
    const { serveMcp } = await import('../server/mcp-server.ts')
    // stdout carries MCP messages, so progress is dropped.
    const ask = (command: Command, input: unknown): Promise<unknown> => run({ command, input, at, tell() {}, signals })
    const found = offers.map(async ({ name, fixedInput = {} }) => {
      const command = await loadCommand(name)
      return command ? [{ command, fixedInput }] : []
    })
    const offered = (await Promise.all(found)).flat()
    await serveMcp({ offered, runCommand: ask, input: process.stdin, output: process.stdout, stop: signals.drain })
  }
}
