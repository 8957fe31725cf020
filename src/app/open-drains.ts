/** What looks for work in the queue of this process. It ends before the store is closed. */

import type { DrainOptions } from '../kernel/queue/drain.ts'

type WantedDrain = Omit<DrainOptions, 'signals'>

export class OpenDrains {
  readonly #closing = new AbortController()
  readonly #open = new Map<Promise<void>, WantedDrain>()

  /** Whether there is one that takes any work. */
  get hasFull(): boolean {
    return [...this.#open.values()].some(({ only }) => only === undefined)
  }

  async run(wanted: WantedDrain, drain: (wanted: WantedDrain) => Promise<void>): Promise<void> {
    const { signal } = this.#closing
    const until = wanted.until ? AbortSignal.any([wanted.until, signal]) : signal
    const draining = drain({ ...wanted, until })
    this.#open.set(draining, wanted)
    try {
      await draining
    } finally {
      this.#open.delete(draining)
    }
  }

  /** Contract: nothing more is claimed; with `waits`, resolves when all have ended. */
  async close(waits: boolean): Promise<void> {
    this.#closing.abort()
    if (waits) await Promise.allSettled(this.#open.keys())
  }
}
