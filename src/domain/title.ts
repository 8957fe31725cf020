/** The title of a run: the words of its prompt that are the owner's, without the data that was filled in. */

import { clipText } from './clean-summary.ts'

const FENCE = /<data ([0-9a-f]{12}) [^>\n]*>\n[\s\S]*?\n<\/data \1>/g
/** Where facts are filled in later. */
const MEMORY_MARK = /\{MEMORY:[0-9a-f]{12}\}/g
const MOST_OF_A_TITLE = 200

/** What stands outside of data fences. A fence that is not closed fences all that follows. */
export function withoutFences(text: string): string {
  const left = text.replaceAll(FENCE, '')
  const open = left.search(/<data [0-9a-f]{12} /)
  return open < 0 ? left : left.slice(0, open)
}

/** Contract: pure, one line. */
export function titleOf(prompt: string): string {
  const own = withoutFences(prompt).replaceAll(MEMORY_MARK, '').replaceAll(/\s+/g, ' ').trim()
  return own === '' ? '(nothing but data)' : clipText(own, MOST_OF_A_TITLE)
}
