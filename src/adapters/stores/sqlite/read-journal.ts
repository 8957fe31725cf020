/** A session's journal, read along its chain of entries. A chain with a gap, a loop or an entry of another session cannot be read. */

import type { JournalRecord } from '../../../domain/record.ts'
import { whyNoEntry } from './record-shapes.ts'
import type { Row } from './rows.ts'
import { rowUnreadable } from './unreadable.ts'

/** From the last entry backwards, until the one that holds record `from`. An entry lies behind the one before it: no chain is a loop. */
const CHAIN = `WITH RECURSIVE entry (n, session, seq, prev, body) AS (
  SELECT j.n, j.session, j.seq, j.prev, j.body FROM sessions s JOIN journal j ON j.n = s.last WHERE s.session_id = ?1
  UNION ALL SELECT j.n, j.session, j.seq, j.prev, j.body FROM entry e JOIN journal j ON j.n = e.prev
  WHERE e.seq > ?2 AND j.n < e.n
) SELECT * FROM entry ORDER BY n`

/** Entries that are parsed before the event loop has its turn: some milliseconds. A session may have tens of thousands. */
const AT_ONCE = 200

/** Contract: rejects with `row_unreadable` where a record from `from` on is missing or cannot be read. */
export async function readJournal(
  all: (text: string, ...values: (string | number)[]) => readonly Row[],
  sessionId: string,
  from: number,
): Promise<readonly JournalRecord[]> {
  const [session] = all('SELECT n, head FROM sessions WHERE session_id = ?', sessionId)
  if (!session) return []
  const unreadable = (why: string): never => {
    throw rowUnreadable({ table: 'sessions', key: sessionId, why: `its journal: ${why}` })
  }
  const records: JournalRecord[] = []
  const entries = all(CHAIN, sessionId, from)
  let seq = from === 1 ? 1 : Math.min(from, Number(entries[0]?.seq ?? from))
  for (const [i, entry] of entries.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve))
    const read = readEntry(entry, session.n, seq)
    if (typeof read === 'string') return unreadable(read)
    for (const record of read) if (record.seq >= from) records.push(record)
    seq += read.length
  }
  // A head below `from`: nothing new.
  return seq === Number(session.head) + 1 || (entries.length === 0 && Number(session.head) < from)
    ? records
    : unreadable(`it ends at record ${seq - 1}; expected ${session.head}`)
}

/** The entry's records, or why they cannot be read. `seq`: the number that its first record has to have. */
export function readEntry(
  entry: Readonly<Record<string, unknown>>,
  session: unknown,
  seq: number,
): readonly JournalRecord[] | string {
  if (entry.session !== session) return `entry ${entry.n} belongs to another session`
  if (entry.seq !== seq) return `record ${seq} is missing`
  let records: unknown
  try {
    records = JSON.parse(String(entry.body))
  } catch {
    return `entry ${entry.n} is damaged JSON`
  }
  return whyNoEntry(records, seq) ?? (records as readonly JournalRecord[])
}
