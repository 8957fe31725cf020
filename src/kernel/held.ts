/**
 * Held dispatches: they are in the queue and not to be begun yet.
 * Must not know: why.
 * Invariant: it is forgotten with the process, so that what a dead one held is free.
 */

import type { Doorbell } from './doorbell.ts'

export interface HeldDispatches {
  readonly ids: ReadonlySet<string>
  /** Contract: these are not claimed until what is returned is called. */
  hold(dispatchIds: readonly string[]): () => void
}

export function createHeldDispatches(bell: Doorbell): HeldDispatches {
  const ids = new Set<string>()
  return {
    ids,
    hold(dispatchIds) {
      for (const id of dispatchIds) ids.add(id)
      return () => {
        for (const id of dispatchIds) ids.delete(id)
        bell.ring()
      }
    },
  }
}
