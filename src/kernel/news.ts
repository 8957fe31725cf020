/**
 * News: what of a cycle is worth a message, given what was told before.
 * Must not know: who is told, by which channel, at what hour, in which words.
 * Invariants: pure; the same matter is told once, until it changes or is over; that all is well again is told once.
 */

import { type AgentResult, type CycleResult, isFailure } from '../domain/cycle.ts'
import type { Note } from '../domain/note.ts'

/** What was not seen for so long is over: a day is too short, or what is so once a day would be told every day. */
const FORGOTTEN_MS = 36 * 3_600_000

/** A matter that stands: what is so, and when it was last seen. */
type Standing = { readonly what: string; readonly seen: number }

export type Told = {
  /** Somebody else has been told nothing yet. */
  readonly target: string
  readonly matters: Readonly<Record<string, Standing>>
}

export interface News {
  /** Null: nothing worth a message. */
  readonly kind: 'alert' | 'notice' | null
  /** Those that are new. */
  readonly alerts: readonly Note[]
  readonly notes: readonly Note[]
  /** There was something to be alarmed about, and there is no more. */
  readonly recovered: boolean
  readonly told: Told
}

interface Matter {
  readonly about: string
  readonly what: string
}

/** `alerts`: all there is to be alarmed about now. */
export function newsOf(
  told: Told,
  { result, notes }: { readonly result: CycleResult; readonly notes: readonly Note[] },
  alerts: readonly Note[],
  now: number,
): News {
  const matters = [...troublesOf(result), ...notes.map(asNote), ...alerts.map(asAlert)]
  const over = overWith(result, alerts)
  const kept = Object.entries(told.matters).filter(([about, { seen }]) => now - seen < FORGOTTEN_MS && !over(about))
  const standing = new Map(kept)
  const isNew = ({ about, what }: Matter): boolean => standing.get(about)?.what !== what
  const fresh = matters.filter(isNew)
  for (const { about, what } of matters) standing.set(about, { what, seen: now })
  const recovered = alerts.length === 0 && Object.keys(told.matters).some((about) => about.startsWith(ALERT))
  const freshAlerts = alerts.filter((alert) => fresh.some(({ about }) => about === asAlert(alert).about))
  const worth = fresh.length > 0 || recovered || result.agents.some(({ status }) => status === 'done')
  return {
    kind: freshAlerts.length > 0 ? 'alert' : worth ? 'notice' : null,
    alerts: freshAlerts,
    notes: notes.filter(
      (note) =>
        fresh.some(({ about }) => about === asNote(note).about) && !alerts.some(({ about }) => about === note.about),
    ),
    recovered,
    told: { target: told.target, matters: Object.fromEntries(standing) },
  }
}

const ALERT = 'alert '
const AGENT = 'agent '
const CYCLE = 'cycle'

const asAlert = ({ about }: Note): Matter => ({ about: `${ALERT}${about}`, what: '' })
const asNote = ({ about }: Note): Matter => ({ about: `note ${about}`, what: '' })

/** Not in the words of an error: those differ from one time to the next. */
function troublesOf({ agents, error }: CycleResult): readonly Matter[] {
  const troubled = agents.filter((agent) => isFailure(agent) || agent.status === 'waiting')
  const plain = error?.replaceAll(/\d+/g, '0') ?? ''
  return [
    ...troubled.map((agent) => ({ about: `${AGENT}${agent.agent_id}`, what: whatOf(agent) })),
    ...(error === null ? [] : [{ about: CYCLE, what: plain }]),
  ]
}

/** What waits for a person is another matter each time. */
const whatOf = ({ status, failure_class, dispatch_id }: AgentResult): string =>
  status === 'waiting' ? `waiting ${dispatch_id}` : `${status} ${failure_class}`

function overWith({ agents, error }: CycleResult, alerts: readonly Note[]): (about: string) => boolean {
  const well = new Set(agents.filter(({ status }) => status === 'done').map(({ agent_id }) => `${AGENT}${agent_id}`))
  const alarming = new Set(alerts.map((alert) => asAlert(alert).about))
  return (about) =>
    well.has(about) || (about === CYCLE && error === null) || (about.startsWith(ALERT) && !alarming.has(about))
}
