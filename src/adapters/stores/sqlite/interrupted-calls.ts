/**
 * Records the interrupted calls of a run in the commit that marks the run as dead: a dead run is never resumed, so no
 * other code would record them.
 */

import { unknownOutcomeAction } from '../../../domain/effect.ts'
import type { JournalRecord } from '../../../domain/journal-record.ts'
import { unknownIdOf } from '../../../domain/unknown-outcome.ts'
import { iso } from '../../../ports/clock.ts'
import { parseEntry } from './read-journal.ts'
import type { Sql } from './refuse-batch.ts'

type IntendedCall = Extract<JournalRecord, { kind: 'call_intended' }>

export function recordInterruptedCalls(sql: Sql, session: number, dispatch_id: string): void {
  const session_id = String(sql('SELECT session_id FROM sessions WHERE n = ?').get(session)?.session_id)
  const insert = sql(
    `INSERT INTO unknowns (id, session, dispatch_id, tool, args, reach, started_at, output_so_far, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, '', ?) ON CONFLICT (id) DO NOTHING`,
  )
  for (const intended of findInterrupted(readOpenTurn(sql, session))) {
    const { call, effect, ts } = intended
    const status = unknownOutcomeAction(effect) === 'ask_human' ? 'open' : 'told_model'
    const id = unknownIdOf(session_id, intended)
    insert.run(id, session, dispatch_id, call.tool, JSON.stringify(call.args), effect.reach, iso(ts), status)
  }
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
      if (record.kind === 'step_committed' || record.kind === 'run_started') return records.reverse()
      records.push(record)
    }
    n = row?.prev
  }
  return records.reverse()
}

function findInterrupted(records: readonly JournalRecord[]): Iterable<IntendedCall> {
  const pending = new Map<number, IntendedCall>()
  for (const record of records) {
    if (record.kind === 'call_intended') pending.set(record.index, record)
    if (record.kind === 'call_settled') pending.delete(record.index)
  }
  return pending.values()
}
