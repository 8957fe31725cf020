/**
 * Of what is unread, as much as one turn has room for, oldest first. What does not fit stays unread and comes with the next turns, and an
 * observation says how much that is.
 * Must not know: the store. What is not bound is never acknowledged.
 * Invariants: at least one observation is bound where there is any; none is bound in part without a mark; binding what was bound is the same
 * again, so that a replay, which knows of no others, binds the same.
 */

import { assertNever } from '../domain/error.ts'
import type { Observation } from '../domain/observation.ts'
import { CLEAN, isClean, type Label, lowest } from '../domain/trust.ts'
import { observationText } from '../prompt/conversation.ts'
import { cutMiddle } from '../prompt/cut.ts'
import { estimateTokens } from '../prompt/tokens.ts'

export interface InputRoom {
  readonly tokens: number
  /** Of all of it as JSON. */
  readonly characters: number
}

/** Tokens that the observation of the overflow takes, at most. */
const MOST_OF_NOTICE = 400
const MOST_OF_NEWEST = 120
const MOST_SENDERS = 8
/** Less room than this there never is: a request that is too long for it fails as such. */
const LEAST_TOKENS = 600
/** What stands between two observations, and around one in JSON. */
const PER_OBSERVATION = 4
const JSON_PER_OBSERVATION = 150

export function withinRoom(unread: readonly Observation[], most: InputRoom, turn: number): readonly Observation[] {
  const room = { tokens: Math.max(most.tokens, LEAST_TOKENS), characters: most.characters }
  if (takenFrom(unread, room).length === unread.length) return unread
  const less = { tokens: room.tokens - MOST_OF_NOTICE, characters: room.characters - MOST_OF_NOTICE * 5 }
  const fits = takenFrom(unread, less)
  const [first] = unread
  const bound = fits.length > 0 || !first ? fits : [cutTo(first, less)]
  const waiting = unread.slice(bound.length)
  return waiting.length === 0 ? bound : [...bound, overflowNotice(bound, waiting, turn)]
}

/** What came by the inbox, not by the engine itself. */
export const isFromInbox = (observation: Observation): boolean =>
  observation.type !== 'system_event' || observation.name !== OVERFLOW

/** Beside the task: of one message alone the middle can be left out, of several some can wait. */
export const messagesIn = (input: readonly Observation[], run_id: string): readonly Observation[] =>
  input.filter((observation) => observation.id !== run_id && isFromInbox(observation))

const OVERFLOW = 'inbox_overflow'

function takenFrom(unread: readonly Observation[], room: InputRoom): readonly Observation[] {
  let { tokens, characters } = room
  const end = unread.findIndex((observation) => {
    characters -= sizeOf(observation) + JSON_PER_OBSERVATION
    // Never counts the tokens of what is too long by its characters alone.
    if (characters < 0 || tokens < 0) return true
    tokens -= estimateTokens(JSON.stringify(observationText(observation))) + PER_OBSERVATION
    return tokens < 0
  })
  return end < 0 ? unread : unread.slice(0, end)
}

const sizeOf = (observation: Observation): number =>
  observation.type === 'user_message' ? observation.text.length : JSON.stringify(observation.payload ?? null).length

/** One that is too long even alone: its beginning and its end, and a mark that says how much is missing. */
function cutTo(observation: Observation, room: InputRoom): Observation {
  for (let tokens = Math.floor(room.tokens); ; tokens = Math.floor(tokens * 0.7)) {
    const cut = withoutMiddleOf(observation, tokens)
    // Escaped in JSON it may be longer.
    if (tokens < PER_OBSERVATION || takenFrom([cut], room).length === 1) return cut
  }
}

function withoutMiddleOf(observation: Observation, tokens: number): Observation {
  switch (observation.type) {
    case 'user_message':
      return { ...observation, text: cutMiddle(observation.text, tokens) }
    case 'system_event':
      return { ...observation, payload: cutMiddle(JSON.stringify(observation.payload ?? null), tokens) }
    default:
      return assertNever(observation)
  }
}

function overflowNotice(shown: readonly Observation[], waiting: readonly Observation[], turn: number): Observation {
  const newest = waiting.at(-1)
  const label = waiting.reduce((sum: Label, observation) => lowest(sum, observation.label ?? CLEAN), CLEAN)
  return {
    id: `${OVERFLOW}-${turn}`,
    ts: newest?.ts ?? 0,
    type: 'system_event',
    name: OVERFLOW,
    payload: {
      unread: shown.length + waiting.length,
      shown_now: shown.length,
      still_unread: waiting.length,
      still_unread_from: sendersOf(waiting),
      newest: newest ? cutMiddle(observationText(newest), MOST_OF_NEWEST) : '',
      note: 'Oldest first; the rest comes with the next steps, in order. Nothing of it is lost.',
    },
    ...(isClean(label) ? {} : { label }),
  }
}

/** How many by whom: your owner, a model, an event by its name. */
function sendersOf(observations: readonly Observation[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const observation of observations) {
    const sender = senderOf(observation)
    const name = counts.has(sender) || counts.size < MOST_SENDERS ? sender : 'others'
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return Object.fromEntries(counts)
}

function senderOf(observation: Observation): string {
  if (observation.type === 'system_event') return `event ${observation.name.slice(0, 40)}`
  return observation.words === 'model' ? 'a model' : 'your owner'
}
