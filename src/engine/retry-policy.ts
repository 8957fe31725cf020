/**
 * The retry policy: decides what follows a failed step. Either the same turn is retried, the next turn starts with the
 * error as feedback for the model, or the run ends. docs/faults.md lists the result for every provider fault.
 * Must not know: failures of the store. They are rethrown.
 */

import { createHash } from 'node:crypto'
import type { Next } from '../domain/decision.ts'
import { asTirelessError, categoryOf, type ErrorCode, type TirelessError } from '../domain/error.ts'
import type { FailingPhase, RetryRuling } from '../domain/journal-record.ts'
import type { StopReason } from '../domain/stop-reason.ts'
import { interruptionReason } from './abort-reason.ts'
import { settleInterruptedCalls } from './calls/unknown-outcome.ts'
import { closeOpenTurn, commitStep, finishRun, parkRun, type RunEnd, releaseRun, type StepOutcome } from './commit.ts'
import { checkLimits, timeLimitEnd } from './phases/check-stop.ts'
import { bindTurn, type TurnInput } from './phases/observe.ts'
import { runHooks, runPhase } from './phases/phase.ts'
import type { RuledRecovery } from './recovery-rules.ts'
import { cancelReservation } from './request/budget-reservation.ts'
import { InvalidDecisionError } from './request/invalid-decision-error.ts'
import { appendRecord, type FailureLimits, type Run } from './run.ts'
import { messagesWithoutTask } from './session/bind-input.ts'
import { MIN_ROOM_TOKENS } from './session/fold-open-turn.ts'
import { dropOldTurns } from './session/memory-view.ts'
import { measureConversation, newConversation } from './session/message-digest.ts'
import type { OpenTurn } from './session/session-thread.ts'
import { Suspended } from './suspended.ts'

/** An empty answer is requested once more; a second empty answer ends the run. */
const MAX_EMPTY = 2
/** How long and how often a run waits for money that other runs have reserved. */
const BUDGET_WAIT_MS = 5_000
const MAX_BUDGET_WAITS = 24
const FIRST_BACKOFF_MS = 500
const BACKOFF_FACTOR = 4
const MAX_BACKOFF_MS = 3_600_000

export async function handleStepFailure(
  run: Run,
  input: TurnInput,
  thrown: unknown,
  began: number,
): Promise<StepOutcome> {
  if (thrown instanceof Suspended) return parkRun(run, thrown.wait, [])
  const error = asTirelessError(thrown)
  if (error.code.startsWith('store_')) throw error
  // An `aborted` error without an interruption is an ordinary failure.
  if (error.code === 'aborted' && run.signal.aborted) return endInterrupted(run)
  const open = run.thread.open ?? bindTurn(run, input)
  const where = run.phase.toUpperCase() as FailingPhase
  const trouble: StepFailure = {
    error,
    failures: open.failures,
    failed: run.thread.failed,
    limits: run.engine.failureLimits,
  }
  const now = run.engine.clock.now()
  const asked = where === 'DECIDE' && !open.answer && (open.isRequested || error.code === 'model_auth')
  const canWait = canPostponeInput(run, open)
  const shortens = error.code === 'model_oversize' && asked && !canWait && (await canShorten(run, open))
  const policy: RetryRuling = shortens
    ? { kind: 'retry', until: null }
    : decideRetry(trouble, {
        wasModelCall: asked,
        fallback: asked ? run.engine.sources.requests.findFallback(run, open, error.code) : undefined,
        canPostponeInput: canWait,
        run_id: run.dispatch.dispatch_id,
        now,
      })
  const ruled = shortens ? undefined : await askRules(run, open, trouble, { where, asked, policy, now })
  const { ruling, ...by } = ruled ?? { ruling: policy }
  cancelReservation(run, open, error)
  appendRecord(
    run,
    { kind: 'failed', turn: open.turn, phase: where, code: error.code, message: error.message, ruling, ...by },
    now,
  )
  await runHooks(run, 'on_recover', { error: error.message })
  switch (ruling.kind) {
    case 'retry': {
      if (ruling.until === null) return { kind: 'continue' }
      return parkRun(run, { kind: 'retry', until: ruling.until, reason: `${error.code}: ${error.message}` }, [])
    }
    case 'feedback':
      return commitWithFeedback(run, open, { error, began, ...ruling })
    case 'stop': {
      const next = await runPhase(run, 'check_stop', () => endAfterFailure(run, where, error))
      return finishRun(run, next, await closeOpenTurn(run, next))
    }
  }
}

/** Whether a second request of this turn can be shorter: older turns can be dropped, or messages shortened. */
async function canShorten(run: Run, { failures }: OpenTurn): Promise<boolean> {
  return (
    !failures.includes('model_oversize') &&
    ((await dropOldTurns(run)) || measureConversation(run.thread.conversation).tokens > MIN_ROOM_TOKENS)
  )
}

/**
 * Whether some new messages can wait for the next turn: there are at least two, and all new messages together are more
 * than a quarter of the conversation.
 */
function canPostponeInput({ thread, dispatch }: Run, open: OpenTurn): boolean {
  if (messagesWithoutTask(open.input, dispatch.dispatch_id).length < 2) return false
  const { tokens } = measureConversation(newConversation(open.messages))
  return tokens > measureConversation(thread.conversation).tokens / 4
}

async function endInterrupted(run: Run): Promise<StepOutcome> {
  const why = interruptionReason(run.signal)
  if (why !== 'cancelled' && why !== 'time') return releaseRun(run)
  const next = await runPhase(
    run,
    'check_stop',
    (): RunEnd => (why === 'time' ? timeLimitEnd(run.overrides.budget) : { kind: 'end', stop_reason: 'cancelled' }),
  )
  return finishRun(run, next, await closeOpenTurn(run, next))
}

/** Rules of plugins are asked while the run may go on; its limits are the policy's. */
async function askRules(
  run: Run,
  open: OpenTurn,
  { error, failed, limits }: StepFailure,
  { where, asked, policy, now }: { where: FailingPhase; asked: boolean; policy: RetryRuling; now: number },
): Promise<RuledRecovery | undefined> {
  const [attempt, failures] = [failed.inARow + 1, failed.inAll + 1]
  if (error.code.startsWith('budget_') || attempt >= limits.inARow || failures >= limits.inAll) return undefined
  const { dispatch_id: run_id, session_id, agent_id } = run.dispatch
  const { code, message } = error
  return run.engine.sources.rules.askRecoveryRules(run, {
    failure: {
      ...{ run_id, session_id, agent_id, behaviour: run.behaviour.name, phase: where },
      ...{ code, category: categoryOf(code), message, is_model_call: asked, attempt, failures },
      policy: policy.kind === 'feedback' ? 'next_turn' : policy.kind === 'stop' ? 'fail' : 'retry',
    },
    isRepeatable: where === 'DECIDE' ? !open.answer && !open.decided : where !== 'OBSERVE',
    now,
  })
}

interface FailedTurn {
  readonly error: TirelessError
  readonly began: number
  /** Replaces the error as feedback. */
  readonly text?: string
  /** When the next step starts; default: at once. */
  readonly until?: number
}

/** Ends the failed step. The next step starts with the error as feedback for the model. */
async function commitWithFeedback(
  run: Run,
  open: OpenTurn,
  { error, began, text, until }: FailedTurn,
): Promise<StepOutcome> {
  if (error instanceof InvalidDecisionError)
    for (const [index, { id, fault = error.message }] of error.decision.calls.entries())
      appendRecord(run, {
        kind: 'call_settled',
        turn: open.turn,
        index,
        call_id: id,
        result: { status: 'error', content: fault },
      })
  const unknowns = await settleInterruptedCalls(run, open)
  // Feedback that the model has not seen yet is repeated.
  const unseenFeedback = open.answer || open.decided ? [] : [open.feedback ?? []].flat()
  const feedback = [...unseenFeedback, text ?? error.message].join('\n')
  const goesOn: Next =
    until === undefined
      ? { kind: 'continue', feedback }
      : {
          kind: 'park',
          wait: { kind: 'retry', until, reason: `${error.code}: ${error.message}` },
          feedback,
          pause: true,
        }
  const next = await runPhase(run, 'check_stop', (): Next => checkLimits(run, began) ?? goesOn)
  return commitStep(run, open, { next, patch: undefined, verdicts: [], began }, unknowns)
}

export interface StepFailure {
  readonly error: TirelessError
  /** Error codes of earlier failures in this turn. */
  readonly failures: readonly ErrorCode[]
  /** Earlier failures of the run. */
  readonly failed: { readonly inARow: number; readonly inAll: number; readonly last?: ErrorCode }
  readonly limits: FailureLimits
}

export interface RetryContext {
  /** Whether the failed operation was a model call. */
  readonly wasModelCall: boolean
  /** Whether a fallback model can be called: `now`, or `later` after a backoff. */
  readonly fallback?: 'now' | 'later' | undefined
  /** Whether some of the new messages can wait for the next turn. */
  readonly canPostponeInput: boolean
  readonly run_id: string
  readonly now: number
}

export function decideRetry(
  { error, failures, failed, limits: patience }: StepFailure,
  asking: RetryContext,
): RetryRuling {
  const { wasModelCall: asked, fallback: standIn, canPostponeInput: canWait, run_id, now } = asking
  const inARow = failed.inARow + 1
  if (error.code === 'budget_busy') {
    const waits = failures.filter((code) => code === 'budget_busy').length
    return waits < MAX_BUDGET_WAITS
      ? { kind: 'retry', until: Math.ceil(now + BUDGET_WAIT_MS * jitter(run_id, waits)) }
      : { kind: 'stop' }
  }
  if (error.code.startsWith('budget_')) return { kind: 'stop' }
  if (standIn === 'now' && failed.inAll + 1 < patience.inAll) return { kind: 'retry', until: null }
  if (inARow >= patience.inARow || failed.inAll + 1 >= patience.inAll) return { kind: 'stop' }
  const again = failed.inARow > 0 && failed.last === error.code
  if (error.code === 'decision_empty' && again) return { kind: 'stop' }
  if (error.code === 'model_oversize') return canWait ? { kind: 'feedback' } : { kind: 'stop' }
  if (!asked) return { kind: 'feedback' }
  const empty = failures.filter((code) => code === 'model_empty').length + 1
  const isFinal = error.retry !== 'later' || (error.code === 'model_empty' && empty >= MAX_EMPTY)
  if (isFinal && !standIn) return { kind: 'stop' }
  const backoff = FIRST_BACKOFF_MS * BACKOFF_FACTOR ** (inARow - 1) * jitter(run_id, inARow)
  const wait = Math.min(Math.max(backoff, error.retryAfterMs ?? 0), MAX_BACKOFF_MS)
  return { kind: 'retry', until: Math.ceil(now + wait) }
}

const STOP_REASONS: { readonly [C in ErrorCode]?: StopReason } = {
  model_oversize: 'context_overflow',
  budget_money: 'budget_money',
  budget_unpriced: 'budget_money',
  budget_busy: 'budget_money',
  budget_calls: 'budget_steps',
  budget_tokens: 'budget_tokens',
}

function endAfterFailure(run: Run, phase: FailingPhase, error: TirelessError): RunEnd {
  const { code, message } = error
  const { inARow, inAll } = run.thread.failed
  const tries = inARow > 1 ? ` (after ${inARow} failures in a row)` : ''
  const failure_class = code.startsWith('budget_')
    ? 'budget'
    : code.startsWith('model_')
      ? 'provider'
      : code.startsWith('decision_')
        ? 'invalid_result'
        : 'infra'
  return {
    kind: 'end',
    stop_reason: STOP_REASONS[code] ?? 'unrecoverable_error',
    failure_class,
    error: `${code}: ${message}${tries}`,
    failure_report: { phase, code, category: categoryOf(code), in_a_row: inARow, in_all: inAll },
  }
}

/** A factor from 0.8 to 1.2, derived from run and attempt, so that a replay waits equally long. */
function jitter(run_id: string, failed: number): number {
  return 0.8 + (createHash('sha256').update(`${run_id}.${failed}`).digest().readUInt16BE(0) / 0xffff) * 0.4
}
