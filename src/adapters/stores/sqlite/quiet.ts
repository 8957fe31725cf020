/** Sessions whose inbox is known to be empty need not be asked again until somebody says something: one process has the home. */

import type { Op, Store } from '../../../ports/store.ts'

/** More sessions than this are not worth remembering. */
const MOST_QUIET = 4096

/** They may put something into an inbox: the end of a run, that its approvals were denied. */
const TELLING: ReadonlySet<Op['op']> = new Set([
  ...(['publish', 'answer', 'promote', 'set_aside', 'settle', 'recover', 'cancel'] as const),
])

type Inbox = Pick<Store, 'inbox' | 'commit'>

export function quietly({ inbox, commit }: Inbox, most = MOST_QUIET): Inbox {
  const quiet = new Set<string>()
  let said = 0
  return {
    async inbox(sessionId) {
      if (quiet.has(sessionId)) return []
      const before = said
      const unread = await inbox(sessionId)
      // Unless somebody spoke while we looked.
      if (unread.length > 0 || said !== before) return unread
      if (quiet.size >= most) quiet.clear()
      quiet.add(sessionId)
      return unread
    },
    async commit(batches) {
      const outcomes = await commit(batches)
      for (const { ops } of batches)
        for (const op of ops)
          if (TELLING.has(op.op)) {
            said += 1
            quiet.clear()
          }
      return outcomes
    },
  }
}
