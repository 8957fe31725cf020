/** What a plugin writes to the log: short lines, few per second. Of a flood, only the number of lines is written. */

import type { Json } from '../../../domain/json.ts'
import type { Clock } from '../../../ports/clock.ts'
import { startTimer } from '../../../ports/deadline.ts'

interface LogOptions {
  readonly plugin: string
  readonly clock: Clock
  log(event: string, details: Readonly<Record<string, Json>>): void
}

const MOST_LINES_PER_SECOND = 20
/** Length limit of a line in characters. */
export const LONGEST_LINE = 500

export class PluginLog {
  readonly #options: LogOptions
  #from = 0
  #lines = 0
  #dropped = 0

  constructor(options: LogOptions) {
    this.#options = options
  }

  write(event: string, text: string): void {
    const { plugin, clock, log } = this.#options
    const now = clock.monotonic()
    if (now - this.#from >= 1000) {
      this.#from = now
      this.#lines = 0
    }
    this.#lines += 1
    if (this.#lines <= MOST_LINES_PER_SECOND) {
      log(event, { plugin, message: text.slice(0, LONGEST_LINE) })
      return
    }
    this.#dropped += 1
    if (this.#dropped === 1) startTimer(clock, this.#from + 1000 - now, () => this.#reportDropped())
  }

  #reportDropped(): void {
    const { plugin, log } = this.#options
    log('plugin wrote too much to the log', { plugin, lines_dropped: this.#dropped })
    this.#dropped = 0
  }
}
