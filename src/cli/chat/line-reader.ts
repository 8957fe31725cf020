/** Lines and messages: a backslash at the end continues a message, lines that arrive together are one message. */

import { readFileSync } from 'node:fs'
import { replaceFile } from '../../files/whole-files.ts'

/** Lines in the history file. */
const MAX_HISTORY = 500

/** Collects lines to messages. */
export class MessageBuffer {
  readonly #lines: string[] = []

  /** Contract: the whole message; undefined as long as its last line continues. */
  add(line: string): string | undefined {
    const continues = line.endsWith('\\')
    this.#lines.push(continues ? line.slice(0, -1) : line)
    if (continues) return undefined
    return this.#lines.splice(0).join('\n')
  }

  get isOpen(): boolean {
    return this.#lines.length > 0
  }
}

/** The lines that were typed before, newest first, in a file that only its owner can read. */
export function readHistory(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean).toReversed()
  } catch {
    return []
  }
}

/** Contract: never throws; without a history file the chat works all the same. */
export function writeHistory(file: string, newestFirst: readonly string[]): void {
  try {
    const lines = newestFirst.slice(0, MAX_HISTORY).toReversed()
    replaceFile(file, `${lines.join('\n')}\n`, { mode: 0o600, isFlushed: false })
  } catch {}
}
