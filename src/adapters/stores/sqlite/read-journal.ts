/** Reads a session's journal along its chain of entries; a loop makes it unreadable. */

import type { JournalRecord } from '../../../domain/journal-record.ts'
import type { SessionReads } from '../../../ports/store/sessions.ts'
import { entriesFromRows, recordsFromEntries } from '../rows/journal-entries.ts'
import type { SqlRow } from '../rows/rows.ts'

/**
 * SQL that reads from the last entry backwards to the entry with record `from`. Entry numbers must decrease, so a loop
 * ends.
 */
const CHAIN = `WITH RECURSIVE entry (n, session, seq, prev, body) AS (
  SELECT j.n, j.session, j.seq, j.prev, j.body FROM sessions s JOIN journal j ON j.n = s.last WHERE s.session_id = ?1
  UNION ALL SELECT j.n, j.session, j.seq, j.prev, j.body FROM entry e JOIN journal j ON j.n = e.prev
  WHERE e.seq > ?2 AND j.n < e.n
) SELECT * FROM entry ORDER BY n`

type ReadAll = (text: string, ...values: (string | number)[]) => readonly SqlRow[]

/** One process writes at a time, so entries have their numbers in the order of their commits. */
export const entryReads = (all: ReadAll): Pick<SessionReads, 'journalEnd' | 'journalAfter'> => ({
  journalEnd: async () => ({ entry: Number(all('SELECT max(n) AS n FROM journal')[0]?.n ?? 0), open: [] }),
  async journalAfter({ entry }, limit) {
    const rows = all(
      `SELECT j.n, j.session, j.seq, j.body, s.session_id FROM journal j JOIN sessions s ON s.n = j.session
       WHERE j.n > ? ORDER BY j.n LIMIT ?`,
      ...[entry, limit],
    )
    const place = { entry: Number(rows.at(-1)?.n ?? entry), open: [] }
    return { entries: await entriesFromRows(rows), place, isEnd: rows.length < limit }
  },
})

/** Contract: rejects with `row_unreadable` if a record from `from` on is missing or unreadable. */
export async function readJournal(all: ReadAll, sessionId: string, from: number): Promise<readonly JournalRecord[]> {
  const [session] = all('SELECT n, head FROM sessions WHERE session_id = ?', sessionId)
  if (!session) return []
  const entries = all(CHAIN, sessionId, from)
  return recordsFromEntries({ n: session.n, session_id: sessionId, head: session.head }, entries, from)
}
