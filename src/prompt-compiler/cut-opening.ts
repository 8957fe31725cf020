/**
 * The opening message of a history whose first turns were cut: the task, the owner's messages, a note on what is
 * missing, and the memory's summary. Pure: the same records always give the same bytes.
 */

import type { HistoryCut } from '../domain/journal-record.ts'
import type { Json } from '../domain/json.ts'
import type { ModelMessage } from '../ports/model.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { fenceUntrusted, nonceOf } from './data-fence.ts'
import { estimateTokens } from './tokens.ts'
import { truncateMiddle } from './truncate.ts'

/** A message of the owner or the task of a run, with the turn in which it came. */
interface OwnerMessage {
  readonly turn: number
  readonly text: string
  /** Whether the message is the task of the current run, which is never truncated. */
  readonly isTask: boolean
}

/** The turns that were cut, from `first` to `last`, with the number of turns and of messages. */
interface OmittedTurns {
  readonly first: number
  readonly last: number
  readonly turns: number
  readonly messages: number
}

/** A single message of the owner takes at most this share of the space for all of the owner's messages. */
const MAX_SHARE_OF_ONE = 0.25

/** `words`: the owner's messages in the cut turns, oldest first. */
export function openingMessage(cut: HistoryCut, words: readonly OwnerMessage[], left: OmittedTurns): ModelMessage {
  const { summary, recalled } = cut
  const longest = cut.longest ?? Number.POSITIVE_INFINITY
  const fence = (label: string, text: string): string =>
    fenceUntrusted(label, truncateMiddle(text, longest), nonceOf(left.last, words[0]?.text ?? '', label, text))
  const parts = [
    ...selectOwnerMessages(words, cut.words ?? 0),
    omissionNote(left, summary !== '' || recalled.length > 0),
    ...(summary === '' ? [] : [loadPrompt('history/cut.md#summary', { summary: fence('summary', summary) })]),
    ...(recalled.length === 0
      ? []
      : [loadPrompt('history/cut.md#excerpts', { excerpts: fence('earlier', recalled.join('\n---\n')) })]),
  ]
  return { role: 'user', text: parts.join('\n\n') }
}

function omissionNote({ first, last, turns, messages }: OmittedTurns, hasSummary: boolean): string {
  const rest = loadPrompt(hasSummary ? 'history/cut.md#summary_follows' : 'history/cut.md#no_summary')
  return turns === 1
    ? loadPrompt('history/cut.md#one_turn', { first, messages, rest })
    : loadPrompt('history/cut.md#several_turns', { turns, first, last, messages, rest })
}

/**
 * The complete task; of the other messages the earliest and the latest that fit, with a note in place of the missing
 * messages.
 */
function selectOwnerMessages(words: readonly OwnerMessage[], room: number): readonly string[] {
  const shown = new Map<OwnerMessage, string>()
  for (const message of words) if (message.isTask) shown.set(message, message.text)
  let left = room
  for (const message of fromBothEnds(words.filter(({ isTask }) => !isTask))) {
    const text = truncateMiddle(message.text, Math.floor(room * MAX_SHARE_OF_ONE))
    left -= estimateTokens(text)
    if (left < 0) break
    shown.set(message, text)
  }
  const missing = words.filter((message) => !shown.has(message))
  return words.flatMap((message, index) => {
    if (message === missing[0]) return [missingMessagesNote(missing)]
    const text = shown.get(message)
    if (text === undefined) return []
    // The first message is repeated unchanged, so that the prompt begins with the same bytes as before the cut.
    if (index === 0) return [text]
    const ref = message.isTask ? 'history/cut.md#task' : 'history/cut.md#owner_message'
    return [loadPrompt(ref, { turn: message.turn, text })]
  })
}

function missingMessagesNote(missing: readonly OwnerMessage[]): string {
  const [first = 0, last = 0] = [missing[0]?.turn, missing.at(-1)?.turn]
  return loadPrompt('history/cut.md#missing_messages', { count: missing.length, first, last })
}

/** The items in this order: first, last, second, last but one, … */
function fromBothEnds<T>(items: readonly T[]): readonly T[] {
  return items.map((_, i) => items[i % 2 === 0 ? i / 2 : items.length - (i + 1) / 2] as T)
}

/** Truncates every text in the message to `longest` tokens; a leading `task` stays complete. */
export function shortenMessage(message: ModelMessage, longest: number, task: string): ModelMessage {
  if (message.role === 'assistant') return shortenAnswer(message, longest)
  const kept = message.role === 'user' && task !== '' && message.text.startsWith(task) ? task : ''
  const text = kept + truncateMiddle(message.text.slice(kept.length), longest)
  return text === message.text ? message : { ...message, text }
}

type AnswerMessage = Extract<ModelMessage, { role: 'assistant' }>

/**
 * The provider's reasoning is dropped if a text or an argument is truncated, or if the reasoning itself is too long.
 */
function shortenAnswer(message: AnswerMessage, longest: number): AnswerMessage {
  const { reasoning, ...rest } = message
  const text = truncateMiddle(message.text, longest)
  const calls = message.calls.map((call) => ({ ...call, args: shortenJson(call.args, longest) }))
  const isSame = text === message.text && JSON.stringify(calls) === JSON.stringify(message.calls)
  if (isSame && (reasoning === undefined || estimateTokens(JSON.stringify(reasoning)) <= longest)) return message
  return { ...rest, text, calls }
}

function shortenJson(value: Json, longest: number): Json {
  if (typeof value === 'string') return truncateMiddle(value, longest)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: Json) => shortenJson(item, longest))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortenJson(item, longest)]))
}
