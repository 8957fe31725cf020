/** Returns memory to the system when the kernel becomes idle. An idle process never triggers a collection by itself. */

import { systemClock } from '../adapters/system/clock.ts'
import { collectGarbage } from '../adapters/system/gc.ts'
import type { Services } from '../ports/plugin.ts'

/** Time from the end of the last run to the collection, because the next run may follow at once. */
const QUIET_MS = 5_000

/** Contract: collects garbage now, and whenever no run is left, until the signal aborts. */
export function startIdleCollection(
  { watch }: Services['events'],
  { counts }: Services['store'],
  stop: AbortSignal,
): void {
  let waiting = false
  let ended = 0
  const collectWhenIdle = async (): Promise<void> => {
    ended += 1
    if (waiting) return
    waiting = true
    for (let known = 0; known !== ended && !stop.aborted; ) {
      known = ended
      // The system clock, not the injected one: memory belongs to the machine.
      await systemClock.sleep(QUIET_MS, stop)
    }
    waiting = false
    if (!stop.aborted && (await counts()).running === 0) collectGarbage()
  }
  const scheduleCollection = (): void => void collectWhenIdle().catch(() => {})
  const stopListening = watch((progress) => {
    if (progress.kind === 'event' && progress.event.phase === 'END') scheduleCollection()
  })
  stop.addEventListener('abort', stopListening, { once: true })
  scheduleCollection()
}
