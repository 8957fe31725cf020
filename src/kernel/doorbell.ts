/**
 * Doorbell: whoever commits something that may give the queue work rings; whoever waits for work hears it.
 * Must not know: who rings, who listens. A ring between two waits is not lost.
 */

import type { Op, Store } from '../ports/store.ts'

export interface Doorbell {
  ring(): void
  /** Contract: resolves at the next ring after `since`, or when `signal` aborts; never rejects. */
  wait(since: number, signal: AbortSignal): Promise<void>
  /** How often it has rung. Read it BEFORE looking at the queue, then wait from there. */
  rung(): number
}

export function createDoorbell(): Doorbell {
  let rings = 0
  let listeners = new Set<() => void>()
  return {
    rung: () => rings,
    ring() {
      rings += 1
      const heard = listeners
      listeners = new Set()
      for (const listener of heard) listener()
    },
    wait(since, signal) {
      if (rings > since || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const heard = (): void => {
          listeners.delete(heard)
          signal.removeEventListener('abort', heard)
          resolve()
        }
        listeners.add(heard)
        signal.addEventListener('abort', heard)
      })
    },
  }
}

const RINGING: ReadonlySet<Op['op']> = new Set([
  'enqueue',
  'publish',
  'resolve',
  'answer',
  'promote',
  'settle',
  'park',
  'release',
  'cancel',
  'pause',
  'recover',
  'leave',
  'post',
  'schedule_put',
  'schedule_remove',
  'schedule_pause',
  'set_aside',
])

/** A store that rings by itself, so that no caller can forget to; also when it cannot commit, because whoever rests has to hear of that. */
export function ringing(store: Store, bell: Doorbell): Store {
  return {
    ...store,
    async commit(batches) {
      const outcomes = await store.commit(batches).catch((thrown) => {
        bell.ring()
        throw thrown
      })
      if (batches.some((batch, i) => outcomes[i]?.ok && batch.ops.some(({ op }) => RINGING.has(op)))) bell.ring()
      return outcomes
    },
  }
}
