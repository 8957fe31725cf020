/** Which failures the owner has put aside. */

import { z } from 'zod'
import type { Store } from '../../ports/store.ts'

export const dismissedShape = z.boolean().describe('it failed, and the owner has put the failure aside')

/** Contract: the ids of the dispatches, oldest first. */
export async function listDismissed(store: Store): Promise<readonly string[]> {
  const stored = await store.setting('dismissed_failures')
  return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []
}
