/**
 * Stagnation backoff: an agent whose runs end with the same outcome again and again is dispatched less often, and its
 * owner gets a note.
 * Must not know: which planner calls it.
 */

import { hash } from 'node:crypto'
import { type Dispatch, isTerminal } from '../../../domain/dispatch.ts'
import type { OwnerNote } from '../../../domain/owner-note.ts'
import { extractSummary } from '../../autonomy/run-summary.ts'
import type { AgentCandidate, PlanningContext } from './planner.ts'

/** This many equal outcomes in a row start the backoff. */
const SAME_BEFORE_BACKOFF = 3
/** Maximum pause in beats, after failures and successes; shorter after successes, because new input may matter. */
const MAX_BEATS = { failed: 32, done: 4 }

/** A cancelled dispatch has no outcome. */
const hasOutcome = ({ status }: Dispatch): boolean => isTerminal(status) && status !== 'cancelled'

/** How many dispatches in a row, from the newest on, have the same outcome and satisfy `counts`. */
function sameInARow(recent: readonly Dispatch[], counts: (dispatch: Dispatch) => boolean = () => true): number {
  const finished = recent.filter(hasOutcome)
  const [first] = finished
  if (!first) return 0
  const differs = finished.findIndex((dispatch) => outcomeOf(dispatch) !== outcomeOf(first) || !counts(dispatch))
  return differs < 0 ? finished.length : differs
}

/**
 * The length of the row of equal outcomes since the last change: the row ends at a dispatch with another fingerprint,
 * or one that no cycle sent (because a message arrived).
 */
const sameWithoutChange = ({ recent, fingerprint }: AgentCandidate): number =>
  sameInARow(recent, ({ cycle_id, metadata }) => cycle_id !== null && metadata.sight === fingerprint)

function outcomeOf({ status, failure_class, result, error }: Dispatch): string {
  const summary = extractSummary(result ?? error ?? '').replaceAll(/\s+/g, ' ')
  // Outcomes that differ only in numbers or times are the same.
  return JSON.stringify([status, failure_class, summary.replaceAll(/\d+/g, '0').trim()])
}

/** Number of beats to pause: 0 until the third equal outcome, then 1, 2, 4 … up to the maximum. */
function pauseInBeats(candidate: AgentCandidate): number {
  const same = sameWithoutChange(candidate)
  const maximum = candidate.recent[0]?.status === 'done' ? MAX_BEATS.done : MAX_BEATS.failed
  return same < SAME_BEFORE_BACKOFF ? 0 : Math.min(2 ** (same - SAME_BEFORE_BACKOFF), maximum)
}

/** The instant at which the pause ends; 0: no pause. `beatMs`: time between two beats. */
function pausedUntil(candidate: AgentCandidate, beatMs: number): number {
  const [last] = candidate.recent
  const pause = pauseInBeats(candidate)
  // The half beat tolerates beats that were a little late.
  return last !== undefined && pause > 0 ? Date.parse(last.created_at) + (pause + 0.5) * beatMs : 0
}

/** Whether the agent is still paused. Cycles requested by a person, or due by the agent's schedule, ignore it. */
export const isBackingOff = (candidate: AgentCandidate, { at, isManual: isByHand, rhythm }: PlanningContext): boolean =>
  !isByHand && !candidate.due && at < pausedUntil(candidate, rhythm.beatMs)

/** Describes why each agent is paused, until when, and what ends the pause sooner. */
export function describeBackoff(paused: readonly AgentCandidate[], { rhythm }: PlanningContext): string {
  return paused
    .map((candidate) => {
      const next = rhythm.nextBeat(pausedUntil(candidate, rhythm.beatMs))
      const { agent_id, watch } = candidate.agent
      const inputs = ['GOAL.md', 'STATE.md', 'its own files', ...(watch.length > 0 ? ['a watched path'] : [])]
      const retry = next === undefined ? 'paused until' : `paused until ${next}, or until`
      const same = sameWithoutChange(candidate)
      return (
        `${agent_id}: same outcome ${same} times in a row; ` +
        `${retry} ${joinWithOr(inputs)} changes or a message arrives; run now: tireless once`
      )
    })
    .join('; ')
}

const joinWithOr = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

/** A note if the agent's outcomes repeat. Its key contains the outcome, so each repeated outcome is reported. */
export function stagnationNote(candidate: AgentCandidate, slower: boolean): OwnerNote | undefined {
  const { agent, recent } = candidate
  const same = sameInARow(recent)
  const last = recent.find(hasOutcome)
  if (!last || same < SAME_BEFORE_BACKOFF) return undefined
  const pause = slower ? pauseInBeats(candidate) : 0
  const pauseText = pause > 0 ? `; it now pauses ${pause} beat${pause === 1 ? '' : 's'} between runs` : ''
  const pauseTextZh = pause > 0 ? `；现在每次之间停 ${pause} 次心跳` : ''
  return {
    about: `motion ${agent.agent_id} ${hash('sha256', outcomeOf(last)).slice(0, 12)}`,
    text: `${agent.agent_id} had the same result ${same} times in a row${pauseText}`,
    zh: `${agent.agent_id} 连续 ${same} 次得到相同的结果${pauseTextZh}`,
  }
}
