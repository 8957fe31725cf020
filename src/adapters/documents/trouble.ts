/** What does not work right now, by what it is about. Told when it begins, changes and ends. */

export type Tell = (event: string, details: Readonly<Record<string, string>>) => void

export class Trouble {
  readonly #known = new Map<string, string>()
  readonly #tell: Tell

  constructor(tell: Tell) {
    this.#tell = tell
  }

  is(about: string, message: string): void {
    if (this.#known.get(about) !== message) this.#tell('degraded', { about, message })
    this.#known.set(about, message)
  }

  over(about: string): void {
    if (this.#known.delete(about)) this.#tell('well again', { about })
  }

  all(): string | null {
    return this.#known.size === 0 ? null : [...this.#known.values()].join('; ')
  }
}
