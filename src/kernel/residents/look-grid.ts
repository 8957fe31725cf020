/**
 * The instants at which a resident may look: a grid of monotonic time, so that neither slow looks nor jumps of the wall
 * clock shift it. A look with nothing to see does not happen, so that an idle resident costs nothing.
 * Must not know: residents.
 */

import type { Clock } from '../../ports/clock.ts'

/** A resident that got no answers looks this many times more rarely. */
export const SLOWDOWN = 8

export class LookGrid {
  readonly #anchor: number
  /** Number of the look at the anchor: it follows from the wall clock, so that it goes on after a restart. */
  readonly #firstTick: number
  readonly #interval: number

  constructor(clock: Clock, hz: number) {
    this.#anchor = clock.monotonic()
    this.#interval = 1000 / hz
    this.#firstTick = Math.floor(clock.now() / this.#interval)
  }

  /** Contract: the number of the look at, or last before, this instant. */
  tickAt(monotonic: number): number {
    return this.#firstTick + Math.floor((monotonic - this.#anchor) / this.#interval + 1e-9)
  }

  /** Contract: the first instant of the grid that is not before this one; `slowdown`: only every n-th counts. */
  next(monotonic: number, slowdown = 1): number {
    const interval = this.#interval * slowdown
    return this.#anchor + Math.ceil((monotonic - this.#anchor) / interval - 1e-9) * interval
  }
}
