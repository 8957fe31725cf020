/**
 * Since when the database has been away, for all connections of a store. Calls wait until it has been away for a
 * bounded time; after that each is tried once.
 */

import type { Clock } from '../../../ports/clock.ts'

export class Outage {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #patienceMs: number
  #since: number | undefined
  #isOver = false

  constructor(clock: Pick<Clock, 'monotonic'>, patienceMs: number) {
    this.#clock = clock
    this.#patienceMs = patienceMs
  }

  /** Call it when a connection was lost. Contract: whether to wait for the database. */
  mayRetry(): boolean {
    const now = this.#clock.monotonic()
    this.#since ??= now
    return !this.#isOver && now < this.#since + this.#patienceMs
  }

  /** From now on, nothing is worth waiting for. */
  stopWaiting(): void {
    this.#isOver = true
  }

  end(): void {
    this.#since = undefined
  }
}
