/** The title of a run: the owner's words in its prompt, without the data that was filled in. */

import { clipText } from './clean-summary.ts'

const FENCE = /<data ([0-9a-f]{12}) [^>\n]*>\n[\s\S]*?\n<\/data \1>/g
/** A mark in a prompt at which facts are filled in later. */
const MEMORY_MARK = /\{MEMORY:[0-9a-f]{12}\}/g
const MOST_OF_A_TITLE = 200

/** The text outside of data fences. A fence without an end extends to the end of the text. */
export function withoutFences(text: string): string {
  const left = text.replaceAll(FENCE, '')
  const open = left.search(/<data [0-9a-f]{12} /)
  return open < 0 ? left : left.slice(0, open)
}

/** Contract: pure; returns one line. */
export function titleOf(prompt: string): string {
  const own = withoutFences(prompt).replaceAll(MEMORY_MARK, '').replaceAll(/\s+/g, ' ').trim()
  return own === '' ? '(nothing but data)' : clipText(own, MOST_OF_A_TITLE)
}
