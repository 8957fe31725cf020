/**
 * Advance: a claimed dispatch, step by step, until it ends, parks, or is given back. One loop for every driver.
 * Must not know: when to claim, how many run at once.
 */

import type { Dispatch } from '../domain/dispatch.ts'
import { asTirelessError } from '../domain/error.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Op } from '../ports/store.ts'
import { closeTurn, type End, end, endRun, type Moved, park, release, settling } from './commit.ts'
import { Interruption } from './interruption.ts'
import { openRun } from './open.ts'
import { reasonOf } from './preflight.ts'
import { type Claimed, claimed, type Engine, flush, type Run, refOf, tell } from './run.ts'
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
  const records = await engine.store.journal(dispatch.session_id)
  let held: Claimed
  try {
    held = claimed(engine, dispatch, records)
  } catch (thrown) {
    return unreadable(claimed(engine, dispatch, []), thrown)
  }
  const past = runOf(records, dispatch.dispatch_id)
  tell(() => engine.sink.opened(refOf(held), past))
  const left = await closeFormer(held)
  const life = new AbortController()
  const over = new AbortController()
  const signal = AbortSignal.any([signals.abort, cancelling.immediate, life.signal])
  const opened = await openRun(held, signal)
  try {
    if (opened.kind === 'refused') {
      const { issues, watched } = opened
      const error = issues.map(({ code, message }) => `${code}: ${message}`).join('; ')
      const next: End = { kind: 'end', stop_reason: reasonOf(issues), error, issues }
      return await end(watched, next, [...left, ...(await closeTurn(watched, next))])
    }
    const { run } = opened
    if (left.length > 0) await flush(run, left)
    const { ms } = run.wishes.budget
    if (ms !== null)
      void engine.clock
        .sleep(Math.max(0, ms - run.thread.spent.ms), over.signal)
        .then(() => over.signal.aborted || life.abort(new Interruption('time')))
    return await goOn(run, signals.drain, cancelling)
  } finally {
    over.abort('over')
    await opened.close()
  }
}

async function goOn(run: Run, drain: AbortSignal, cancelling: Cancelling): Promise<Moved> {
  for (;;) {
    if (cancelling.afterStep.aborted || cancelling.immediate.aborted) {
      const next: End = { kind: 'end', stop_reason: 'cancelled' }
      return end(run, next, await closeTurn(run, next))
    }
    const stepped = await step(run)
    const moved = stepped.kind === 'no_input' ? await nothingToGoOn(run) : stepped
    if (moved.kind !== 'continue') return moved
    if (drain.aborted) return release(run)
  }
}

function runOf(records: readonly JournalRecord[], run_id: string): readonly JournalRecord[] {
  const from = records.findLastIndex((record) => record.kind === 'run_started')
  const started = records[from]
  return started?.kind === 'run_started' && started.run_id === run_id ? records.slice(from) : []
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

/** A journal that makes no sense is left alone; its dispatch is over. */
async function unreadable(held: Claimed, thrown: unknown): Promise<Moved> {
  const error = asTirelessError(thrown)
  const next = failing(`${error.code}: ${error.message}`)
  await flush(held, [settling(held, next)])
  return next
}

const failing = (error: string): End => ({
  kind: 'end',
  stop_reason: 'unrecoverable_error',
  failure_class: 'infra',
  error,
})
