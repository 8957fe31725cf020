/** A clock that tests advance. The wall clock can jump separately; sleeps depend on monotonic time only. */

import { setImmediate as settled } from 'node:timers/promises'
import type { Clock } from '../ports/clock.ts'

const NEW_YEAR_2026 = 1_767_225_600_000

interface Sleeper {
  readonly due: number
  readonly wake: () => void
}

export class FakeClock implements Clock {
  #wall: number
  #monotonic = 0
  readonly #sleepers = new Set<Sleeper>()

  constructor({ now = NEW_YEAR_2026 }: { now?: number } = {}) {
    this.#wall = now
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** An app given this clock keeps borne-out time itself; without an app, the wall clock is believed. */
  borneOut(): number {
    return this.#wall
  }

  budgetNow(): number {
    return this.#wall
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!(ms > 0) || signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper = { due: this.#monotonic + ms, wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  /** Monotonic time until the next sleep ends; undefined without one. Lets a test step from event to event. */
  get nextIn(): number | undefined {
    const due = this.#earliest()?.due
    return due === undefined ? undefined : due - this.#monotonic
  }

  /**
   * Advances both times by `ms`. Sleeps end in order of their due times, ties in order of creation. Code after a sleep,
   * also a new sleep, runs before the next sleep ends.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    await settled()
    for (let next = this.#earliest(); next && next.due <= end; next = this.#earliest()) {
      this.#moveTo(next.due)
      next.wake()
      await settled()
    }
    this.#moveTo(end)
    await settled()
  }

  /** Sets the wall clock, forwards or backwards; no sleep ends. */
  setWall(now: number): void {
    this.#wall = now
  }

  #earliest(): Sleeper | undefined {
    let earliest: Sleeper | undefined
    for (const sleeper of this.#sleepers) if (!earliest || sleeper.due < earliest.due) earliest = sleeper
    return earliest
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic
    this.#monotonic = monotonic
  }
}
