/**
 * Progress rather than motion: an agent whose work comes to the same again and again is asked less often, and its owner hears of it.
 * Must not know: who asks.
 */

import { hash } from 'node:crypto'
import { type Dispatch, isTerminal } from '../../domain/dispatch.ts'
import type { Note } from '../../domain/note.ts'
import { summaryOf } from '../summary.ts'
import type { Candidate } from './planner.ts'

/** So often the same, and it is motion. */
const SAME_BEFORE_REST = 3
/** Beats of rest at most: after failures, and after successes, because there what is new may matter. */
const MOST_BEATS = { failed: 32, done: 4 }

/** How many of its dispatches, from the newest on, came to the same. */
function sameInARow(recent: readonly Dispatch[]): number {
  const over = recent.filter(({ status }) => isTerminal(status))
  const [first] = over
  if (!first) return 0
  const differs = over.findIndex((dispatch) => outcomeOf(dispatch) !== outcomeOf(first))
  return differs < 0 ? over.length : differs
}

function outcomeOf({ status, failure_class, result, error }: Dispatch): string {
  const said = summaryOf(result ?? error ?? '').replaceAll(/\s+/g, ' ')
  // Counts and instants alone are no news.
  return JSON.stringify([status, failure_class, said.replaceAll(/\d+/g, '0').trim()])
}

/** Beats that it rests after so many of the same: none, then 1, 2, 4 … */
function beatsOfRest(recent: readonly Dispatch[]): number {
  const same = sameInARow(recent)
  const most = recent[0]?.status === 'done' ? MOST_BEATS.done : MOST_BEATS.failed
  return same < SAME_BEFORE_REST ? 0 : Math.min(2 ** (same - SAME_BEFORE_REST), most)
}

/** Whether it still rests. Beats are counted by the time between them. */
export function backsOff({ recent }: Candidate, at: number, beatMs: number): boolean {
  const [last] = recent
  const rest = beatsOfRest(recent)
  // A beat and a half later is the second beat, whoever was a little late.
  return last !== undefined && rest > 0 && at < Date.parse(last.created_at) + (rest + 0.5) * beatMs
}

/** About what it came to: when that changes and stays the same again, that is another matter. */
export function motionNote({ agent, recent }: Candidate, slower: boolean): Note | undefined {
  const same = sameInARow(recent)
  const last = recent.find(({ status }) => isTerminal(status))
  if (!last || same < SAME_BEFORE_REST) return undefined
  const rest = beatsOfRest(recent)
  const pace = slower ? `; it now rests ${rest} beat${rest === 1 ? '' : 's'} in between` : ''
  const paceZh = slower ? `；现在每次之间停 ${rest} 次心跳` : ''
  return {
    about: `motion ${agent.agent_id} ${hash('sha256', outcomeOf(last)).slice(0, 12)}`,
    text: `${agent.agent_id} came to the same result ${same} times in a row${pace}`,
    zh: `${agent.agent_id} 连续 ${same} 次得到相同的结果${paceZh}`,
  }
}
