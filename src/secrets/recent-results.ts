/**
 * The results for the last texts: each text passes several times within a moment, for the journal, the trace and
 * observers. Few are kept: what lives for long is dear to collect.
 */

const MAX_TEXTS = 256
const MAX_CHARS = 1_000_000
const MAX_LENGTH = 100_000

export class RecentResults {
  /** When the new ones are too many, they become the old ones; those are forgotten, unless they are asked for again. */
  #new = new Map<string, string>()
  #old = new Map<string, string>()
  #chars = 0

  get(text: string): string | undefined {
    const known = this.#new.get(text)
    if (known !== undefined) return known
    const old = this.#old.get(text)
    if (old !== undefined) this.set(text, old)
    return old
  }

  set(text: string, result: string): void {
    if (text.length > MAX_LENGTH) return
    if (this.#new.size === MAX_TEXTS || this.#chars > MAX_CHARS) {
      this.#old = this.#new
      this.#new = new Map()
      this.#chars = 0
    }
    this.#new.set(text, result)
    this.#chars += text.length
  }
}
