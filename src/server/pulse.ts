/** The status, told to whoever watches whenever it has changed; with nobody watching, nothing is looked at. */

import type { Context } from '../commands/command.ts'
import type { Live } from './live.ts'

/** What changes without a ring of the doorbell is seen this late. */
const LOOK_EVERY_MS = 5000
/** A busy queue rings all the time. */
const PAUSE_MS = 250

/** Contract: never rejects; ends with the signal. */
export async function pulse(
  { bell, clock }: Context,
  live: Live,
  status: () => Promise<unknown>,
  closed: AbortSignal,
): Promise<void> {
  let told = ''
  while (!closed.aborted) {
    await live.watched()
    const since = bell.rung()
    const now = await status().catch(() => undefined)
    const text = JSON.stringify(now)
    if (now !== undefined && text !== told) live.tell({ name: 'status', data: now })
    told = text
    await clock.sleep(PAUSE_MS, closed)
    const over = new AbortController()
    const either = AbortSignal.any([over.signal, closed])
    await Promise.race([bell.wait(since, either), clock.sleep(LOOK_EVERY_MS, either)])
    over.abort()
  }
}
