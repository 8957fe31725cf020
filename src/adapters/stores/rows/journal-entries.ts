/** The records of a session's journal from its entries. A gap or an entry of another session makes it unreadable. */

import type { JournalRecord } from '../../../domain/journal-record.ts'
import type { JournalEntry } from '../../../ports/store/sessions.ts'
import { describeInvalidEntry } from './record-shapes.ts'
import type { SqlRow } from './rows.ts'
import { rowUnreadableError } from './unreadable-rows.ts'

/**
 * Number of entries parsed before yielding to the event loop, which takes some milliseconds. A session may have tens of
 * thousands of entries.
 */
const BATCH_SIZE = 200
/** The same for entries that are read while other work goes on. */
const SMALL_BATCH = 20

/** The row of a session: its number, its id and the number of its last record. */
interface JournalOwner {
  readonly n: unknown
  readonly session_id: string
  readonly head: unknown
}

/** Contract: rejects with `row_unreadable` if a record from `from` on is missing or unreadable. */
export async function recordsFromEntries(
  session: JournalOwner,
  entries: readonly SqlRow[],
  from: number,
): Promise<readonly JournalRecord[]> {
  const unreadable = (why: string): never => {
    throw rowUnreadableError({ table: 'sessions', key: session.session_id, why: `its journal: ${why}` })
  }
  const records: JournalRecord[] = []
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

/** Contract: the entries that can be read. `rows`: with the id of their session. */
export async function entriesFromRows(rows: readonly SqlRow[]): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = []
  for (const [i, row] of rows.entries()) {
    if (i % SMALL_BATCH === SMALL_BATCH - 1) await new Promise((resolve) => setImmediate(resolve))
    const records = parseEntry(row, row.session, Number(row.seq))
    if (typeof records !== 'string') entries.push({ session_id: String(row.session_id), records })
  }
  return entries
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
