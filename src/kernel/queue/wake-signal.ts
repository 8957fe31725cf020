/**
 * Wake signal: every commit that may create work rings it; everything that waits for work waits for a ring.
 * Must not know: who rings, who waits. A ring between two waits is not lost.
 */

import { asTirelessError } from '../../domain/error.ts'
import type { Batch, BatchOutcome, Op, OpResults, Store } from '../../ports/store.ts'

export interface WakeSignal {
  ring(): void
  /** Contract: resolves at the next ring after `since`, or when `signal` aborts; never rejects. */
  wait(since: number, signal: AbortSignal): Promise<void>
  /** Number of rings so far. Read it BEFORE looking at the queue, then pass it to `wait`. */
  ringCount(): number
  /** Aborts, with the error as its reason, when the store has failed and takes no more commits. */
  readonly storeFailed: AbortSignal
  /** Aborts `storeFailed`, then rings. */
  reportStoreFailure(error: unknown): void
}

export function createWakeSignal(): WakeSignal {
  let rings = 0
  let listeners = new Set<() => void>()
  const storeFailure = new AbortController()
  const ring = (): void => {
    rings += 1
    const notified = listeners
    listeners = new Set()
    for (const listener of notified) listener()
  }
  return {
    ringCount: () => rings,
    ring,
    storeFailed: storeFailure.signal,
    reportStoreFailure(error) {
      storeFailure.abort(error)
      ring()
    },
    wait(since, signal) {
      if (rings > since || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const wake = (): void => {
          listeners.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        listeners.add(wake)
        signal.addEventListener('abort', wake)
      })
    },
  }
}

const WAKING_OPS: ReadonlySet<Op['op']> = new Set([
  'enqueue',
  'publish',
  'resolve',
  'ask',
  'answer',
  'unknown',
  'promote',
  'settle',
  'park',
  'release',
  'cancel',
  'pause',
  'recover',
  'take_over',
  'retry',
  'leave',
  'post',
  'revise',
  'schedule_put',
  'schedule_remove',
  'schedule_pause',
  'set_aside',
])

/** Regular looks for dead workers and lost homes are no work, as long as they find none. */
function mayBeWork({ ops }: Batch, outcome: BatchOutcome | undefined): boolean {
  if (!outcome?.ok) return false
  const { results } = outcome
  const isQuiet = (op: Op['op'], i: number): boolean =>
    (op === 'recover' && (results[i] as OpResults['recover']).lost === 0) ||
    (op === 'take_over' && (results[i] as OpResults['take_over']).every(({ became }) => became === 'waits'))
  return ops.some(({ op }, i) => WAKING_OPS.has(op) && !isQuiet(op, i))
}

/**
 * A store that rings the wake signal on every commit that may create work, and on a failed one, so that waiters notice
 * the failure.
 */
export function ringOnCommit(store: Store, wakeSignal: WakeSignal): Store {
  // A database that is another process; whoever waits for it asks it again.
  const mayComeBack = store.ping !== undefined
  return {
    ...store,
    async commit(batches) {
      const outcomes = await store.commit(batches).catch((thrown) => {
        if (asTirelessError(thrown).code === 'store_failed' && !mayComeBack) wakeSignal.reportStoreFailure(thrown)
        else wakeSignal.ring()
        throw thrown
      })
      if (batches.some((batch, i) => mayBeWork(batch, outcomes[i]))) wakeSignal.ring()
      return outcomes
    },
  }
}
