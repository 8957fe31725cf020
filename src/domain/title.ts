/** The title of a run: the owner's words in its prompt, without the data that was filled in. */

import { clipText } from './clean-summary.ts'
import type { Json } from './json.ts'
import { RESIDENT_BEHAVIOUR } from './resident.ts'

const FENCE = /<data ([0-9a-f]{12}) [^>\n]*>\n[\s\S]*?\n<\/data \1>/g
/** A mark in a prompt at which facts are filled in later. */
const MEMORY_MARK = /\{MEMORY:[0-9a-f]{12}\}/g
const MOST_OF_A_TITLE = 200
/** A line that only announces the data below it. */
const ANNOUNCEMENT = /^[^\n]*[:：][ \t]*\n(?=<data [0-9a-f]{12} )/gm
/** First lines of what the kernel appends to the prompt of an agent (prompts/requests/execution.*.md). */
const APPENDED = ['Execution requirements:', '执行要求：']

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

/** Contract: pure; returns one line: what is to be done, without what announces data, unless there is nothing else. */
export function titleOf(prompt: string): string {
  const own = ownLine(prompt.replaceAll(ANNOUNCEMENT, '')) || ownLine(prompt)
  return own === '' ? '(nothing but data)' : clipText(own, MOST_OF_A_TITLE)
}

const ownLine = (prompt: string): string =>
  sentenceOf(withoutFences(prompt)).replaceAll(MEMORY_MARK, '').replaceAll(/\s+/g, ' ').trim()

/** A look of a resident has no prompt: what it is about arrives while it looks. */
const LOOK_TITLE = 'a look at what is new'
/** A run that answers a message, or passes it on, has no prompt either. */
const MESSAGE_TITLE = 'your message'

/** Contract: pure; the title of a run of this behaviour, which is `metadata.behaviour` of its dispatch. */
export function titleOfRun(prompt: string, behaviour: Json | undefined): string {
  if (prompt === '' && behaviour === RESIDENT_BEHAVIOUR) return LOOK_TITLE
  return prompt === '' && behaviour === 'resolve_router' ? MESSAGE_TITLE : titleOf(prompt)
}

/** The sentence that the owner wrote, without the rest of the prompt that was made from it. */
function sentenceOf(text: string): string {
  const ends = [...Object.values(STANDING_TASK), ...APPENDED].map((rest) => text.indexOf(rest)).filter((at) => at > 0)
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends))
}
