/**
 * Checks what plugins and sources give to the bus: an invalid value is refused there, and harms no resident later.
 * Must not know: residents.
 */

import { APPROVAL_EVENT } from '../../domain/approval.ts'
import { TirelessError } from '../../domain/error.ts'
import { copyPlainData, describeValue, type Json } from '../../domain/json.ts'
import type { Label } from '../../domain/label.ts'
import { readReplyTo } from '../../domain/reply-to.ts'
import { LOOK_FAILED_EVENT, NEWS_EVENT, OVERFLOW_EVENT, SLICES_EVENT } from '../../domain/resident.ts'
import { AGENT_RESULT } from '../../domain/sub-agent.ts'
import type { BusObservation, Publication } from '../../ports/bus.ts'

/** Longest observation, as JSON. */
const MAX_CHARACTERS = 1_000_000
/** Ids of sources and channels, with the name of their sender. */
const MAX_ID = 1100
const MAX_NAME = 200
/** Longest slice, as JSON: it is shown in every look. */
const MAX_SLICE = 20_000

/** A look must be able to tell what the runtime says from what a source says. */
const OWN_EVENTS: ReadonlySet<string> = new Set([
  ...[SLICES_EVENT, OVERFLOW_EVENT, NEWS_EVENT, LOOK_FAILED_EVENT, APPROVAL_EVENT, AGENT_RESULT],
  ...['goal_due', 'goal_over', 'memory', 'inbox_overflow', 'deadline', 'reply', 'said'],
])

/** Contract: a copy; throws `usage` for anything that is no publication. `ops` come from the program itself. */
export function checkPublication(given: Publication): Publication {
  const { ops, ...rest } = isObject(given) ? given : ({} as Publication)
  const { agents, id, observation, label, replyTo } = plain(rest, 'the publication') as Readonly<Record<string, Json>>
  if (!Array.isArray(agents) || agents.length === 0 || !agents.every((agent) => isText(agent, MAX_NAME)))
    throw invalid('agents', agents, 'a list of agent ids')
  if (!isText(id, MAX_ID)) throw invalid('id', id, `a text of 1 to ${MAX_ID} characters`)
  const to = readReplyTo(replyTo)
  return {
    ...{ agents: agents as readonly string[], id, observation: checkObservation(observation) },
    ...(label === undefined ? {} : { label: checkLabel(label) }),
    ...(to === undefined ? {} : { replyTo: to }),
    ...(ops === undefined ? {} : { ops }),
  }
}

/** Contract: a copy; throws `usage`. */
export function checkSlice(name: unknown, value: unknown): { readonly name: string; readonly value: Json } {
  if (!isText(name, MAX_NAME)) throw invalid('name', name, `a text of 1 to ${MAX_NAME} characters`)
  const copy = plain(value, 'the slice')
  const { length } = JSON.stringify(copy)
  if (length > MAX_SLICE) throw invalid('value', `${length} characters`, `at most ${MAX_SLICE} characters of JSON`)
  return { name, value: copy }
}

function checkObservation(value: Json | undefined): BusObservation {
  const { type, text, name, payload } = (isObject(value) ? value : {}) as Readonly<Record<string, Json>>
  const { length } = JSON.stringify(value ?? null)
  if (length > MAX_CHARACTERS)
    throw invalid('observation', `${length} characters`, `at most ${MAX_CHARACTERS} characters of JSON`)
  if (type === 'user_message' && isText(text, MAX_CHARACTERS)) return { type, text }
  if (type === 'system_event' && isText(name, MAX_NAME) && OWN_EVENTS.has(name))
    throw invalid('observation', name, 'another name: events of this name come from the runtime alone')
  if (type === 'system_event' && isText(name, MAX_NAME))
    return { type, name, ...(payload === undefined ? {} : { payload }) }
  throw invalid('observation', value, "{ type: 'user_message', text } or { type: 'system_event', name, payload? }")
}

function checkLabel(value: Json): Label {
  const { trust, private: isPrivate } = (isObject(value) ? value : {}) as Readonly<Record<string, Json>>
  if ((trust === 'trusted' || trust === 'untrusted') && typeof isPrivate === 'boolean')
    return { trust, private: isPrivate }
  throw invalid('label', value, "{ trust: 'trusted' or 'untrusted', private: true or false }")
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= most

const plain = (value: unknown, what: string): Json =>
  copyPlainData(value, { what, code: 'usage', undefinedKeys: 'omit' })

const invalid = (where: string, got: unknown, expected: string): TirelessError =>
  new TirelessError('usage', { what: 'the bus cannot take this', where, got: describeValue(got), expected })

export const tooManyUnread = (agent: string, unread: number, limit: number): TirelessError =>
  new TirelessError('bus_full', {
    what: `the resident ${agent} has too many unread observations`,
    got: String(unread),
    expected: `fewer than ${limit}`,
    fix: 'send it again later',
  })

export const tooManySlices = (agent: string, name: string, limit: number): TirelessError =>
  new TirelessError('bus_full', {
    ...{ what: `the resident ${agent} has too many slices`, got: name },
    expected: `at most ${limit} names`,
  })
