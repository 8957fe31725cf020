/** Work that is tried again if it failed, later each time. */

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

export class Retry {
  readonly #work: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #pause = FIRST_PAUSE_MS

  constructor(work: () => void) {
    this.#work = work
  }

  succeeded(): void {
    this.#pause = FIRST_PAUSE_MS
  }

  failed(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#work()
    }, this.#pause)
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
