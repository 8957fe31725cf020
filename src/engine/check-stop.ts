/**
 * CHECK_STOP: what the engine rules, given what the mind wants and what the critics say.
 * Precedence: final > agent_condition > env_terminal > criteria and budgets (Q13); a critic may overrule a final.
 */

import type { Decision, Next, Verdict } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { Budget } from '../domain/task.ts'
import { askPlugin } from './ask-plugin.ts'
import { type Judged, verdictOf } from './critic.ts'
import { whyInterrupted } from './interruption.ts'
import { ownCopy } from './reduce.ts'
import { barrenAfter, wasHeldBack } from './repeats.ts'
import { isTerminalPort, shouldStopPort } from './return-shapes.ts'
import type { Run } from './run.ts'
import type { Spent } from './spent.ts'
import type { Thread } from './thread.ts'

/** A wait without a deadline of its own ends after this long, with an observation that says so: nothing waits for ever. */
const LONGEST_WAIT_MS = 24 * 3_600_000
/** Times in a row that critics may ask for a step again; attempts have a limit of their own. */
const MAX_RETRIES = 3
/** Steps in a row with a call that was held back for leading nowhere. */
const MAX_STUCK = 3
/** Steps in a row without anything new. */
const MAX_BARREN = 12

type End = Extract<Next, { kind: 'end' }>

export interface Standing {
  /** Undefined: the step came to none. */
  readonly decision: Decision | undefined
  readonly verdicts: readonly Judged[]
  readonly state: Json
  /** Monotonic instant at which the step began. */
  readonly began: number
}

export function checkStop(run: Run, { decision, verdicts, state, began }: Standing): Next {
  const { thread, behaviour, env, wishes } = run
  const verdict = verdictOf(verdicts)
  if (verdict.kind === 'stop') return stoppedBy(verdict)
  if (verdict.kind === 'retry' && !verdict.attempt && thread.retries + 1 > MAX_RETRIES) {
    const error = `critics asked ${MAX_RETRIES} times in a row for the step again; the last: ${verdict.instruction}`
    return { kind: 'end', stop_reason: 'critic_stop', error }
  }
  // Whatever its mind says: what a person has been asked is answered first, in this run.
  if (decision?.kind === 'final' && verdict.kind === 'continue')
    return untilAnswered(thread) ?? { kind: 'end', stop_reason: 'final', answer: decision.answer }
  const { shouldStop } = behaviour
  if (shouldStop && askPlugin(shouldStopPort(behaviour.name), () => shouldStop.call(behaviour, ownCopy(state))))
    return { kind: 'end', stop_reason: 'agent_condition' }
  const { isTerminal } = env
  if (isTerminal && askPlugin(isTerminalPort, () => isTerminal.call(env, ownCopy(state))))
    return { kind: 'end', stop_reason: 'env_terminal' }
  const waits = decision?.kind === 'wait' && verdict.kind === 'continue' && beganWell(thread, decision)
  const used = usedBy(run, began, waits ? 0 : 1)
  const stopped = interruption(run) ?? overBudget(used, wishes.budget)
  if (stopped) return stopped
  const stuck = stagnation(thread)
  // Who goes on asking for what waits for its answer already has nothing else to do.
  if (stuck) return untilAnswered(thread) ?? stuck
  if (verdict.kind === 'retry') return again(verdict, thread.open?.answeredAt ?? 0)
  if (!waits) return { kind: 'continue' }
  const { match, reason, until = (thread.open?.answeredAt ?? 0) + LONGEST_WAIT_MS } = decision
  return { kind: 'park', wait: { kind: 'observation', match, until, reason } }
}

/** Parked, where somebody has yet to allow or deny a call. An answer wakes it, and so does the end of its time. */
function untilAnswered({ unanswered, open }: Thread): Next | undefined {
  if (unanswered.size === 0) return undefined
  const tools = [...new Set(unanswered.values())].join(', ')
  const [first = ''] = unanswered.keys()
  const more = unanswered.size === 1 ? `: tireless approvals allow ${first}, or deny` : ': tireless approvals list'
  const reason = `a person has to allow or deny ${tools}${more}`
  const until = (open?.answeredAt ?? 0) + LONGEST_WAIT_MS
  return { kind: 'park', wait: { kind: 'observation', match: 'user_message', until, reason } }
}

/** Nothing is waited for that could not be asked for. */
function beganWell({ open }: Thread, { via }: Extract<Decision, { kind: 'wait' }>): boolean {
  return via === undefined || open?.settled.get(0)?.status === 'ok'
}

function stoppedBy({ reason, failure_class }: Extract<Verdict, { kind: 'stop' }>): End {
  const named = failure_class === undefined ? {} : { failure_class }
  return { kind: 'end', stop_reason: 'critic_stop', error: reason, ...named }
}

/** From the answer on, which is in the journal: a replay rests as long as the run did. */
function again({ instruction: feedback, attempt }: Extract<Verdict, { kind: 'retry' }>, answeredAt: number): Next {
  if (!attempt) return { kind: 'continue', feedback, retry: true }
  const until = answeredAt + Math.ceil(attempt.after_ms)
  return { kind: 'park', wait: { kind: 'retry', until, reason: 'another attempt' }, feedback }
}

/** A step that failed and goes on all the same is still under its limits. */
export function afterFailure(run: Run, began: number): End | undefined {
  return interruption(run) ?? overBudget(usedBy(run, began, 1), run.wishes.budget)
}

/** A step that was interrupted is over; a program that stops gives the run back after it. */
function interruption({ signal, wishes }: Run): End | undefined {
  const why = whyInterrupted(signal)
  if (why === 'cancelled') return { kind: 'end', stop_reason: 'cancelled' }
  return why === 'time' ? timeIsUp(wishes.budget) : undefined
}

export function timeIsUp({ ms }: Budget): End {
  return { kind: 'end', stop_reason: 'budget_time', error: `the run used up its time (${ms} ms)` }
}

function stagnation(thread: Thread): End | undefined {
  const { stuck, open } = thread
  if (!open) return undefined
  if (barrenAfter(thread, open) >= MAX_BARREN) {
    const error = `${MAX_BARREN} steps in a row brought nothing that was not known before`
    return { kind: 'end', stop_reason: 'stagnation', error }
  }
  if (!wasHeldBack(open) || stuck + 1 < MAX_STUCK) return undefined
  return {
    kind: 'end',
    stop_reason: 'stagnation',
    error: `${MAX_STUCK} steps in a row repeated what had led nowhere`,
  }
}

/** To wait is no step. */
function usedBy({ thread, engine }: Run, began: number, more: 0 | 1): Spent {
  const { steps, ms } = thread.spent
  return { ...thread.spent, steps: steps + more, ms: ms + engine.clock.monotonic() - began }
}

function overBudget(used: Spent, budget: Budget): End | undefined {
  const { steps, ms, tokens, usd } = budget
  if (steps !== null && used.steps >= steps)
    return ended('budget_steps', `the run used up its ${steps} steps (budget.per_dispatch_calls)`)
  if (ms !== null && used.ms >= ms) return timeIsUp(budget)
  if (tokens !== null && used.tokens >= tokens)
    return ended('budget_tokens', `the run used ${used.tokens} tokens of ${tokens}`)
  if (usd !== null && used.usd >= usd) return ended('budget_money', `the run spent ${used.usd} USD of ${usd}`)
  return undefined
}

const ended = (stop_reason: End['stop_reason'], error: string): End => ({ kind: 'end', stop_reason, error })
