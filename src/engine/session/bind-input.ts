/**
 * Selects the unread messages that fit into one turn, oldest first. The others stay unread for later turns; a notice
 * tells the model how many there are.
 * Must not know: the store. A message that is not bound is never acknowledged.
 * Invariants: at least one message is bound if there is any; a shortened message contains a mark; binding a bound list
 * again returns the same list, so that a replay binds the same messages.
 */

import { assertNever } from '../../domain/error.ts'
import { CLEAN_LABEL, isCleanLabel, type Label, lowestLabel } from '../../domain/label.ts'
import type { Observation } from '../../domain/observation.ts'
import { estimateTokens } from '../../prompt-compiler/tokens.ts'
import { truncateMiddle } from '../../prompt-compiler/truncate.ts'
import { observationText } from '../../prompt-compiler/turn-messages.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'

interface InputRoom {
  readonly tokens: number
  /** Maximum length of the JSON of all observations. */
  readonly characters: number
}

/** Maximum tokens of the overflow notice. */
const MAX_NOTICE_TOKENS = 400
const MAX_NEWEST_TOKENS = 120
const MAX_SENDERS = 8
/** Minimum number of tokens for input. If the request has less room, it is sent anyway and fails as oversize. */
const MIN_TOKENS = 600
/** Overhead of each observation: tokens of its separators, and characters of its JSON syntax. */
const TOKENS_PER_OBSERVATION = 4
const JSON_CHARACTERS_PER_OBSERVATION = 150

export function selectFittingInput(
  unread: readonly Observation[],
  limits: InputRoom,
  turn: number,
): readonly Observation[] {
  const room = { tokens: Math.max(limits.tokens, MIN_TOKENS), characters: limits.characters }
  if (takeFitting(unread, room).length === unread.length) return unread
  const reduced = { tokens: room.tokens - MAX_NOTICE_TOKENS, characters: room.characters - MAX_NOTICE_TOKENS * 5 }
  const fits = takeFitting(unread, reduced)
  const [first] = unread
  const bound = fits.length > 0 || !first ? fits : [shortenToFit(first, reduced)]
  const waiting = unread.slice(bound.length)
  return waiting.length === 0 ? bound : [...bound, overflowNotice(bound, waiting, turn)]
}

/** Whether the observation came through the inbox. Only the overflow notice did not: its id follows from the turn. */
export const isFromInbox = (observation: Observation): boolean => !NOTICE_ID.test(observation.id)

/** The messages of an input without the run's task. */
export const messagesWithoutTask = (input: readonly Observation[], run_id: string): readonly Observation[] =>
  input.filter((observation) => observation.id !== run_id && isFromInbox(observation))

const OVERFLOW_EVENT = 'inbox_overflow'
const NOTICE_ID = new RegExp(`^${OVERFLOW_EVENT}-\\d+$`)

function takeFitting(unread: readonly Observation[], room: InputRoom): readonly Observation[] {
  let { tokens, characters } = room
  const end = unread.findIndex((observation) => {
    characters -= sizeOf(observation) + JSON_CHARACTERS_PER_OBSERVATION
    // Skip the token count for text that is too long by its characters alone.
    if (characters < 0 || tokens < 0) return true
    tokens -= estimateTokens(JSON.stringify(observationText(observation))) + TOKENS_PER_OBSERVATION
    return tokens < 0
  })
  return end < 0 ? unread : unread.slice(0, end)
}

const sizeOf = (observation: Observation): number =>
  observation.type === 'user_message' ? observation.text.length : JSON.stringify(observation.payload ?? null).length

/** Shortens a message that is too long on its own: start, end, and a mark with the number of characters left out. */
function shortenToFit(observation: Observation, room: InputRoom): Observation {
  for (let tokens = Math.floor(room.tokens); ; tokens = Math.floor(tokens * 0.7)) {
    const cut = cutMiddleOf(observation, tokens)
    // Escaping in JSON can make the message longer, so check again.
    if (tokens < TOKENS_PER_OBSERVATION || takeFitting([cut], room).length === 1) return cut
  }
}

function cutMiddleOf(observation: Observation, tokens: number): Observation {
  switch (observation.type) {
    case 'user_message':
      return { ...observation, text: truncateMiddle(observation.text, tokens) }
    case 'system_event':
      return { ...observation, payload: truncateMiddle(JSON.stringify(observation.payload ?? null), tokens) }
    default:
      return assertNever(observation)
  }
}

function overflowNotice(shown: readonly Observation[], waiting: readonly Observation[], turn: number): Observation {
  const newest = waiting.at(-1)
  const label = waiting.reduce(
    (sum: Label, observation) => lowestLabel(sum, observation.label ?? CLEAN_LABEL),
    CLEAN_LABEL,
  )
  return {
    id: `${OVERFLOW_EVENT}-${turn}`,
    ts: newest?.ts ?? 0,
    type: 'system_event',
    name: OVERFLOW_EVENT,
    payload: {
      unread: shown.length + waiting.length,
      shown_now: shown.length,
      still_unread: waiting.length,
      still_unread_from: countSenders(waiting),
      newest: newest ? truncateMiddle(observationText(newest), MAX_NEWEST_TOKENS) : '',
      note: loadPrompt('history/unread.md'),
    },
    ...(isCleanLabel(label) ? {} : { label }),
  }
}

/** Number of messages by sender: the owner, a model, or an event name. */
function countSenders(observations: readonly Observation[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const observation of observations) {
    const sender = senderOf(observation)
    const name = counts.has(sender) || counts.size < MAX_SENDERS ? sender : 'others'
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return Object.fromEntries(counts)
}

function senderOf(observation: Observation): string {
  if (observation.type === 'system_event') return `event ${observation.name.slice(0, 40)}`
  if (observation.words === 'source') return 'a source'
  return observation.words === 'model' ? 'a model' : 'your owner'
}
