/** Getting a command run by this process: without a home, or by holding it, open or closed; where another one comes first, by that one. */

import { systemClock } from '../adapters/clock.ts'
import { outsideOf } from '../app/closed-home-context.ts'
import { type App, createApp, lockHome, readConfig } from '../app.ts'
import type { Command, Context } from '../commands/command.ts'
import { execute, executeShut } from '../commands/execute.ts'
import type { Outside } from '../commands/outside.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { holderPid, homePaths } from '../home.ts'
import { askHolder } from '../server/socket.ts'
import type { Asked, Where } from './run-command.ts'
import { type OnStop, onStop } from './signals.ts'

/** How long one holder that does not answer yet, or not any more, is waited for. */
const PATIENCE_MS = 30_000
const RETRY_MS = 25

export function runHere(asked: Asked): Promise<unknown> {
  switch (asked.command.place) {
    case 'anywhere':
      return fromOutside(asked)
    case 'closed':
      return withHomeClosed(asked)
    default:
      return inTheHome(asked)
  }
}

async function fromOutside({ command, input, where, tell }: Asked): Promise<unknown> {
  const { signals, over } = onStop()
  try {
    return await execute(command, outsideIn(where, signals) as Context, input, tell)
  } finally {
    over()
  }
}

/** No signal is heard: whatever runs like this can be killed at any moment. */
async function withHomeClosed({ command, input, where, tell }: Asked): Promise<unknown> {
  const lock = lockHome(homePaths(where.home), where.verb, systemClock)
  try {
    return await execute(command, outsideIn(where) as Context, input, tell)
  } finally {
    lock.release()
  }
}

async function inTheHome({ command, input, where, tell, signals }: Asked): Promise<unknown> {
  let holder: number | undefined
  let giveUpAt = 0
  for (;;) {
    const opened = await openHome(where, signals)
    if (!(opened instanceof TirelessError)) return asHolder(opened, command, input, tell)
    if (opened.code !== 'home_locked') return executeShut(command, outsideIn(where), input, opened)
    if (command.place === 'holder') throw opened
    const answered = await askHolder(homePaths(where.home).socket, command.name, input, tell)
    if (answered) return answered.output
    const now = systemClock.monotonic()
    const pid = holderPid(homePaths(where.home))
    // Many short commands in a row are many holders, and each deserves the same patience.
    if (pid !== holder || giveUpAt === 0) giveUpAt = now + PATIENCE_MS
    holder = pid
    if (now >= giveUpAt) return executeShut(command, outsideIn(where), input, opened)
    await systemClock.sleep(RETRY_MS)
  }
}

interface Open {
  readonly app: App
  over(): void
}

const HEARS_NONE: Omit<OnStop, 'signals'> = { stopBy() {}, over() {}, forget() {} }

async function openHome({ home, configFile, verb }: Where, given: Asked['signals']): Promise<Open | TirelessError> {
  const { signals, over, forget, stopBy } = given ? { ...HEARS_NONE, signals: given } : onStop()
  try {
    const app = await createApp({ home, config: configFile, signals, name: verb, ownsProcess: true })
    stopBy(() => app.context.stop(app.context.settings().stop_timeout))
    return { app, over }
  } catch (thrown) {
    forget()
    return asTirelessError(thrown)
  }
}

async function asHolder({ app, over }: Open, command: Command, input: unknown, tell: Asked['tell']): Promise<unknown> {
  try {
    return await app.run(command.name, input, tell)
  } finally {
    await app.close()
    // The handlers stay: a signal that comes while the process ends must not turn a good end into a killed one.
    over()
  }
}

export function outsideIn({ home, configFile }: Where, signals?: Outside['signals']): Outside {
  const paths = homePaths(home)
  return outsideOf(paths, () => readConfig(paths, configFile), systemClock, signals)
}
