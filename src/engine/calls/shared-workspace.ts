/**
 * Labels of the workspaces in use. Runs in the same workspace share one entry, so that outside content brought in by
 * one run lowers the label for the others at once.
 * Must not know: the consequences of a label. They belong to policy.
 */

import { CLEAN_LABEL, closedKey, type Label, lowestLabel, UNTRUSTED_LABEL, workspaceKey } from '../../domain/label.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import type { ClaimedRun } from '../run.ts'

export interface SharedWorkspace {
  readonly key: string
  readonly folder: string
  label: Label
  /** Whether a hidden text was written into one of its files: then nothing leaves without the owner. */
  isClosed: boolean
  /** Number of runs in this workspace. */
  runCount: number
}

const openWorkspaces = new WeakMap<Store, Map<string, SharedWorkspace>>()

function workspacesOf(store: Store): Map<string, SharedWorkspace> {
  const known = openWorkspaces.get(store) ?? new Map<string, SharedWorkspace>()
  openWorkspaces.set(store, known)
  return known
}

/** Loads the workspace's stored label. The files of a foreign workspace count as untrusted. */
export async function acquireWorkspace({ engine, dispatch }: ClaimedRun): Promise<SharedWorkspace> {
  const { store, policy } = engine
  const { workspace = '' } = (await store.session(dispatch.session_id)) ?? {}
  const key = workspaceKey(workspace)
  const known = (await store.label(key)) ?? CLEAN_LABEL
  const label = policy.isForeignWorkspace(workspace) ? lowestLabel(known, UNTRUSTED_LABEL) : known
  const place = workspacesOf(store).get(key) ?? {
    key,
    folder: workspace,
    label,
    isClosed: false,
    runCount: 0,
  }
  place.isClosed ||= (await store.label(closedKey(workspace))) !== undefined
  place.label = lowestLabel(place.label, label)
  place.runCount += 1
  workspacesOf(store).set(key, place)
  return place
}

/**
 * Contract: lowers the label of a workspace, in the store and for the runs that use it now. Call it before content of
 * that label gets into the workspace.
 */
export async function lowerWorkspaceLabel(store: Store, folder: string, label: Label): Promise<void> {
  const key = workspaceKey(folder)
  const used = workspacesOf(store).get(key)
  const known = lowestLabel((await store.label(key)) ?? CLEAN_LABEL, used?.label ?? CLEAN_LABEL)
  const lowered = lowestLabel(known, label)
  if (used) used.label = lowered
  if (lowered.trust !== known.trust || lowered.private !== known.private)
    await commitOne(store, [{ op: 'label', of: key, label: lowered }])
}

export function releaseWorkspace({ engine }: ClaimedRun, place: SharedWorkspace): void {
  place.runCount -= 1
  if (place.runCount === 0) workspacesOf(engine.store).delete(place.key)
}
