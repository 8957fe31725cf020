/** What a kernel tells its owner beside its cycles: rows that cannot be read, keys that are refused. */

import type { OwnerNote } from '../domain/owner-note.ts'
import { describeUnreadable, SET_ASIDE_REMEDY } from '../domain/unreadable-row.ts'
import type { Services } from '../ports/plugin.ts'
import type { Store } from '../ports/store.ts'

/** Contract: never rejects. */
export async function logUnreadable(store: Store, log: Services['log']): Promise<void> {
  const rows = await store.unreadable().catch(() => [])
  if (rows.length === 0) return
  const message = `${describeUnreadable(rows)}; do this: ${SET_ASIDE_REMEDY}`
  log.write('error', 'unreadable rows skipped', { message })
}

/** Providers that refuse their key. */
export const refusedKeys = (providers: readonly string[]): readonly OwnerNote[] =>
  providers.map((provider) => ({
    about: `provider ${provider}`,
    text: `the provider ${provider} refuses its key; set the right one, then run tireless models test`,
    zh: `模型服务 ${provider} 拒绝了密钥：请设置正确的密钥，然后运行 tireless models test`,
  }))
