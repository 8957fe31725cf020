/** Stops work in two stages: running steps may finish; at the deadline they are interrupted. */

import type { StopSignals } from '../engine/advance.ts'
import type { Clock } from '../ports/clock.ts'
import { startTimer } from '../ports/deadline.ts'

export interface StopControl {
  readonly signals: StopSignals
  stop(withinMs: number): void
  /** Interrupts running steps at once. */
  interrupt(): void
  over(): void
}

/** Adds `stop` to the given signals. After `stop`, running steps may finish; after `withinMs` they are interrupted. */
export function createStopControl(clock: Clock, given?: StopSignals): StopControl {
  const [drain, abort] = [new AbortController(), new AbortController()]
  const stopTimers: (() => void)[] = []
  let isOver = false
  const signals = {
    drain: given ? AbortSignal.any([given.drain, drain.signal]) : drain.signal,
    abort: given ? AbortSignal.any([given.abort, abort.signal]) : abort.signal,
  }
  return {
    signals,
    stop(withinMs) {
      drain.abort()
      if (withinMs === 0) abort.abort()
      else if (!isOver) stopTimers.push(startTimer(clock, withinMs, () => abort.abort()))
    },
    interrupt: () => abort.abort(),
    // After the end nothing is left to interrupt, and a pending timer would keep the process alive.
    over() {
      isOver = true
      for (const stopTimer of stopTimers.splice(0)) stopTimer()
    },
  }
}
