/** Current problems by subject. Reports when a problem starts, changes or ends. */

export type ReportEvent = (event: string, details: Readonly<Record<string, string>>) => void

export class Problems {
  readonly #known = new Map<string, string>()
  readonly #tell: ReportEvent

  constructor(tell: ReportEvent) {
    this.#tell = tell
  }

  start(subject: string, message: string): void {
    if (this.#known.get(subject) !== message) this.#tell('degraded', { about: subject, message })
    this.#known.set(subject, message)
  }

  end(subject: string): void {
    if (this.#known.delete(subject)) this.#tell('recovered', { about: subject })
  }

  describe(): string | null {
    return this.#known.size === 0 ? null : [...this.#known.values()].join('; ')
  }
}
