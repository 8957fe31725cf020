/**
 * The only way to run a command: in the kernel that holds the home; if there is none, in this process. The kernel is
 * asked before other modules are loaded, because with a running kernel most commands need only the socket.
 */

import type { Command } from '../commands/lib/command.ts'
import type { CommandContext } from '../commands/lib/context.ts'
import type { Progress } from '../commands/lib/progress.ts'
import { TirelessError } from '../domain/error.ts'
import { holderPid, homePaths } from '../home.ts'
import { askKernel } from '../server/socket.ts'
import { handleSignals } from './signals.ts'
import { waitForExit } from './wait-for-exit.ts'

export interface HomeLocation {
  readonly home: string
  readonly configFile?: string | undefined
}

export interface CommandRequest {
  readonly command: Command
  readonly input: unknown
  readonly at: HomeLocation
  tell(progress: Progress): void
  /** Set if the caller handles SIGTERM and SIGINT itself. */
  readonly signals?: CommandContext['signals']
}

const DETACHED: Progress = {
  kind: 'note',
  text: 'The kernel continues. Follow it again: tireless attach. Stop it: tireless stop',
  zh: '内核继续运行。再次查看：tireless attach。停止：tireless stop',
}

const KERNEL_ENDED: Progress = {
  kind: 'note',
  text: 'The kernel has stopped. Start it again: tireless start',
  zh: '内核已停止。重新启动：tireless start',
}

export type RunCommand = (request: CommandRequest) => Promise<unknown>

export async function runCommand(request: CommandRequest): Promise<unknown> {
  const { command, at } = request
  if (command.runsIn === 'kernel') return runInKernel(request)
  const paths = homePaths(at.home)
  const holder = command.stopsKernel && holderPid(paths)
  const reply = command.runsIn === 'any_process' ? await askUntilInterrupted(request) : undefined
  if (reply && holder !== undefined) await waitForExit(holder, reply.output)
  if (reply) return reply.output
  const { runLocally } = await import('./run-local.ts')
  return runLocally(request, runCommand)
}

/** Contract: after SIGINT or SIGTERM it stops waiting and throws; the kernel continues the command. */
async function askUntilInterrupted({
  command,
  input,
  at,
  tell,
  signals: given,
}: CommandRequest): Promise<{ readonly output: unknown } | undefined> {
  const handling = given ? undefined : handleSignals()
  const stop = (given ?? handling?.signals)?.drain
  try {
    const reply = await askKernel(homePaths(at.home).socket, command.name, input, tell, stop)
    if (reply?.output !== null || stop?.aborted !== true) return reply
    throw new TirelessError('aborted', {
      what: 'you stopped waiting, and the kernel continues',
      fix: 'to see what comes of it: tireless status, tireless queue list',
    })
  } finally {
    handling?.cancelDeadline()
    handling?.removeHandlers()
  }
}

async function runInKernel({ command, input, at, tell }: CommandRequest): Promise<unknown> {
  const { signals, cancelDeadline: over } = handleSignals()
  try {
    const reply = await askKernel(homePaths(at.home).socket, command.name, input, tell, signals.drain)
    if (reply && command.opensPage) return (await import('./open-page.ts')).openPage(reply.output)
    if (reply) tell(signals.drain.aborted ? DETACHED : KERNEL_ENDED)
    if (reply) return reply.output
    throw new TirelessError('not_found', {
      what: 'no kernel is running in this home',
      where: at.home,
      fix: 'run tireless start',
    })
  } finally {
    over()
  }
}
