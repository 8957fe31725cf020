/** A kernel that comes to rest gives back the memory that its work took: it sleeps for most of its life. */

import { systemClock } from '../adapters/clock.ts'
import { giveBack } from '../adapters/memory.ts'
import type { Services } from '../ports/plugin.ts'

/** After the end of a run: the next one may follow at once. */
const QUIET_MS = 5_000

/** Contract: now, and whenever the last of several runs has ended, until the signal. */
export function restBetweenWork({ watch }: Services['events'], { counts }: Services['store'], stop: AbortSignal): void {
  let waiting = false
  const whenQuiet = async (): Promise<void> => {
    if (waiting) return
    waiting = true
    // By the machine's own clock: memory is the machine's.
    await systemClock.sleep(QUIET_MS, stop)
    waiting = false
    if (!stop.aborted && (await counts()).running === 0) giveBack()
  }
  const rest = (): void => void whenQuiet().catch(() => {})
  const stopListening = watch((told) => {
    if (told.kind === 'event' && told.event.phase === 'END') rest()
  })
  stop.addEventListener('abort', stopListening, { once: true })
  rest()
}
