/**
 * Held dispatches: queued dispatches that must not be claimed yet.
 * Must not know: why they are held.
 * Invariant: the list is kept in memory only, so that the dispatches of a dead process can be claimed.
 */

import type { WakeSignal } from './wake-signal.ts'

export interface HeldDispatches {
  readonly ids: ReadonlySet<string>
  /** Contract: these dispatches are not claimed until the returned function is called. */
  hold(dispatchIds: readonly string[]): () => void
  /** Contract: one call after the other; claims are such calls, so nothing is claimed while `work` lasts. */
  alone<T>(work: () => Promise<T>): Promise<T>
}

export function createHeldDispatches(wakeSignal: WakeSignal): HeldDispatches {
  const ids = new Set<string>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    ids,
    alone(work) {
      const done = last.then(work)
      last = done.catch(() => {})
      return done
    },
    hold(dispatchIds) {
      for (const id of dispatchIds) ids.add(id)
      return () => {
        for (const id of dispatchIds) ids.delete(id)
        wakeSignal.ring()
      }
    },
  }
}
