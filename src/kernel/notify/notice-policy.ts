/**
 * Notice policy: what is worth a message after a cycle, given what was reported before.
 * Must not know: recipient, channel, time, wording.
 * Invariants: pure; the same issue is reported once until it changes or ends; a recovery is reported once.
 */

import { type AgentResult, type CycleResult, isFailure } from '../../domain/cycle.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'

/** An issue not seen for this long is over. More than a day, so that a daily issue is not reported every day. */
const EXPIRES_MS = 36 * 3_600_000

/** An issue that was reported: `what` is its state, `seen` the instant when it was last seen. */
type ReportedIssue = { readonly what: string; readonly seen: number }

export type ReportedIssues = {
  /** The recipient that was told. For another recipient all issues are new. */
  readonly target: string
  readonly matters: Readonly<Record<string, ReportedIssue>>
}

export interface CycleNews {
  /** The kind of message to send; null: the cycle is not worth a message. */
  readonly kind: 'alert' | 'notice' | null
  /** The alerts that were not reported before. */
  readonly alerts: readonly OwnerNote[]
  readonly notes: readonly OwnerNote[]
  /** True: there were alerts before, and there are none now. */
  readonly recovered: boolean
  readonly told: ReportedIssues
}

interface Issue {
  readonly about: string
  readonly what: string
}

interface CycleToTell {
  readonly result: CycleResult
  readonly notes: readonly OwnerNote[]
  /** Sessions that wait for something of which the owner gets a message apart from that of the cycle. */
  readonly toldApart?: ReadonlySet<string>
}

/** Selects what to report after a cycle. `told`: what was reported before; `alerts`: all current alerts. */
export function selectNews(
  told: ReportedIssues,
  { result, notes, toldApart = new Set() }: CycleToTell,
  alerts: readonly OwnerNote[],
  now: number,
): CycleNews {
  const issues = [...issuesOf(result, toldApart), ...notes.map(noteIssue), ...alerts.map(alertIssue)]
  const isOver = endedIssues(result, alerts)
  const kept = Object.entries(told.matters).filter(([about, { seen }]) => now - seen < EXPIRES_MS && !isOver(about))
  const reported = new Map(kept)
  const isNew = ({ about, what }: Issue): boolean => reported.get(about)?.what !== what
  const newIssues = issues.filter(isNew)
  for (const { about, what } of issues) reported.set(about, { what, seen: now })
  const recovered = alerts.length === 0 && Object.keys(told.matters).some((about) => about.startsWith(ALERT))
  const newAlerts = alerts.filter((alert) => newIssues.some(({ about }) => about === alertIssue(alert).about))
  const isWorthMessage = newIssues.length > 0 || recovered || result.agents.some(({ status }) => status === 'done')
  return {
    kind: newAlerts.length > 0 ? 'alert' : isWorthMessage ? 'notice' : null,
    alerts: newAlerts,
    notes: notes.filter(
      (note) =>
        newIssues.some(({ about }) => about === noteIssue(note).about) &&
        !alerts.some(({ about }) => about === note.about),
    ),
    recovered,
    told: { target: told.target, matters: Object.fromEntries(reported) },
  }
}

const ALERT = 'alert '
const AGENT = 'agent '
const CYCLE = 'cycle'

const alertIssue = ({ about }: OwnerNote): Issue => ({ about: `${ALERT}${about}`, what: '' })
const noteIssue = ({ about }: OwnerNote): Issue => ({ about: `note ${about}`, what: '' })

/** The issues of a cycle. Numbers in errors are replaced, because the same error has other numbers each time. */
function issuesOf({ agents, error }: CycleResult, toldApart: ReadonlySet<string>): readonly Issue[] {
  const affected = agents.filter(
    (agent) => isFailure(agent) || (agent.status === 'waiting' && !toldApart.has(agent.session_id)),
  )
  const withoutNumbers = error?.replaceAll(/\d+/g, '0') ?? ''
  return [
    ...affected.map((agent) => ({ about: `${AGENT}${agent.agent_id}`, what: stateOf(agent) })),
    ...(error === null ? [] : [{ about: CYCLE, what: withoutNumbers }]),
  ]
}

/** The state of an agent's issue. It contains the dispatch if that waits, so that each waiting dispatch is reported. */
const stateOf = ({ status, failure_class, dispatch_id }: AgentResult): string =>
  status === 'waiting' ? `waiting ${dispatch_id}` : `${status} ${failure_class}`

function endedIssues({ agents, error }: CycleResult, alerts: readonly OwnerNote[]): (about: string) => boolean {
  const well = new Set(agents.filter(({ status }) => status === 'done').map(({ agent_id }) => `${AGENT}${agent_id}`))
  const alarming = new Set(alerts.map((alert) => alertIssue(alert).about))
  return (about) =>
    well.has(about) || (about === CYCLE && error === null) || (about.startsWith(ALERT) && !alarming.has(about))
}
