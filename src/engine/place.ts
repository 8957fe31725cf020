/**
 * Labels of the workspaces in use. Runs in the same workspace share one entry, so that outside content brought in by
 * one run lowers the label for the others at once.
 * Must not know: the consequences of a label. They belong to policy.
 */

import { CLEAN, type Label, lowest, UNTRUSTED, workspaceKey } from '../domain/trust.ts'
import type { Store } from '../ports/store.ts'
import type { Claimed } from './run.ts'

export interface Place {
  readonly key: string
  label: Label
  /** Number of runs in this workspace. */
  busy: number
}

const openWorkspaces = new WeakMap<Store, Map<string, Place>>()

function workspacesOf(store: Store): Map<string, Place> {
  const known = openWorkspaces.get(store) ?? new Map<string, Place>()
  openWorkspaces.set(store, known)
  return known
}

/** Loads the stored label. The files of a foreign workspace count as untrusted. */
export async function enter({ engine, dispatch }: Claimed): Promise<Place> {
  const { store, policy } = engine
  const { workspace = '' } = (await store.session(dispatch.session_id)) ?? {}
  const key = workspaceKey(workspace)
  const known = (await store.label(key)) ?? CLEAN
  const label = policy.isForeign(workspace) ? lowest(known, UNTRUSTED) : known
  const place = workspacesOf(store).get(key) ?? { key, label, busy: 0 }
  place.label = lowest(place.label, label)
  place.busy += 1
  workspacesOf(store).set(key, place)
  return place
}

export function leave({ engine }: Claimed, place: Place): void {
  place.busy -= 1
  if (place.busy === 0) workspacesOf(engine.store).delete(place.key)
}
