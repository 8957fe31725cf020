/**
 * Limits of what a plugin's process sends. They are checked before a message is parsed: a small text can have millions
 * of values, and to parse and check them would stop this process.
 */

import type { Clock } from '../../../ports/clock.ts'

/** Size limit of one message, in bytes. */
export const MOST_MESSAGE_BYTES = 4 * 1024 * 1024
const MOST_VALUES = 100_000
/** Functions that walk through a value call themselves; a deeper one would overflow the stack. */
const DEEPEST = 100

const MOST_PER_SECOND = { messages: 2000, bytes: 32 * 1024 * 1024, values: 500_000 } as const
type Unit = keyof typeof MOST_PER_SECOND
const UNITS = Object.keys(MOST_PER_SECOND) as Unit[]

export class MessageLimits {
  readonly #clock: Clock
  #from = 0
  #used: Record<Unit, number> = { messages: 0, bytes: 0, values: 0 }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Contract: why the message must not be parsed; undefined if it may. */
  check(line: Buffer): string | undefined {
    const { values, depth } = measureJson(line)
    if (values > MOST_VALUES) return `it sent a message with more than ${MOST_VALUES} values`
    if (depth > DEEPEST) return `it sent a message that is nested deeper than ${DEEPEST} levels`
    const now = this.#clock.monotonic()
    if (now - this.#from >= 1000) {
      this.#from = now
      this.#used = { messages: 0, bytes: 0, values: 0 }
    }
    this.#used.messages += 1
    this.#used.bytes += line.length
    this.#used.values += values
    const unit = UNITS.find((each) => this.#used[each] > MOST_PER_SECOND[each])
    return unit && `it sent more than ${MOST_PER_SECOND[unit]} ${unit} in a second`
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Upper bounds for a text that is JSON; of any other text, the parser will complain. */
function measureJson(line: Buffer): { readonly values: number; readonly depth: number } {
  let [values, depth, level, isInText] = [1, 0, 0, false]
  for (let at = 0; at < line.length && values <= MOST_VALUES; at += 1) {
    const byte = line[at]
    if (byte === QUOTE) isInText = !isInText
    else if (isInText) at += byte === BACKSLASH ? 1 : 0
    else if (byte === COMMA) values += 1
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1
      level += 1
      depth = Math.max(depth, level)
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) level -= 1
  }
  return { values, depth }
}
