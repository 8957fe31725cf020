/**
 * Reads a session's journal along its chain of entries. A gap, a loop or an entry of another session makes it
 * unreadable.
 */

import type { JournalRecord } from '../../../domain/journal-record.ts'
import { describeInvalidEntry } from './record-shapes.ts'
import type { SqlRow } from './rows.ts'
import { rowUnreadableError } from './unreadable-rows.ts'

/**
 * SQL that reads from the last entry backwards to the entry with record `from`. Entry numbers must decrease, so a loop
 * ends.
 */
const CHAIN = `WITH RECURSIVE entry (n, session, seq, prev, body) AS (
  SELECT j.n, j.session, j.seq, j.prev, j.body FROM sessions s JOIN journal j ON j.n = s.last WHERE s.session_id = ?1
  UNION ALL SELECT j.n, j.session, j.seq, j.prev, j.body FROM entry e JOIN journal j ON j.n = e.prev
  WHERE e.seq > ?2 AND j.n < e.n
) SELECT * FROM entry ORDER BY n`

/**
 * Number of entries parsed before yielding to the event loop, which takes some milliseconds. A session may have tens of
 * thousands of entries.
 */
const BATCH_SIZE = 200

/** Contract: rejects with `row_unreadable` if a record from `from` on is missing or unreadable. */
export async function readJournal(
  all: (text: string, ...values: (string | number)[]) => readonly SqlRow[],
  sessionId: string,
  from: number,
): Promise<readonly JournalRecord[]> {
  const [session] = all('SELECT n, head FROM sessions WHERE session_id = ?', sessionId)
  if (!session) return []
  const unreadable = (why: string): never => {
    throw rowUnreadableError({ table: 'sessions', key: sessionId, why: `its journal: ${why}` })
  }
  const records: JournalRecord[] = []
  const entries = all(CHAIN, sessionId, from)
  let seq = from === 1 ? 1 : Math.min(from, Number(entries[0]?.seq ?? from))
  for (const [i, entry] of entries.entries()) {
    if (i % BATCH_SIZE === BATCH_SIZE - 1) await new Promise((resolve) => setImmediate(resolve))
    const parsed = parseEntry(entry, session.n, seq)
    if (typeof parsed === 'string') return unreadable(parsed)
    for (const record of parsed) if (record.seq >= from) records.push(record)
    seq += parsed.length
  }
  // If the session's last record (`head`) is before `from`, there is nothing new.
  return seq === Number(session.head) + 1 || (entries.length === 0 && Number(session.head) < from)
    ? records
    : unreadable(`it ends at record ${seq - 1}; expected ${session.head}`)
}

/** The records of an entry, or the reason why they are unreadable. `seq`: the expected number of the first record. */
export function parseEntry(
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
  return describeInvalidEntry(records, seq) ?? (records as readonly JournalRecord[])
}
