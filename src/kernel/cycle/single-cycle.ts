/**
 * Single cycle: one cycle in a process without beats. The whole queue runs next to it, so that work left by an earlier
 * process, answered by a person or due by a timer continues as well (E19).
 * Must not know: what a cycle does.
 * Invariants: nothing keeps running afterwards; unfinished runs stop after their step at the deadline and are released.
 */

import { MAX_CYCLE_MS } from '../loop.ts'
import { promoteDueWork } from '../queue/drain.ts'
import type { DrainAccess } from '../queue/drain-only.ts'
import { waitForInstant } from '../schedule/ticks.ts'
import type { CycleOutcome } from './cycle.ts'

/** `limit`: configured timeout of a cycle in milliseconds. Contract: rejects if the store fails. */
export async function runSingleCycle(
  { store, clock, wakeSignal, drain }: DrainAccess,
  cycle: (signal: AbortSignal, planned: () => void) => Promise<CycleOutcome>,
  limit: number | null | undefined,
  signal: AbortSignal,
): Promise<CycleOutcome> {
  const [timeout, finished, broken] = [new AbortController(), new AbortController(), new AbortController()]
  const now = clock.now()
  // Must precede the cycle: a dispatch whose timer is due must not count as parked.
  await promoteDueWork({ store, clock })
  void waitForInstant(now + (limit ?? MAX_CYCLE_MS), clock, finished.signal).then(
    () => finished.signal.aborted || timeout.abort(),
  )
  let isOver = false
  let draining: Promise<void> | undefined
  // Called only after planning: otherwise an agent that finished quickly could be dispatched a second time.
  const startDrain = (): void => {
    draining ??= drain({ untilIdle: () => isOver, until: AbortSignal.any([timeout.signal, signal]) })
    // If the drain fails, the cycle must stop waiting for work that no longer runs. The error is thrown below.
    draining.catch(() => broken.abort())
  }
  try {
    return await cycle(AbortSignal.any([signal, broken.signal]), startDrain)
  } finally {
    isOver = true
    startDrain()
    wakeSignal.ring()
    await draining?.finally(() => finished.abort())
  }
}
