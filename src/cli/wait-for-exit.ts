/** Waits until a process that was asked to stop is gone, so that another one can be started right after `stop`. */

import { systemClock } from '../adapters/clock.ts'
import { TirelessError } from '../domain/error.ts'

const LOOK_MS = 25
/** Beyond its deadline: to interrupt what runs, to write what is left, to close. */
const MARGIN_MS = 20_000

/** Contract: throws `conflict` where it is still there well after its deadline. */
export async function waitForExit(pid: number, output: unknown): Promise<void> {
  const { stopped, timeout } = output as { readonly stopped: boolean; readonly timeout: number }
  if (!stopped) return
  const giveUpAt = systemClock.monotonic() + timeout * 1000 + MARGIN_MS
  while (isAlive(pid)) {
    if (systemClock.monotonic() >= giveUpAt)
      throw new TirelessError('conflict', {
        what: `process ${pid} was asked to stop and is still there`,
        fix: `kill -9 ${pid}: nothing that was acknowledged is lost, and the next start goes on`,
      })
    await systemClock.sleep(LOOK_MS)
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
