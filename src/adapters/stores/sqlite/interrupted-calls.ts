/**
 * Records the interrupted calls of a run in the commit that marks the run as dead: a dead run is never resumed, so no
 * other code would record them.
 */

import type { JournalRecord } from '../../../domain/journal-record.ts'
import { endsTurn, interruptedCalls } from '../rows/interrupted-calls.ts'
import { parseEntry } from '../rows/journal-entries.ts'
import type { Sql } from './sql.ts'

export function recordInterruptedCalls(sql: Sql, session: number, dispatch_id: string): void {
  const session_id = String(sql('SELECT session_id FROM sessions WHERE n = ?').get(session)?.session_id)
  const insert = sql(
    `INSERT INTO unknowns (id, session, dispatch_id, tool, args, reach, started_at, output_so_far, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, '', ?) ON CONFLICT (id) DO NOTHING`,
  )
  for (const { id, tool, args, reach, started_at, status } of interruptedCalls(session_id, readOpenTurn(sql, session)))
    insert.run(id, session, dispatch_id, tool, args, reach, started_at, status)
}

/** The records since the last committed step. Reads backwards from the last entry, because the journal may be long. */
function readOpenTurn(sql: Sql, session: number): JournalRecord[] {
  const records: JournalRecord[] = []
  const entry = sql('SELECT * FROM journal WHERE n = ? AND seq BETWEEN 0 AND 9007199254740991')
  let n = sql('SELECT last FROM sessions WHERE n = ?').get(session)?.last
  while (n != null) {
    const row = entry.get(Number(n))
    const read = row && parseEntry(row, session, Number(row.seq))
    // This entry is unreadable, so older ones cannot be reached; `tireless doctor` reports it.
    if (read === undefined || typeof read === 'string') return records.reverse()
    for (const record of read.toReversed()) {
      if (endsTurn(record)) return records.reverse()
      records.push(record)
    }
    n = row?.prev
  }
  return records.reverse()
}
