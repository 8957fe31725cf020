/** Which failures the owner has put aside. */

import type { Store } from '../ports/store.ts'

/** Contract: the ids of the dispatches, oldest first. */
export async function listDismissed(store: Pick<Store, 'setting'>): Promise<readonly string[]> {
  const stored = await store.setting('dismissed_failures')
  return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []
}
