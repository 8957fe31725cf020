/**
 * CHECK_STOP: what the engine rules, given what the mind wants and what the critics say. Pure.
 * Precedence: final > agent_condition > budgets (Q13); a critic may overrule a final.
 */

import type { Decision, Next, Verdict } from '../domain/decision.ts'

/** Answers in a row that decide nothing usable before the run is given up. */
export const MAX_INVALID = 3
/** A wait without a deadline of its own ends after this long, with an observation that says so: nothing waits for ever. */
export const LONGEST_WAIT_MS = 24 * 3_600_000

export interface Standing {
  readonly decision: Decision
  readonly verdict: Verdict
  /** The behaviour's own condition. */
  readonly shouldStop: boolean
  /** Steps of this run, this one included. */
  readonly steps: number
  readonly maxSteps: number | null
  /** Invalid steps in a row before this one. */
  readonly invalid: number
  readonly now: number
}

export function checkStop({ decision, verdict, shouldStop, steps, maxSteps, invalid, now }: Standing): Next {
  if (verdict.kind === 'stop') return { kind: 'end', stop_reason: 'critic_stop', error: verdict.reason }
  if (decision.kind === 'final' && verdict.kind === 'continue')
    return { kind: 'end', stop_reason: 'final', answer: decision.answer }
  if (shouldStop) return { kind: 'end', stop_reason: 'agent_condition' }
  if (decision.kind === 'invalid' && invalid + 1 >= MAX_INVALID)
    return {
      kind: 'end',
      stop_reason: 'unrecoverable_error',
      failure_class: 'invalid_result',
      error: `${invalid + 1} answers in a row could not be used; the last: ${decision.feedback}`,
    }
  if (maxSteps !== null && steps >= maxSteps)
    return {
      kind: 'end',
      stop_reason: 'budget_steps',
      error: `the run used up its ${maxSteps} steps (budget.per_dispatch_calls)`,
    }
  if (decision.kind === 'wait' && verdict.kind === 'continue')
    return {
      kind: 'park',
      wait: {
        kind: 'observation',
        match: decision.match,
        until: decision.until ?? now + LONGEST_WAIT_MS,
        reason: decision.reason,
      },
    }
  if (verdict.kind === 'retry') return { kind: 'continue', feedback: verdict.instruction }
  return decision.kind === 'invalid'
    ? { kind: 'continue', feedback: decision.feedback, invalid: true }
    : { kind: 'continue' }
}
