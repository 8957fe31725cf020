/**
 * Progress rather than motion: an agent whose work comes to the same again and again is asked less often, and its owner hears of it.
 * Must not know: who asks.
 */

import { hash } from 'node:crypto'
import { type Dispatch, isTerminal } from '../../domain/dispatch.ts'
import type { Note } from '../../domain/note.ts'
import { summaryOf } from '../summary.ts'
import type { Candidate, Occasion } from './planner.ts'

/** So often the same, and it is motion. */
const SAME_BEFORE_REST = 3
/** Beats of rest at most: after failures, and after successes, because there what is new may matter. */
const MOST_BEATS = { failed: 32, done: 4 }

/** What was called off has come to nothing. */
const isOver = ({ status }: Dispatch): boolean => isTerminal(status) && status !== 'cancelled'

/** How many of its dispatches, from the newest on, came to the same. */
function sameInARow(recent: readonly Dispatch[], counts: (dispatch: Dispatch) => boolean = () => true): number {
  const over = recent.filter(isOver)
  const [first] = over
  if (!first) return 0
  const differs = over.findIndex((dispatch) => outcomeOf(dispatch) !== outcomeOf(first) || !counts(dispatch))
  return differs < 0 ? over.length : differs
}

/** Only those that saw what there is to be seen now, and none before a word from outside: that makes a dispatch which no cycle has sent. */
const sameWithSameSight = ({ recent, sight }: Candidate): number =>
  sameInARow(recent, ({ cycle_id, metadata }) => cycle_id !== null && metadata.sight === sight)

function outcomeOf({ status, failure_class, result, error }: Dispatch): string {
  const said = summaryOf(result ?? error ?? '').replaceAll(/\s+/g, ' ')
  // Counts and instants alone are no news.
  return JSON.stringify([status, failure_class, said.replaceAll(/\d+/g, '0').trim()])
}

/** Beats that it rests after so many of the same: none, then 1, 2, 4 … */
function beatsOfRest(candidate: Candidate): number {
  const same = sameWithSameSight(candidate)
  const most = candidate.recent[0]?.status === 'done' ? MOST_BEATS.done : MOST_BEATS.failed
  return same < SAME_BEFORE_REST ? 0 : Math.min(2 ** (same - SAME_BEFORE_REST), most)
}

/** Until when; beats are counted by the time between them. */
function restsUntil(candidate: Candidate, beatMs: number): number {
  const [last] = candidate.recent
  const rest = beatsOfRest(candidate)
  // A beat and a half later is the second beat, whoever was a little late.
  return last !== undefined && rest > 0 ? Date.parse(last.created_at) + (rest + 0.5) * beatMs : 0
}

/** Whether it still rests. Who is asked for by hand does not. */
export const backsOff = (candidate: Candidate, { at, isByHand, rhythm }: Occasion): boolean =>
  !isByHand && !candidate.due && at < restsUntil(candidate, rhythm.beatMs)

/** In words, why each of those rests, until when, and what ends that sooner. */
export function whyBackingOff(resting: readonly Candidate[], { rhythm }: Occasion): string {
  return resting
    .map((candidate) => {
      const next = rhythm.nextBeat(restsUntil(candidate, rhythm.beatMs))
      const { agent_id, watch } = candidate.agent
      const seen = ['GOAL.md', 'STATE.md', 'its own files', ...(watch.length > 0 ? ['what it watches'] : [])]
      const look = next === undefined ? 'no later beat; it is asked again' : `next look at ${next}, or`
      const same = sameWithSameSight(candidate)
      return `${agent_id}: the same outcome ${same} cycles running; ${look} when ${either(seen)} changes or a message comes; at once: tireless once`
    })
    .join('; ')
}

const either = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

/** About what it came to: when that changes and stays the same again, that is another matter. */
export function motionNote(candidate: Candidate, slower: boolean): Note | undefined {
  const { agent, recent } = candidate
  const same = sameInARow(recent)
  const last = recent.find(isOver)
  if (!last || same < SAME_BEFORE_REST) return undefined
  const rest = slower ? beatsOfRest(candidate) : 0
  const pace = rest > 0 ? `; it now rests ${rest} beat${rest === 1 ? '' : 's'} in between` : ''
  const paceZh = rest > 0 ? `；现在每次之间停 ${rest} 次心跳` : ''
  return {
    about: `motion ${agent.agent_id} ${hash('sha256', outcomeOf(last)).slice(0, 12)}`,
    text: `${agent.agent_id} came to the same result ${same} times in a row${pace}`,
    zh: `${agent.agent_id} 连续 ${same} 次得到相同的结果${paceZh}`,
  }
}
