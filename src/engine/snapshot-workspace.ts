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
  type When = { readonly turn: number; readonly before?: true; readonly recovered?: true }
  const takeSnapshot = (at: When): Promise<string | undefined> =>
    withWorkspaceLock(run.engine.store, run.workspace.folder, () => snapshots.take(run.env.root, { run_id, ...at }))
  // Others may have written while this run waited, so the first snapshot of each opening is new. A call that started
  // before a crash may have written already, and so may anybody else since: whose work that is stays uncertain.
  const hasWritten = (): boolean => [...intended.values()].some(({ effect }) => writesWorkspace(effect))
  const isRecovering = !run.isWorkspaceSaved && hasWritten()
  let isCovered = true
  if (!run.isWorkspaceSaved) {
    const taken = await takeSnapshot({ turn: turn - 1, ...(isRecovering ? { recovered: true } : { before: true }) })
    // Without it, the snapshot after this step would count as work of the run what others did since the crash.
    isCovered = !isRecovering || taken !== undefined
    // If it cannot be taken, the next step that writes tries again.
    if (taken !== undefined) run.isWorkspaceSaved = true
  }
  try {
    return await work()
  } finally {
    if (isCovered && hasWritten()) await takeSnapshot({ turn })
  }
}
