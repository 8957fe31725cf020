/**
 * Takes snapshots of the workspace: before a run's first write and after each step that writes. A fork starts from the
 * files of the step that it branches off.
 * Must not know: how and where files are stored.
 */

import { writesWorkspace } from '../domain/effect.ts'
import type { CheckedCall } from './calls/gate.ts'
import type { Run } from './run.ts'
import type { OpenTurn } from './session/session-thread.ts'

/** Contract: returns what `work` returns, and throws what `work` throws. */
export async function withSnapshots<T>(
  run: Run,
  { turn, intended }: OpenTurn,
  calls: readonly CheckedCall[],
  work: () => Promise<T>,
): Promise<T> {
  // A copy is thrown away, and a read-only workspace does not change.
  if ((run.env.access ?? 'write') !== 'write') return work()
  if (!calls.some(({ effect }) => writesWorkspace(effect))) return work()
  const { snapshots } = run.engine
  const { dispatch_id: run_id } = run.dispatch
  const takeSnapshot = (after: number): Promise<void> => snapshots.take(run.env.root, { run_id, turn: after })
  // A call that started before a crash may have written already; then it is too late for a snapshot before the first
  // write.
  if (intended.size === 0 && !(await snapshots.hasAny(run_id))) await takeSnapshot(turn - 1)
  try {
    return await work()
  } finally {
    if ([...intended.values()].some(({ effect }) => writesWorkspace(effect))) await takeSnapshot(turn)
  }
}
