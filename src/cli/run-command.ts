/**
 * The one way to run a command: the kernel that holds the home runs it, else this process does. Asks the kernel before anything
 * else is loaded: beside a running kernel most commands need nothing but the socket.
 */

import type { Command, Context, Progress } from '../commands/command.ts'
import { TirelessError } from '../domain/error.ts'
import { holderPid, homePaths } from '../home.ts'
import { askHolder } from '../server/socket.ts'
import { onStop } from './signals.ts'
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
  /** Given where the caller handles SIGTERM and SIGINT itself. */
  readonly signals?: Context['signals']
}

export type RunCommand = (request: CommandRequest) => Promise<unknown>

export async function runCommand(request: CommandRequest): Promise<unknown> {
  const { command, input, at, tell } = request
  if (command.runsIn === 'kernel') return runInKernel(request)
  const paths = homePaths(at.home)
  const holder = command.endsHolder && holderPid(paths)
  const answered =
    command.runsIn === 'any_process' ? await askHolder(paths.socket, command.name, input, tell) : undefined
  if (answered && holder !== undefined) await waitForExit(holder, answered.output)
  if (answered) return answered.output
  const { runLocally } = await import('./run-local.ts')
  return runLocally(request, runCommand)
}

async function runInKernel({ command, input, at, tell }: CommandRequest): Promise<unknown> {
  const { signals, over } = onStop()
  try {
    const answered = await askHolder(homePaths(at.home).socket, command.name, input, tell, signals.drain)
    if (answered) return answered.output
    throw new TirelessError('not_found', {
      what: `No kernel is running in this home, so there is nothing to ${command.name} to`,
      where: at.home,
      fix: 'start one: tireless start',
    })
  } finally {
    over()
  }
}
