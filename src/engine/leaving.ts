/**
 * Work that does not heed its signal is left behind: a moment after the interruption whoever waits for it goes on without it.
 * One listener for a whole run, because a signal is slow to listen to.
 */

import type { Clock } from '../ports/clock.ts'

/** How long whatever was interrupted may take to end by itself. */
export const GRACE_MS = 2000

export class Leaving {
  readonly #leave = new Set<() => void>()
  readonly #closed = new AbortController()
  #over = false

  /** Nobody waits for anything any more. */
  readonly close: () => void

  constructor(signal: AbortSignal, clock: Clock) {
    const leaveAll = async (): Promise<void> => {
      await clock.sleep(GRACE_MS, this.#closed.signal)
      if (this.#closed.signal.aborted) return
      this.#over = true
      for (const leave of this.#leave) leave()
    }
    if (signal.aborted) void leaveAll()
    else signal.addEventListener('abort', leaveAll, { once: true })
    this.close = () => {
      this.#closed.abort('closed')
      // A signal that follows another is kept for as long as somebody listens to it, and some of ours last as long as the process.
      signal.removeEventListener('abort', leaveAll)
    }
  }

  /** Contract: what the work comes to, or what `left` says once it has been left behind. What nobody would wait for is not begun. */
  or<T>(begin: () => Promise<T>, left: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        try {
          resolve(left())
        } catch (thrown) {
          reject(thrown)
        }
      }
      if (this.#over) {
        leave()
        return
      }
      this.#leave.add(leave)
      const over = (): unknown => this.#leave.delete(leave)
      try {
        // A plugin may return what is no promise.
        Promise.resolve(begin()).finally(over).then(resolve, reject)
      } catch (thrown) {
        over()
        reject(thrown)
      }
    })
  }
}
