/**
 * Keeps the workspace as it is before a run first writes to it and after each step that did, so that a fork starts from its step's own files.
 * Must not know: how and where files are kept.
 */

import { writesWorkspace } from '../domain/effect.ts'
import type { ClearedCall } from './gate.ts'
import type { Run } from './run.ts'
import type { OpenTurn } from './thread.ts'

/** Contract: what `work` returns or throws. */
export async function withSnapshots<T>(
  run: Run,
  { turn, intended }: OpenTurn,
  calls: readonly ClearedCall[],
  work: () => Promise<T>,
): Promise<T> {
  if (!calls.some(({ effect }) => writesWorkspace(effect))) return work()
  const { snapshots } = run.engine
  const { dispatch_id: run_id } = run.dispatch
  const take = (after: number): Promise<void> => snapshots.take(run.env.root, { run_id, turn: after })
  // A call that was begun before a crash may have written already: then it is too late for a snapshot of before.
  if (intended.size === 0 && !(await snapshots.hasAny(run_id))) await take(turn - 1)
  try {
    return await work()
  } finally {
    if ([...intended.values()].some(({ effect }) => writesWorkspace(effect))) await take(turn)
  }
}
