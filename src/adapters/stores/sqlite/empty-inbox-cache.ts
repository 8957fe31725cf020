/** Caches which inboxes are empty, until an op may add a message. This is safe because one process holds the home. */

import type { Op, Store } from '../../../ports/store.ts'

/** Most sessions in the cache. */
const MAX_CACHED = 4096

/**
 * Ops that may add to an inbox. The end of a run is one: it denies the run's open approvals, and the denials are
 * messages.
 */
const WRITING_OPS: ReadonlySet<Op['op']> = new Set([
  ...(['publish', 'answer', 'promote', 'set_aside', 'settle', 'recover', 'cancel'] as const),
])

type InboxStore = Pick<Store, 'inbox' | 'commit'>

export function cacheEmptyInboxes({ inbox, commit }: InboxStore, most = MAX_CACHED): InboxStore {
  const emptyInboxes = new Set<string>()
  let writes = 0
  return {
    async inbox(sessionId) {
      if (emptyInboxes.has(sessionId)) return []
      const before = writes
      const unread = await inbox(sessionId)
      // The result is not cached if a message may have come during the query.
      if (unread.length > 0 || writes !== before) return unread
      if (emptyInboxes.size >= most) emptyInboxes.clear()
      emptyInboxes.add(sessionId)
      return unread
    },
    async commit(batches) {
      const outcomes = await commit(batches)
      for (const { ops } of batches)
        for (const op of ops)
          if (WRITING_OPS.has(op.op)) {
            writes += 1
            emptyInboxes.clear()
          }
      return outcomes
    },
  }
}
