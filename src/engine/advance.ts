/**
 * Advances a claimed dispatch step by step until it ends, parks, or is released. The only loop over steps.
 * Must not know: when to claim a dispatch, how many runs are active.
 */

import type { Issue } from '../domain/decision.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import { assertNever, asTirelessError } from '../domain/error.ts'
import { type JournalRecord, recordsOfRun } from '../domain/journal-record.ts'
import type { Wait } from '../domain/wait.ts'
import { notifySafely } from '../ports/run-sink.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { interruptionReason } from './abort-reason.ts'
import {
  closeOpenTurn,
  finishRun,
  parkRun,
  type RunEnd,
  recordRunEnd,
  releaseRun,
  releaseTodoOps,
  type StepOutcome,
  settleRunOps,
} from './commit.ts'
import { openRun } from './open/open-run.ts'
import { stopReasonFor } from './open/preflight.ts'
import { timeLimitEnd } from './phases/check-stop.ts'
import {
  type ClaimedRun,
  type Engine,
  flushRecords,
  loadClaimedRun,
  type ObservedRun,
  type Run,
  runRefOf,
} from './run.ts'
import { step } from './step.ts'

export interface StopSignals {
  /** Finish the current step, then release the dispatch. */
  readonly drain: AbortSignal
  /** Interrupt the current step. */
  readonly abort: AbortSignal
  /** Contract: asked after each step; true: another dispatch gets the slot, so this one is released. */
  readonly mustGiveWay?: () => Promise<boolean>
}

/** Cancels one run: after its current step, or at once. */
export interface CancelSignals {
  readonly afterStep: AbortSignal
  readonly immediate: AbortSignal
}

/** Contract: rejects only if the store refuses a write or fails. Any other failure is stored with the dispatch. */
export async function advanceDispatch(
  engine: Engine,
  dispatch: Dispatch,
  signals: StopSignals,
  cancelling: CancelSignals,
): Promise<StepOutcome> {
  let records: readonly JournalRecord[]
  let claim: ClaimedRun
  try {
    records = await engine.store.journal(dispatch.session_id)
    claim = await loadClaimedRun(engine, dispatch, records)
  } catch (thrown) {
    if (asTirelessError(thrown).code.startsWith('store_')) throw thrown
    return settleWithoutJournal(engine, dispatch, endFromError(thrown))
  }
  const past = recordsOfRun(records, dispatch.dispatch_id)
  notifySafely(() => engine.sink.onRunOpened(runRefOf(claim), past))
  try {
    for (;;) {
      const outcome = await resumeRun(claim, signals, cancelling)
      if (outcome.kind !== 'become') return outcome
    }
  } catch (thrown) {
    const { code } = asTirelessError(thrown)
    if (code.startsWith('store_') && code !== 'store_invalid') throw thrown
    return await endAfterError(engine, dispatch, thrown)
  } finally {
    notifySafely(() => engine.sink.onRunClosed(runRefOf(claim)))
  }
}

async function resumeRun(claim: ClaimedRun, signals: StopSignals, cancelling: CancelSignals): Promise<StepOutcome> {
  const previousOps = await closePreviousRun(claim)
  const opened = await openRun(claim, signals.abort, cancelling)
  const endNow = async (run: ObservedRun, next: RunEnd): Promise<StepOutcome> =>
    finishRun(run, next, [...previousOps, ...(await closeOpenTurn(run, next))])
  try {
    switch (opened.kind) {
      case 'opened':
        if (previousOps.length > 0) await flushRecords(opened.run, previousOps)
        return await runSteps(opened.run, signals, cancelling)
      case 'refused':
        return await endNow(opened.watched, endFromIssues(opened.issues))
      case 'behaviour_missing':
        return await parkRun(claim, waitForBehaviour(claim, opened.behaviour), previousOps)
      case 'called_off':
        if (opened.why === 'stopping') return await releaseUnopened(claim)
        return await endNow(opened.watched, opened.why === 'time' ? timeLimitEnd(opened.budget) : CANCELLED)
      default:
        return assertNever(opened)
    }
  } finally {
    await opened.close()
  }
}

async function runSteps(run: Run, signals: StopSignals, cancelling: CancelSignals): Promise<StepOutcome> {
  for (;;) {
    const next = endBeforeStep(run, cancelling)
    if (next) return finishRun(run, next, await closeOpenTurn(run, next))
    const stepOutcome = await step(run)
    const outcome = stepOutcome.kind === 'no_input' ? await handleNoInput(run) : stepOutcome
    if (outcome.kind !== 'continue' && outcome.kind !== 'become') return outcome
    if (signals.drain.aborted || (await signals.mustGiveWay?.())) return releaseRun(run)
    // The run is opened again with the components of the other behaviour.
    if (outcome.kind === 'become') return outcome
  }
}

/** How long a run waits before it looks for its missing behaviour again. */
const RECHECK_MS = 2 * 60_000

const waitForBehaviour = ({ engine }: ClaimedRun, behaviour: string): Wait => ({
  kind: 'retry',
  until: engine.clock.now() + RECHECK_MS,
  reason: `the behaviour ${behaviour} is not installed; the run continues after it is installed`,
  behaviour,
})

const CANCELLED: RunEnd = { kind: 'end', stop_reason: 'cancelled' }

/** The end of a run that was cancelled or has no time left; undefined if the next step may start. */
function endBeforeStep(
  { signal, overrides: wishes }: Run,
  { afterStep, immediate }: CancelSignals,
): RunEnd | undefined {
  if (afterStep.aborted || immediate.aborted) return CANCELLED
  return interruptionReason(signal) === 'time' ? timeLimitEnd(wishes.budget) : undefined
}

function endFromIssues(issues: readonly Issue[]): RunEnd {
  const error = issues.map(({ code, message }) => `${code}: ${message}`).join('; ')
  // No model can be loaded, for example because a key is missing. The failure class is `provider`: the task is not at
  // fault.
  const noModel = issues.length > 0 && issues.every(({ code }) => code === 'TASK_MODEL_UNKNOWN')
  return {
    kind: 'end',
    stop_reason: stopReasonFor(issues),
    error,
    issues,
    ...(noModel && { failure_class: 'provider' }),
  }
}

/** Releases the dispatch without writing a record, so that the next process repeats all checks of the start. */
async function releaseUnopened({ engine, fence }: ClaimedRun): Promise<StepOutcome> {
  await commitOne(engine.store, [{ op: 'release', now: engine.clock.now() }], fence)
  return { kind: 'release' }
}

/**
 * Closes the session's previous run if it was set aside as `dead` without an end record. The open turn of that run is
 * closed, not resumed.
 */
async function closePreviousRun(claim: ClaimedRun): Promise<readonly Op[]> {
  const { run_id, ended } = claim.thread
  if (ended || run_id === undefined || run_id === claim.dispatch.dispatch_id) return []
  const next = infraFailure(`run ${run_id} ended without a record in its journal`)
  const ops = await closeOpenTurn(claim, next)
  recordRunEnd(claim, run_id, next)
  return [...ops, ...releaseTodoOps(claim, run_id)]
}

/** A run that was woken without input parks again. A dispatch that never had any input is done. */
function handleNoInput(run: Run): Promise<StepOutcome> {
  const { last, turns } = run.thread
  return turns > 0 && last?.kind === 'park'
    ? parkRun(run, last.wait, [])
    : finishRun(run, { kind: 'end', stop_reason: 'success' }, [])
}

/**
 * Ends the run after the store refused one of its values, or after an error that no phase caught. The journal is loaded
 * from disk again, because an unwritten record may have caused the error.
 */
async function endAfterError(engine: Engine, dispatch: Dispatch, thrown: unknown): Promise<StepOutcome> {
  const next = endFromError(thrown)
  try {
    const claim = await loadClaimedRun(engine, dispatch, await engine.store.journal(dispatch.session_id))
    const ops = await closeOpenTurn(claim, next)
    recordRunEnd(claim, dispatch.dispatch_id, next)
    await flushRecords(claim, [...ops, ...(await settleRunOps(claim, next))])
    return next
  } catch (again) {
    if (asTirelessError(again).code.startsWith('store_')) throw again
    return settleWithoutJournal(engine, dispatch, next)
  }
}

/** Settles a dispatch whose journal cannot be read or written. The session's next run adds the missing end record. */
async function settleWithoutJournal(engine: Engine, dispatch: Dispatch, next: RunEnd): Promise<StepOutcome> {
  const claim = await loadClaimedRun(engine, dispatch, [])
  await flushRecords(claim, await settleRunOps(claim, next))
  return next
}

function endFromError(thrown: unknown): RunEnd {
  const { code, message } = asTirelessError(thrown)
  return infraFailure(`${code}: ${message}`)
}

const infraFailure = (error: string): RunEnd => ({
  kind: 'end',
  stop_reason: 'unrecoverable_error',
  failure_class: 'infra',
  error,
})
