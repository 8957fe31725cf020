/** The title of a run: the owner's words in its prompt, without the data that was filled in. */

import { clipText } from './clean-summary.ts'
import type { Json } from './json.ts'
import { RESIDENT_BEHAVIOUR } from './resident.ts'

const FENCE = /<data ([0-9a-f]{12}) [^>\n]*>\n[\s\S]*?\n<\/data \1>/g
/** A mark in a prompt at which facts are filled in later. */
const MEMORY_MARK = /\{MEMORY:[0-9a-f]{12}\}/g
const MOST_OF_A_TITLE = 200

/** What follows the owner's sentence in the prompt of an agent that was made from one. */
export const STANDING_TASK = {
  en: 'This is your standing task, as your owner wrote it. The system starts you on schedule.',
  zh: '以上是主人交给你的长期任务。何时执行由系统安排。',
} as const

/** The text outside of data fences. A fence without an end extends to the end of the text. */
export function withoutFences(text: string): string {
  const left = text.replaceAll(FENCE, '')
  const open = left.search(/<data [0-9a-f]{12} /)
  return open < 0 ? left : left.slice(0, open)
}

/** Contract: pure; returns one line. */
export function titleOf(prompt: string): string {
  const own = sentenceOf(withoutFences(prompt)).replaceAll(MEMORY_MARK, '').replaceAll(/\s+/g, ' ').trim()
  return own === '' ? '(nothing but data)' : clipText(own, MOST_OF_A_TITLE)
}

/** A look of a resident has no prompt: what it is about arrives while it looks. */
const LOOK_TITLE = 'a look at what is new'

/** Contract: pure; the title of a run of this behaviour, which is `metadata.behaviour` of its dispatch. */
export const titleOfRun = (prompt: string, behaviour: Json | undefined): string =>
  prompt === '' && behaviour === RESIDENT_BEHAVIOUR ? LOOK_TITLE : titleOf(prompt)

/** The sentence that the owner wrote, without the rest of the prompt that was made from it. */
function sentenceOf(text: string): string {
  const ends = Object.values(STANDING_TASK)
    .map((rest) => text.indexOf(rest))
    .filter((at) => at > 0)
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends))
}
