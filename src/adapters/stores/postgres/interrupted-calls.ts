/** Records the interrupted calls of a run in the commit that marks the run as dead, in PostgreSQL. */

import type { JournalRecord } from '../../../domain/journal-record.ts'
import { endsTurn, interruptedCalls } from '../rows/interrupted-calls.ts'
import { parseEntry } from '../rows/journal-entries.ts'
import type { Queries } from './connection.ts'

export async function recordInterrupted(db: Queries, session: number, dispatch_id: string): Promise<void> {
  const owner = await db.get('SELECT session_id, last FROM sessions WHERE n = $1', session)
  const records = await readOpenTurn(db, session, owner?.last == null ? null : Number(owner.last))
  for (const { id, tool, args, reach, started_at, status } of interruptedCalls(String(owner?.session_id), records))
    await db.run(
      `INSERT INTO unknowns (id, session, dispatch_id, tool, args, reach, started_at, output_so_far, status)
       VALUES ($1, $2, $3, $4, $5, $6, $7, '', $8) ON CONFLICT (id) DO NOTHING`,
      ...[id, session, dispatch_id, tool, args, reach, started_at, status],
    )
}

/** The records since the last committed step. Reads backwards from the last entry, because the journal may be long. */
async function readOpenTurn(db: Queries, session: number, last: number | null): Promise<JournalRecord[]> {
  const records: JournalRecord[] = []
  for (let n = last; n !== null; ) {
    const row = await db.get('SELECT * FROM journal WHERE n = $1', n)
    const read = row && parseEntry(row, session, Number(row.seq))
    // This entry is unreadable, so older ones cannot be reached; `tireless doctor` reports it.
    if (read === undefined || typeof read === 'string') break
    const end = read.findLastIndex(endsTurn)
    records.unshift(...read.slice(end + 1))
    if (end >= 0) break
    n = row?.prev == null ? null : Number(row.prev)
  }
  return records
}
