/** Sends the status to viewers whenever it changes; reads nothing while there is no viewer. */

import type { CommandContext } from '../commands/lib/context.ts'
import { withDeadline } from '../ports/deadline.ts'
import type { EventStream } from './event-stream.ts'

/** How often the status is read if the wake signal does not ring, for changes that do not ring it. */
const POLL_MS = 5000
/** Minimum pause between two reads of the status, because with a busy queue the wake signal rings constantly. */
const PAUSE_MS = 250
/** After a read, so many times its duration passes: viewers take at most a small part of the kernel's time. */
const PAUSE_FACTOR = 100
/** A page that stands still for longer looks broken. The first read may be slow, because everything is cold. */
const LONGEST_PAUSE_MS = 3000

/** Contract: never rejects; ends when `closed` aborts. */
export async function broadcastStatus(
  { wakeSignal: bell, clock }: Pick<CommandContext, 'wakeSignal' | 'clock'>,
  live: Pick<EventStream, 'untilViewed' | 'send'>,
  status: () => Promise<unknown>,
  closed: AbortSignal,
): Promise<void> {
  let lastSent = ''
  while (!closed.aborted) {
    await live.untilViewed()
    const [since, began] = [bell.ringCount(), clock.monotonic()]
    const now = await status().catch(() => undefined)
    // A renewed lease is no news.
    const text = JSON.stringify(now, (key, value) => (key === 'lease_until' ? undefined : value))
    if (now !== undefined && text !== lastSent) live.send({ name: 'status', data: now })
    lastSent = text
    const pause = PAUSE_FACTOR * (clock.monotonic() - began)
    await clock.sleep(Math.min(Math.max(PAUSE_MS, pause), LONGEST_PAUSE_MS), closed)
    await withDeadline({ clock, ms: POLL_MS, stop: closed }, (over) => bell.wait(since, over))
  }
}
