/** Current problems by subject. Reports when a problem starts, changes or ends. */

export type Tell = (event: string, details: Readonly<Record<string, string>>) => void

export class Trouble {
  readonly #known = new Map<string, string>()
  readonly #tell: Tell

  constructor(tell: Tell) {
    this.#tell = tell
  }

  is(subject: string, message: string): void {
    if (this.#known.get(subject) !== message) this.#tell('degraded', { about: subject, message })
    this.#known.set(subject, message)
  }

  over(subject: string): void {
    if (this.#known.delete(subject)) this.#tell('recovered', { about: subject })
  }

  all(): string | null {
    return this.#known.size === 0 ? null : [...this.#known.values()].join('; ')
  }
}
