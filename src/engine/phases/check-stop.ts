/**
 * CHECK_STOP: decides from the model's decision, the verdicts and the budgets whether the run continues, parks or ends.
 * Precedence of stop reasons: final > agent_condition > env_terminal > stop_rule > interruptions, budgets and
 * stagnation (Q13).
 * Critics come first: a critic can end the run or reject a final answer.
 */

import { clipText } from '../../domain/clean-summary.ts'
import type { Decision, Next, Verdict } from '../../domain/decision.ts'
import { sayDuration } from '../../domain/duration.ts'
import type { Json } from '../../domain/json.ts'
import { AGENT_RESULT } from '../../domain/sub-agent.ts'
import type { Budget } from '../../domain/task.ts'
import type { WaitMatch } from '../../domain/wait.ts'
import type { CompletedStep } from '../../ports/behaviour.ts'
import type { StopQuestion } from '../../ports/stop-rule.ts'
import { fenceUntrusted, nonceOf } from '../../prompt-compiler/data-fence.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { interruptionReason } from '../abort-reason.ts'
import { askPlugin } from '../plugins/ask-plugin.ts'
import { shouldStopPort } from '../plugins/return-shapes.ts'
import { findAnswerMismatch } from '../request/answer-schema.ts'
import type { Run } from '../run.ts'
import { isUnmet } from '../session/expected-results.ts'
import { countStepsWithoutNews, hasBlockedCall } from '../session/repetition-guard.ts'
import type { SessionThread } from '../session/session-thread.ts'
import type { RunUsage } from '../session/usage.ts'
import { committedUsd } from '../session/usage.ts'
import { afterBehaviour, MAX_WAIT_MS } from './after-behaviour.ts'
import { type CriticVerdict, decisiveVerdict } from './critic.ts'
import { endByEnv, endByRule } from './end-by-plugin.ts'
import { copyState } from './reduce.ts'

/** How often in a row critics may request a retry of the step. Attempts have a separate limit. */
const MAX_RETRIES = 3
/** Maximum number of steps in a row with a call that was blocked as a repetition. */
const MAX_BLOCKED_STEPS = 3
/** Maximum number of steps in a row whose calls return nothing new. */
const MAX_STEPS_WITHOUT_NEWS = 12
/** Maximum characters of an answer or a result that an error quotes. */
const MAX_QUOTED = 300

type End = Extract<Next, { kind: 'end' }>

interface StopInput {
  /** Undefined if the step ended without a decision. */
  readonly decision: Decision | undefined
  readonly verdicts: readonly CriticVerdict[]
  readonly state: Json
  readonly step: CompletedStep
  /** Start of the step on the monotonic clock. */
  readonly began: number
}

export async function checkStop(run: Run, { decision, verdicts, state, step, began }: StopInput): Promise<Next> {
  const { thread, behaviour, overrides: wishes } = run
  const { critic, verdict } = decisiveVerdict(verdicts)
  if (verdict.kind === 'stop') return endByCritic(verdict)
  if (verdict.kind === 'retry' && !verdict.attempt && thread.retries + 1 > MAX_RETRIES) {
    const error = `critics requested ${MAX_RETRIES} retries in a row; the last one: ${verdict.instruction}`
    return { kind: 'end', stop_reason: 'critic_stop', error }
  }
  // The run does not end while an approval is open, even if the model wants to finish.
  if (decision?.kind === 'final' && verdict.kind === 'continue') {
    // Without a step left, the run can neither answer again nor wait for its sub-agents.
    const hasStepLeft = endByBudget(usageAfterStep(run, began, 1), wishes.budget) === undefined
    const next = rejectWrongAnswer(run, rejectUnmetAnswer(run, afterFinish(run, state, decision)), hasStepLeft)
    return parkForApproval(thread) ?? (hasStepLeft ? keepOpenAgents(thread, next) : next)
  }
  const { shouldStop } = behaviour
  if (shouldStop && askPlugin(shouldStopPort(behaviour.name), () => shouldStop.call(behaviour, copyState(state))))
    return behaviour.next
      ? (parkForApproval(thread, 'any') ?? afterBehaviour(run, state, { why: 'finished', answer: '' }))
      : { kind: 'end', stop_reason: 'agent_condition' }
  const used = usageAfterStep(run, began, 1)
  const told = (await endByEnv(run, state)) ?? (await endByRule(run, () => stopQuestion(run, state, step, used)))
  if (told) return told
  const waits = decision?.kind === 'wait' && verdict.kind === 'continue' && hasStartedWait(thread, decision)
  const isPointless = waits && decision.match === `event:${AGENT_RESULT}` && thread.agents.size === 0
  const usage = waits && !isPointless ? { ...used, steps: used.steps - 1 } : used
  const stopped = endByInterruption(run) ?? endByBudget(usage, wishes.budget)
  if (stopped) return stopped
  const stuck = endByStagnation(thread)
  // A run that repeats calls while an approval is open waits for the answer instead of ending.
  if (stuck) return parkForApproval(thread) ?? stuck
  if (verdict.kind === 'retry') return retryStep(critic, verdict, thread)
  if (!waits) return afterStep(run, state)
  if (isPointless) return { kind: 'continue', feedback: loadPrompt('results/agents.md#none_open') }
  const { match, reason, until = (thread.open?.answeredAt ?? 0) + MAX_WAIT_MS } = decision
  return { kind: 'park', wait: { kind: 'observation', match, until, reason } }
}

function stopQuestion(run: Run, state: Json, step: CompletedStep, used: RunUsage): StopQuestion {
  const { dispatch_id: run_id, session_id, agent_id } = run.dispatch
  return {
    run_id,
    session_id,
    agent_id,
    behaviour: run.behaviour.name,
    state: copyState(state),
    step,
    used: { ...used },
  }
}

/** What follows when the model finishes the behaviour. */
function afterFinish(run: Run, state: Json, { answer, next }: Extract<Decision, { kind: 'final' }>): Next {
  return afterBehaviour(run, state, { why: 'finished', answer, ...(next === undefined ? {} : { wanted: next }) })
}

/** A run does not end unnoticed while its sub-agents work: it is told once, and then its end cancels them. */
function keepOpenAgents({ agents, isToldOfAgents }: SessionThread, next: Next): Next {
  if (next.kind !== 'end' || agents.size === 0 || isToldOfAgents) return next
  const list = [...agents.values()].map(({ run, agent, todo }) => `${agent} (run ${run}${todo ? `, ${todo}` : ''})`)
  const feedback = loadPrompt('results/agents.md#still_open', { agents: list.join(', ') })
  return { kind: 'continue', agents: true, feedback }
}

/** The run continues, unless the behaviour has reached its step limit. */
function afterStep(run: Run, state: Json): Next {
  const { behaviour, thread } = run
  const isOver = behaviour.stepLimit !== undefined && thread.work.behaviourSteps + 1 >= behaviour.stepLimit
  if (!isOver) return { kind: 'continue' }
  return parkForApproval(thread) ?? afterBehaviour(run, state, { why: 'step_limit', answer: '' })
}

/** Parks the run while approvals are open. An answer, what `match` names, or the deadline wakes it. */
function parkForApproval(
  { openApprovals: unanswered, open }: SessionThread,
  match: WaitMatch = 'user_message',
): Next | undefined {
  if (unanswered.size === 0) return undefined
  const tools = [...new Set(unanswered.values())].join(', ')
  const [first = ''] = unanswered.keys()
  const more =
    unanswered.size === 1 ? `. Run: tireless approvals allow ${first} (or deny)` : '. Run: tireless approvals list'
  const reason = `${tools} needs approval${more}`
  const until = (open?.answeredAt ?? 0) + MAX_WAIT_MS
  return { kind: 'park', wait: { kind: 'observation', match, until, reason } }
}

/**
 * An answer is no end while a result that the task needs is missing: one reminder, then the run has failed. Where there
 * are todos, their checks decide instead.
 */
function rejectUnmetAnswer({ thread, behaviour }: Run, next: Next): Next {
  const { expected, work } = thread
  const isAnswer = next.kind === 'end' && next.stop_reason === 'final' && work.todos.length === 0
  if (!isAnswer || !expected || !isUnmet(expected)) return next
  const { missing, failed, isReminded } = expected
  const files = [...missing].join(', ')
  if (!isReminded) {
    const feedback = failed
      ? loadPrompt('retries/unmet-answer.md#failed_call', { call: failed.what })
      : (behaviour.access ?? 'write') === 'write'
        ? loadPrompt('retries/unmet-answer.md#missing_file', { files })
        : loadPrompt('retries/unmet-answer.md#missing_todo', { files })
    return { kind: 'continue', retry: true, feedback }
  }
  const why =
    missing.size > 0
      ? `the task tells to write ${files}, but no call of the run wrote it`
      : `the last call failed (${failed?.what}: ${quote(failed?.why ?? '')}), and none after it succeeded`
  const error = `${why}. The answer was: ${quote(next.answer ?? '')}`
  return { kind: 'end', stop_reason: 'critic_stop', error }
}

/** An answer is no end if it does not match its schema: the model reads why, and answers again. */
function rejectWrongAnswer({ overrides, thread }: Run, next: Next, hasStepLeft: boolean): Next {
  if (next.kind !== 'end' || next.stop_reason !== 'final' || !overrides.answerSchema) return next
  const why = findAnswerMismatch(overrides.answerSchema, next.answer ?? '')
  if (why === undefined) return next
  if (hasStepLeft && thread.retries < MAX_RETRIES)
    return { kind: 'continue', retry: true, feedback: loadPrompt('retries/wrong-answer.md#mismatch', { why }) }
  const error = `the answer does not match its schema: ${why}. The answer was: ${quote(next.answer ?? '')}`
  return { kind: 'end', stop_reason: 'critic_stop', failure_class: 'invalid_result', error }
}

const quote = (text: string): string => clipText(text.replaceAll(/\s+/g, ' ').trim(), MAX_QUOTED)

/** Whether the wait has started: the call that starts it (`via`) succeeded, or there is no such call. */
function hasStartedWait({ open }: SessionThread, { via }: Extract<Decision, { kind: 'wait' }>): boolean {
  return via === undefined || open?.settled.get(0)?.status === 'ok'
}

function endByCritic({ reason, failure_class }: Extract<Verdict, { kind: 'stop' }>): End {
  const failureClass = failure_class === undefined ? {} : { failure_class }
  return { kind: 'end', stop_reason: 'critic_stop', error: reason, ...failureClass }
}

/**
 * The delay of another attempt counts from the recorded time of the model's answer, so that a replay parks until the
 * same instant.
 */
function retryStep(critic: string, verdict: Extract<Verdict, { kind: 'retry' }>, { turn, open }: SessionThread): Next {
  const { instruction, attempt, label } = verdict
  const answeredAt = open?.answeredAt ?? 0
  const fence = (text: string): string => fenceUntrusted('critic', text, nonceOf(answeredAt, turn, text))
  const feedback =
    label?.trust === 'untrusted'
      ? loadPrompt('retries/critic.md', { critic, instruction: fence(instruction) })
      : instruction
  if (!attempt) return { kind: 'continue', feedback, retry: true }
  const until = answeredAt + Math.ceil(attempt.after_ms)
  return { kind: 'park', wait: { kind: 'retry', until, reason: 'another attempt' }, feedback }
}

/**
 * For a failed step after which the run would continue: ends the run if it was interrupted or its budget is used up.
 */
export function checkLimits(run: Run, began: number): End | undefined {
  return endByInterruption(run) ?? endByBudget(usageAfterStep(run, began, 1), run.overrides.budget)
}

/**
 * Ends a run that was cancelled or has no time left. If the program is stopping, the run does not end; it is released
 * after the step.
 */
function endByInterruption({ signal, overrides: wishes }: Run): End | undefined {
  const why = interruptionReason(signal)
  if (why === 'cancelled') return { kind: 'end', stop_reason: 'cancelled' }
  return why === 'time' ? timeLimitEnd(wishes.budget) : undefined
}

export function timeLimitEnd({ ms }: Budget): End {
  const error = `the run exceeded its time limit of ${sayDuration(ms ?? 0)}`
  return { kind: 'end', stop_reason: 'budget_time', error }
}

function endByStagnation(thread: SessionThread): End | undefined {
  const { blockedSteps: stuck, open } = thread
  if (!open) return undefined
  if (countStepsWithoutNews(thread, open) >= MAX_STEPS_WITHOUT_NEWS) {
    const error = `${MAX_STEPS_WITHOUT_NEWS} steps in a row returned nothing new`
    return { kind: 'end', stop_reason: 'stagnation', error }
  }
  if (!hasBlockedCall(open) || stuck + 1 < MAX_BLOCKED_STEPS) return undefined
  return {
    kind: 'end',
    stop_reason: 'stagnation',
    error: `${MAX_BLOCKED_STEPS} steps in a row repeated blocked calls`,
  }
}

/** The run's usage including the current step. `more`: 0 for a wait, which does not count as a step. */
function usageAfterStep({ thread, engine }: Run, began: number, more: 0 | 1): RunUsage {
  const { steps, ms } = thread.usage
  const usd = committedUsd(thread)
  return { ...thread.usage, usd, steps: steps + more, ms: ms + engine.clock.monotonic() - began }
}

function endByBudget(used: RunUsage, budget: Budget): End | undefined {
  const { steps, ms, tokens, usd } = budget
  if (steps !== null && used.steps >= steps)
    return endWith('budget_steps', `the run reached its limit of ${steps} steps (budget.per_dispatch_calls)`)
  if (ms !== null && used.ms >= ms) return timeLimitEnd(budget)
  if (tokens !== null && used.tokens >= tokens)
    return endWith('budget_tokens', `the run used ${used.tokens} tokens; its limit is ${tokens}`)
  if (usd !== null && used.usd >= usd)
    return endWith('budget_money', `the run spent ${used.usd} USD; its limit is ${usd} USD`)
  return undefined
}

const endWith = (stop_reason: End['stop_reason'], error: string): End => ({ kind: 'end', stop_reason, error })
