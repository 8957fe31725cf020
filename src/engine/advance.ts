/**
 * Advance: a claimed dispatch, step by step, until it ends, parks, or is given back. One loop for every driver.
 * Must not know: when to claim, how many run at once.
 */

import type { Dispatch } from '../domain/dispatch.ts'
import { asTirelessError } from '../domain/error.ts'
import { commitOne } from '../ports/store.ts'
import { end, type Moved, park, release } from './commit.ts'
import { type Engine, openRun, type Run } from './run.ts'
import { step } from './step.ts'

export interface Signals {
  /** Finish the step, then give the work back. */
  readonly drain: AbortSignal
  /** Interrupt whatever is under way. */
  readonly abort: AbortSignal
}

/** Contract: rejects only when the store refuses or fails; everything else is in the dispatch's row. */
export async function advance(engine: Engine, dispatch: Dispatch, signals: Signals): Promise<Moved> {
  let run: Run
  try {
    run = await openRun(engine, dispatch)
  } catch (thrown) {
    return refuse(engine, dispatch, thrown)
  }
  for (;;) {
    const moved = await step(run, signals.abort)
    if (moved.kind === 'no_input') return nothingToGoOn(run)
    if (moved.kind !== 'continue') return moved
    if (signals.drain.aborted) return release(run)
  }
}

/** Woken without a reason: it goes on waiting as it did; a dispatch that nothing was ever said to is done. */
function nothingToGoOn(run: Run): Promise<Moved> {
  const { last, ended } = run.thread
  return !ended && last?.kind === 'park'
    ? park(run, last.wait, [])
    : end(run, { kind: 'end', stop_reason: 'success' }, [])
}

async function refuse(engine: Engine, dispatch: Dispatch, thrown: unknown): Promise<Moved> {
  const error = asTirelessError(thrown)
  if (error.code.startsWith('store_')) throw error
  const failed = {
    status: 'failed',
    result: null,
    error: `${error.code}: ${error.message}`,
    failure_class: 'infra',
  } as const
  const settle = { op: 'settle', ...failed, successor_id: engine.ids.next(), now: engine.clock.now() } as const
  await commitOne(engine.store, [settle], { dispatch_id: dispatch.dispatch_id, token: dispatch.token })
  return { kind: 'end', stop_reason: 'unrecoverable_error', failure_class: 'infra', error: failed.error }
}
