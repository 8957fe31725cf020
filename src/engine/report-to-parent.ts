/**
 * The end of a sub-agent: what it cost, and what it did to the files of its parent. Its files are merged before the
 * commit that ends the run; a kill in between repeats the merge, which changes nothing then. The report is part of that
 * commit, so that the parent gets it once, whatever happens afterwards.
 * Must not know: what the parent does with it.
 */

import { type DispatchStatus, isTerminal } from '../domain/dispatch.ts'
import { CLEAN_LABEL, workspaceKey } from '../domain/label.ts'
import { type ChildReport, readSpawnedBy } from '../domain/sub-agent.ts'
import { lowerWorkspaceLabel } from './calls/shared-workspace.ts'
import type { ClaimedRun } from './run.ts'
import { committedUsd } from './session/usage.ts'
import { withWorkspaceLock } from './workspace-lock.ts'

/** Maximum number of files that a report names. */
const MAX_FILES = 200

type MergeReport = Pick<ChildReport, 'files' | 'conflicts' | 'not_merged'>

/** Contract: undefined for a run that no other run spawned, and for one whose journal cannot be read. */
export async function reportToParent(run: ClaimedRun, status: DispatchStatus): Promise<ChildReport | undefined> {
  const { dispatch, thread } = run
  const above = readSpawnedBy(dispatch.metadata)
  if (dispatch.parent_id === null || !above || thread.run_id !== dispatch.dispatch_id) return undefined
  const merged = above.read_only ? notMerged() : await mergeIntoParent(run, dispatch.parent_id, status)
  return { cost_usd: committedUsd(thread), ...merged, label: { ...thread.label } }
}

const notMerged = (not_merged?: string): MergeReport => ({
  ...{ files: [], conflicts: [] },
  ...(not_merged === undefined ? {} : { not_merged }),
})

/** Half of a work could break the whole, so only the files of a run that is done are merged. */
async function mergeIntoParent(run: ClaimedRun, parent_id: string, status: DispatchStatus): Promise<MergeReport> {
  const { engine, dispatch, thread } = run
  const { store, snapshots } = engine
  const isChanged = [...thread.written].length > 0 || (await snapshots.changesOf(dispatch.dispatch_id)).length > 0
  if (!isChanged) return notMerged()
  if (status !== 'done') return notMerged(`the run is ${status}, so its files stay in its own workspace`)
  const parent = await store.dispatch(parent_id)
  if (!parent || isTerminal(parent.status)) return notMerged('the run that spawned it has ended')
  const [own, target] = await Promise.all([dispatch, parent].map(({ session_id }) => store.session(session_id)))
  if (!own || !target) return notMerged('its workspace is gone')
  const { workspace: from } = own
  const { workspace: into } = target
  await lowerWorkspaceLabel(store, into, (await store.label(workspaceKey(from))) ?? CLEAN_LABEL)
  const { dispatch_id: run_id } = dispatch
  const merged = await withWorkspaceLock(store, into, () => snapshots.merge({ run_id, from, into }))
  if (!merged) return notMerged('its files could not be compared; they are in its own workspace')
  const { files, conflicts } = merged
  const left = files.length - MAX_FILES
  return { files: left > 0 ? [...files.slice(0, MAX_FILES), `and ${left} more`] : files, conflicts }
}
