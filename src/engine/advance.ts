/**
 * Advance: a claimed dispatch, step by step, until it ends, parks, or is given back. One loop for every driver.
 * Must not know: when to claim, how many run at once.
 */

import type { Issue } from '../domain/decision.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import { assertNever, asTirelessError } from '../domain/error.ts'
import { type JournalRecord, recordsOfRun } from '../domain/record.ts'
import type { Wait } from '../domain/wait.ts'
import { tell } from '../ports/sink.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { timeIsUp } from './check-stop.ts'
import { closeTurn, type End, end, endRun, type Moved, park, release, settling } from './commit.ts'
import { whyInterrupted } from './interruption.ts'
import { openRun } from './open.ts'
import { reasonOf } from './preflight.ts'
import { type Claimed, claimed, type Engine, flush, type Run, refOf, type Watched } from './run.ts'
import { step } from './step.ts'

export interface Signals {
  /** Finish the step, then give the work back. */
  readonly drain: AbortSignal
  /** Interrupt whatever is under way. */
  readonly abort: AbortSignal
}

/** How one run is asked to end: with its step, or at once. */
export interface Cancelling {
  readonly afterStep: AbortSignal
  readonly immediate: AbortSignal
}

/** Contract: rejects only when the store refuses or fails; everything else is in the dispatch's row. */
export async function advance(
  engine: Engine,
  dispatch: Dispatch,
  signals: Signals,
  cancelling: Cancelling,
): Promise<Moved> {
  let records: readonly JournalRecord[]
  let held: Claimed
  try {
    records = await engine.store.journal(dispatch.session_id)
    held = await claimed(engine, dispatch, records)
  } catch (thrown) {
    if (asTirelessError(thrown).code.startsWith('store_')) throw thrown
    return settleAlone(engine, dispatch, brokenBy(thrown))
  }
  const past = recordsOfRun(records, dispatch.dispatch_id)
  tell(() => engine.sink.opened(refOf(held), past))
  try {
    return await takeUp(held, signals, cancelling)
  } catch (thrown) {
    const { code } = asTirelessError(thrown)
    if (code.startsWith('store_') && code !== 'store_invalid') throw thrown
    return await endAlone(engine, dispatch, thrown)
  } finally {
    tell(() => engine.sink.closed(refOf(held)))
  }
}

async function takeUp(held: Claimed, signals: Signals, cancelling: Cancelling): Promise<Moved> {
  const left = await closeFormer(held)
  const opened = await openRun(held, signals.abort, cancelling)
  const endNow = async (run: Watched, next: End): Promise<Moved> =>
    end(run, next, [...left, ...(await closeTurn(run, next))])
  try {
    switch (opened.kind) {
      case 'opened':
        if (left.length > 0) await flush(opened.run, left)
        return await goOn(opened.run, signals.drain, cancelling)
      case 'refused':
        return await endNow(opened.watched, refusal(opened.issues))
      case 'behaviour_missing':
        return await park(held, waitForBehaviour(held, opened.behaviour), left)
      case 'called_off':
        if (opened.why === 'stopping') return await giveBack(held)
        return await endNow(opened.watched, opened.why === 'time' ? timeIsUp(opened.budget) : CANCELLED)
      default:
        return assertNever(opened)
    }
  } finally {
    await opened.close()
  }
}

async function goOn(run: Run, drain: AbortSignal, cancelling: Cancelling): Promise<Moved> {
  for (;;) {
    const next = endBefore(run, cancelling)
    if (next) return end(run, next, await closeTurn(run, next))
    const stepped = await step(run)
    const moved = stepped.kind === 'no_input' ? await nothingToGoOn(run) : stepped
    if (moved.kind !== 'continue') return moved
    if (drain.aborted) return release(run)
  }
}

/** How often it is looked for: whoever adds it starts the program anew, and what is due then is taken up. */
const LOOK_AGAIN_MS = 2 * 60_000

const waitForBehaviour = ({ engine }: Claimed, behaviour: string): Wait => ({
  kind: 'retry',
  until: engine.clock.now() + LOOK_AGAIN_MS,
  reason: `this program does not have its behaviour ${behaviour}; it goes on when it does`,
  behaviour,
})

const CANCELLED: End = { kind: 'end', stop_reason: 'cancelled' }

/** Whoever is to end, or has no time left, begins no other step. */
function endBefore({ signal, wishes }: Run, { afterStep, immediate }: Cancelling): End | undefined {
  if (afterStep.aborted || immediate.aborted) return CANCELLED
  return whyInterrupted(signal) === 'time' ? timeIsUp(wishes.budget) : undefined
}

function refusal(issues: readonly Issue[]): End {
  const error = issues.map(({ code, message }) => `${code}: ${message}`).join('; ')
  // No key, say: nothing is wrong with the task.
  const noModel = issues.length > 0 && issues.every(({ code }) => code === 'TASK_MODEL_UNKNOWN')
  return { kind: 'end', stop_reason: reasonOf(issues), error, issues, ...(noModel && { failure_class: 'provider' }) }
}

/** As it was claimed, without a word of this life: the next one begins it anew, with all that is looked at when a run begins. */
async function giveBack({ engine, fence }: Claimed): Promise<Moved> {
  await commitOne(engine.store, [{ op: 'release', now: engine.clock.now() }], fence)
  return { kind: 'release' }
}

/** The session's last run ended without a word to its journal: set aside as poison. Its open turn is not this run's to go on with. */
async function closeFormer(held: Claimed): Promise<readonly Op[]> {
  const { run_id, ended } = held.thread
  if (ended || run_id === undefined || run_id === held.dispatch.dispatch_id) return []
  const next = failing(`run ${run_id} ended without a word to its journal`)
  const ops = await closeTurn(held, next)
  endRun(held, run_id, next)
  return ops
}

/** Woken without a reason: it goes on waiting as it did; a dispatch that nothing was ever said to is done. */
function nothingToGoOn(run: Run): Promise<Moved> {
  const { last, turns } = run.thread
  return turns > 0 && last?.kind === 'park'
    ? park(run, last.wait, [])
    : end(run, { kind: 'end', stop_reason: 'success' }, [])
}

/**
 * The store has refused a value of this run, or something broke that no phase caught: it ends after what is on disk, and nobody else is the worse for
 * it. What was recorded and not written is left out, because it may be what broke.
 */
async function endAlone(engine: Engine, dispatch: Dispatch, thrown: unknown): Promise<Moved> {
  const next = brokenBy(thrown)
  try {
    const held = await claimed(engine, dispatch, await engine.store.journal(dispatch.session_id))
    const ops = await closeTurn(held, next)
    endRun(held, dispatch.dispatch_id, next)
    await flush(held, [...ops, settling(held, next)])
    return next
  } catch (again) {
    if (asTirelessError(again).code.startsWith('store_')) throw again
    return settleAlone(engine, dispatch, next)
  }
}

/** Without a word to the journal, which makes no sense or cannot be written: it is closed when its session goes on. */
async function settleAlone(engine: Engine, dispatch: Dispatch, next: End): Promise<Moved> {
  const held = await claimed(engine, dispatch, [])
  await flush(held, [settling(held, next)])
  return next
}

function brokenBy(thrown: unknown): End {
  const { code, message } = asTirelessError(thrown)
  return failing(`${code}: ${message}`)
}

const failing = (error: string): End => ({
  kind: 'end',
  stop_reason: 'unrecoverable_error',
  failure_class: 'infra',
  error,
})
