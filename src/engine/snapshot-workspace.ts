/**
 * Takes snapshots of the workspace: before a run's first write and after each step that writes. A fork starts from the
 * files of the step that it branches off.
 * Must not know: how and where files are stored.
 */

import { writesWorkspace } from '../domain/effect.ts'
import type { CheckedCall } from './calls/gate.ts'
import type { Run } from './run.ts'
import type { OpenTurn } from './session/session-thread.ts'
import { withWorkspaceLock } from './workspace-lock.ts'

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
  const takeSnapshot = (at: { readonly turn: number; readonly before?: true }): Promise<string | undefined> =>
    withWorkspaceLock(run.engine.store, run.workspace.folder, () => snapshots.take(run.env.root, { run_id, ...at }))
  // Others may have written while this run waited, so the first snapshot of each opening is new. A call that started
  // before a crash may have written already; then it is too late for a snapshot before the first write, unless others
  // have written since: their work must not count as work of this run.
  if (!run.isWorkspaceSaved && (intended.size === 0 || (await haveOthersWritten(run)))) {
    await takeSnapshot({ turn: turn - 1, before: true })
    run.isWorkspaceSaved = true
  }
  try {
    return await work()
  } finally {
    if ([...intended.values()].some(({ effect }) => writesWorkspace(effect))) await takeSnapshot({ turn })
  }
}

/** Contract: whether someone else has written to the workspace since the last snapshot of this run. */
async function haveOthersWritten({ engine, dispatch, env }: Run): Promise<boolean> {
  const spans = (await engine.snapshots.spans()).filter(({ workspace }) => workspace === env.root)
  const own = spans.findLast(({ writer }) => writer === dispatch.dispatch_id)
  return own !== undefined && spans.some(({ writer, to }) => writer !== own.writer && to > own.to)
}
