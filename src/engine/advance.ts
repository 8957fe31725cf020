/**
 * Advance: a claimed dispatch, step by step, until it ends, parks, or is given back. One loop for every driver.
 * Must not know: when to claim, how many run at once.
 */

import type { Dispatch } from '../domain/dispatch.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Op } from '../ports/store.ts'
import { closeTurn, type End, end, endRun, type Moved, park, release, settling } from './commit.ts'
import { type Claimed, claimed, type Engine, flush, openRun, type Run } from './run.ts'
import { step } from './step.ts'

export interface Signals {
  /** Finish the step, then give the work back. */
  readonly drain: AbortSignal
  /** Interrupt whatever is under way. */
  readonly abort: AbortSignal
}

/** Contract: rejects only when the store refuses or fails; everything else is in the dispatch's row. */
export async function advance(engine: Engine, dispatch: Dispatch, signals: Signals): Promise<Moved> {
  let held = claimed(engine, dispatch, [])
  let run: Run
  try {
    held = claimed(engine, dispatch, await engine.store.journal(dispatch.session_id))
    run = await openRun(held)
  } catch (thrown) {
    return refuse(held, thrown)
  }
  const left = await closeFormer(run)
  if (run.unwritten.length > 0) await flush(run, left)
  for (;;) {
    const moved = await step(run, signals.abort)
    if (moved.kind === 'no_input') return nothingToGoOn(run)
    if (moved.kind !== 'continue') return moved
    if (signals.drain.aborted) return release(run)
  }
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
  const { last, ended } = run.thread
  return !ended && last?.kind === 'park'
    ? park(run, last.wait, [])
    : end(run, { kind: 'end', stop_reason: 'success' }, [])
}

async function refuse(held: Claimed, thrown: unknown): Promise<Moved> {
  const error = asTirelessError(thrown)
  if (error.code.startsWith('store_')) throw error
  const next = failing(`${error.code}: ${error.message}`)
  const left = await closeFormer(held)
  if (!held.thread.ended) return end(held, next, [...left, ...(await closeTurn(held, next))])
  await flush(held, [...left, settling(held, next)])
  return next
}

const failing = (error: string): End => ({
  kind: 'end',
  stop_reason: 'unrecoverable_error',
  failure_class: 'infra',
  error,
})
