/** Waits for the exit of a process that was asked to stop, so that another process can start right after `stop`. */

import { systemClock } from '../adapters/system/clock.ts'
import { TirelessError } from '../domain/error.ts'

const POLL_MS = 25
/** Time that a process gets after its deadline to interrupt steps, write its files and close. */
const MARGIN_MS = 20_000

/** Contract: throws `conflict` if the process still runs 20 seconds after its deadline. */
export async function waitForExit(pid: number, output: unknown): Promise<void> {
  const { stopped, timeout } = output as { readonly stopped: boolean; readonly timeout: number }
  if (!stopped) return
  const giveUpAt = systemClock.monotonic() + timeout * 1000 + MARGIN_MS
  while (isAlive(pid)) {
    if (systemClock.monotonic() >= giveUpAt)
      throw new TirelessError('conflict', {
        what: `process ${pid} was asked to stop but is still running`,
        fix: `run kill -9 ${pid}; accepted work is kept, and the next start continues it`,
      })
    await systemClock.sleep(POLL_MS)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
