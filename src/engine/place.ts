/**
 * Places: workspaces that runs work in right now, and what each is worth. Runs that share one share this, so that what one of them brings in,
 * the others know of at once.
 * Must not know: what follows from a label. That is policy.
 */

import { CLEAN, type Label, lowest, UNTRUSTED, workspaceKey } from '../domain/trust.ts'
import type { Store } from '../ports/store.ts'
import type { Claimed } from './run.ts'

export interface Place {
  readonly key: string
  label: Label
  /** How many work there. */
  busy: number
}

const places = new WeakMap<Store, Map<string, Place>>()

function of(store: Store): Map<string, Place> {
  const known = places.get(store) ?? new Map<string, Place>()
  places.set(store, known)
  return known
}

/** What lies there may be others', or was written by somebody who had read theirs. */
export async function enter({ engine, dispatch }: Claimed): Promise<Place> {
  const { store, policy } = engine
  const { workspace = '' } = (await store.session(dispatch.session_id)) ?? {}
  const key = workspaceKey(workspace)
  const known = (await store.label(key)) ?? CLEAN
  const label = policy.isForeign(workspace) ? lowest(known, UNTRUSTED) : known
  const place = of(store).get(key) ?? { key, label, busy: 0 }
  place.label = lowest(place.label, label)
  place.busy += 1
  of(store).set(key, place)
  return place
}

export function leave({ engine }: Claimed, place: Place): void {
  place.busy -= 1
  if (place.busy === 0) of(engine.store).delete(place.key)
}
