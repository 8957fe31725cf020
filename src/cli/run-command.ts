/** Getting a command run: by whoever holds the home, or by this process. */

import type { Command, Context, Progress } from '../commands/command.ts'
import { TirelessError } from '../domain/error.ts'
import { holderPid, homePaths } from '../home.ts'
import { askHolder } from '../server/socket.ts'
import { onStop } from './signals.ts'
import { waitForExit } from './wait-for-exit.ts'

export interface Where {
  readonly home: string
  readonly configFile?: string | undefined
  /** For whoever is kept out: what it was asked is nobody else's business. */
  readonly verb: string
}

export interface Asked {
  readonly command: Command
  readonly input: unknown
  readonly where: Where
  tell(progress: Progress): void
  /** How it is asked to stop, where it is not by a signal. */
  readonly signals?: Context['signals']
}

/** The question first, the program after it: while a kernel lives, most commands need nothing loaded but the way to it. */
export async function reach(asked: Asked): Promise<unknown> {
  const { command, input, where, tell } = asked
  if (command.place === 'guest') return asGuest(asked)
  const paths = homePaths(where.home)
  const holder = command.endsHolder && holderPid(paths)
  const answered = command.place === 'home' ? await askHolder(paths.socket, command.name, input, tell) : undefined
  if (answered && holder !== undefined) await waitForExit(holder, answered.output)
  if (answered) return answered.output
  const { runHere } = await import('./run-local.ts')
  return runHere(asked)
}

async function asGuest({ command, input, where, tell }: Asked): Promise<unknown> {
  const { signals, over } = onStop()
  const paths = homePaths(where.home)
  try {
    const answered = await askHolder(paths.socket, command.name, input, tell, signals.drain)
    if (answered) return answered.output
    throw new TirelessError('not_found', {
      ...{ what: `nobody is at work there, so there is nothing to ${command.name} to`, where: where.home },
      fix: 'begin with: tireless start',
    })
  } finally {
    over()
  }
}
