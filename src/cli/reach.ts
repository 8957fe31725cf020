/** Getting a command run: without a home, by whoever holds the home, or by holding it ourselves. */

import { systemClock } from '../adapters/clock.ts'
import { createApp, readConfig } from '../app.ts'
import type { Command, Context, Outside, Progress } from '../commands/command.ts'
import { execute } from '../commands/execute.ts'
import { asTirelessError } from '../domain/error.ts'
import { homePaths } from '../home.ts'
import { askHolder } from '../server/socket.ts'
import { onStop } from './signals.ts'

export interface Where {
  readonly home: string
  readonly configFile?: string | undefined
  readonly commandLine: string
}

type Tell = (progress: Progress) => void

/** How long a holder that does not answer yet, or not any more, is waited for. */
const PATIENCE_MS = 5000
const RETRY_MS = 25

export async function reach(command: Command, input: unknown, where: Where, tell: Tell): Promise<unknown> {
  const paths = homePaths(where.home)
  if (command.place === 'anywhere') {
    const outside: Outside = { checkConfig: () => readConfig(paths, where.configFile) }
    return execute(command, outside as Context, input, tell)
  }
  const giveUpAt = systemClock.monotonic() + PATIENCE_MS
  for (;;) {
    try {
      return await asHolder(command, input, where, tell)
    } catch (thrown) {
      const error = asTirelessError(thrown)
      if (error.code !== 'home_locked' || command.place === 'holder') throw error
      const answered = await askHolder(paths.socket, command.name, input, tell)
      if (answered) return answered.output
      if (systemClock.monotonic() >= giveUpAt) throw error
    }
    await systemClock.sleep(RETRY_MS)
  }
}

async function asHolder(command: Command, input: unknown, where: Where, tell: Tell): Promise<unknown> {
  const stopping = onStop()
  const app = await createApp({
    home: where.home,
    config: where.configFile,
    signals: stopping.signals,
    name: where.commandLine,
  }).catch((thrown) => {
    stopping.forget()
    throw thrown
  })
  try {
    return await app.run(command.name, input, tell)
  } finally {
    await app.close()
    // The handlers stay: a signal that comes while the process ends must not turn a good end into a killed one.
    stopping.over()
  }
}
