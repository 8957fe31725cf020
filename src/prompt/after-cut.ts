/**
 * What a conversation begins with once its first turns were left out: the task, the owner's words, a mark that says how much is missing, and
 * what the memory kept. Pure; the same records always give the same bytes.
 */

import type { Json } from '../domain/json.ts'
import type { Cut } from '../domain/record.ts'
import type { Message } from '../ports/model.ts'
import { cutMiddle } from './cut.ts'
import { nonceOf, quarantined } from './data-fence.ts'
import { estimateTokens } from './tokens.ts'

/** A text of the owner, or the task of a run, and the turn that it was said in. */
export interface OwnerWords {
  readonly turn: number
  readonly text: string
  /** Of the run that goes on. It is never cut. */
  readonly isTask: boolean
}

/** Turns that are not shown: the first and the last of them. */
export interface LeftOutTurns {
  readonly first: number
  readonly last: number
  readonly turns: number
  readonly messages: number
}

/** One text takes at most this share of the room for all of them. */
const SHARE_OF_ONE = 0.25

/** `words`: of the turns that are left out, oldest first. */
export function openingMessage(cut: Cut, words: readonly OwnerWords[], left: LeftOutTurns): Message {
  const { summary, recalled } = cut
  const longest = cut.longest ?? Number.POSITIVE_INFINITY
  const quoted = (label: string, text: string): string =>
    quarantined(label, cutMiddle(text, longest), nonceOf(left.last, words[0]?.text ?? '', label, text))
  const parts = [
    ...wordsWithin(words, cut.words ?? 0),
    markOf(left, summary !== '' || recalled.length > 0),
    ...(summary === '' ? [] : [`[what happened in them, in short]\n${quoted('summary', summary)}`]),
    ...(recalled.length === 0
      ? []
      : [`[from them, as it may matter now]\n${quoted('earlier', recalled.join('\n---\n'))}`]),
  ]
  return { role: 'user', text: parts.join('\n\n') }
}

function markOf({ first, last, turns, messages }: LeftOutTurns, isTold: boolean): string {
  const which = turns === 1 ? `Turn ${first} is` : `${turns} turns (${first} to ${last}) are`
  return `[${which} left out here, ${messages} messages, to save room. ${isTold ? 'What is kept of them follows.' : 'Nothing else is kept of them.'}]`
}

/** The task whole; of the other words the earliest and the latest that there is room for, and a mark where some are missing. */
function wordsWithin(words: readonly OwnerWords[], room: number): readonly string[] {
  const shown = new Map<OwnerWords, string>()
  for (const said of words) if (said.isTask) shown.set(said, said.text)
  let left = room
  for (const said of fromBothEnds(words.filter(({ isTask }) => !isTask))) {
    const text = cutMiddle(said.text, Math.floor(room * SHARE_OF_ONE))
    left -= estimateTokens(text)
    if (left < 0) break
    shown.set(said, text)
  }
  const missing = words.filter((said) => !shown.has(said))
  return words.flatMap((said, index) => {
    if (said === missing[0]) return [missingMark(missing)]
    const text = shown.get(said)
    if (text === undefined) return []
    // The first one stands as it stood when it was said: the prompt begins with the same bytes as before.
    return index === 0 ? [text] : [`[${said.isTask ? 'your task' : 'your owner'}, turn ${said.turn}]\n${text}`]
  })
}

function missingMark(missing: readonly OwnerWords[]): string {
  const [first, last] = [missing[0]?.turn, missing.at(-1)?.turn]
  return `[${missing.length} messages of your owner, turns ${first} to ${last}, are left out here: there is no room for them]`
}

/** The first, the last, the second, the last but one, … */
function fromBothEnds<T>(items: readonly T[]): readonly T[] {
  return items.map((_, i) => items[i % 2 === 0 ? i / 2 : items.length - (i + 1) / 2] as T)
}

/** The message with no text in it longer than `longest` tokens; `task`, where it begins with that, stays whole. */
export function shortenMessage(message: Message, longest: number, task: string): Message {
  if (message.role === 'assistant') return shortenAnswer(message, longest)
  const kept = message.role === 'user' && task !== '' && message.text.startsWith(task) ? task : ''
  const text = kept + cutMiddle(message.text.slice(kept.length), longest)
  return text === message.text ? message : { ...message, text }
}

type AnswerMessage = Extract<Message, { role: 'assistant' }>

/** The provider's own notes go with the text that they belong to. */
function shortenAnswer(message: AnswerMessage, longest: number): AnswerMessage {
  const { reasoning, ...rest } = message
  const text = cutMiddle(message.text, longest)
  const calls = message.calls.map((call) => ({ ...call, args: shortenJson(call.args, longest) }))
  const isSame = text === message.text && JSON.stringify(calls) === JSON.stringify(message.calls)
  if (isSame && (reasoning === undefined || estimateTokens(JSON.stringify(reasoning)) <= longest)) return message
  return { ...rest, text, calls }
}

function shortenJson(value: Json, longest: number): Json {
  if (typeof value === 'string') return cutMiddle(value, longest)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: Json) => shortenJson(item, longest))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortenJson(item, longest)]))
}
