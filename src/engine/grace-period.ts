/**
 * The grace period: work that ignores its abort signal is abandoned two seconds after the interruption, and the caller
 * continues without it. One abort listener serves a whole run, because adding listeners to a signal is slow.
 */

import type { Clock } from '../ports/clock.ts'
import { startTimer } from '../ports/deadline.ts'

/** Time that interrupted work has to end by itself. */
export const GRACE_MS = 2000

export class GracePeriod {
  readonly #abandon = new Set<() => void>()
  #isOver = false

  /** Removes the abort listener and stops the timer. */
  readonly close: () => void

  constructor(signal: AbortSignal, clock: Clock) {
    let stopTimer = (): void => {}
    const abandonAll = (): void => {
      this.#isOver = true
      for (const abandon of this.#abandon) abandon()
    }
    const startGrace = (): void => {
      stopTimer = startTimer(clock, GRACE_MS, abandonAll)
    }
    if (signal.aborted) startGrace()
    else signal.addEventListener('abort', startGrace, { once: true })
    this.close = () => {
      stopTimer()
      // A signal made by AbortSignal.any() stays in memory while it has listeners, and some signals live as long as the
      // process.
      signal.removeEventListener('abort', startGrace)
    }
  }

  /**
   * Contract: resolves to the result of `start()`, or to `onAbandon()` if the grace period ends first. After the grace
   * period, `start` is not called.
   */
  race<T>(start: () => Promise<T>, onAbandon: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        try {
          resolve(onAbandon())
        } catch (thrown) {
          reject(thrown)
        }
      }
      if (this.#isOver) {
        abandon()
        return
      }
      this.#abandon.add(abandon)
      const done = (): unknown => this.#abandon.delete(abandon)
      try {
        // A plugin may return a value instead of a promise.
        Promise.resolve(start()).finally(done).then(resolve, reject)
      } catch (thrown) {
        done()
        reject(thrown)
      }
    })
  }
}
