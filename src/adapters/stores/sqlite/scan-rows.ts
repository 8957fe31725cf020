/** Scans the whole database for unreadable rows and says what is wrong with each. */

import type { DatabaseSync } from 'node:sqlite'
import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import { type StoredRow, TABLE_NAMES, type TableName } from '../rows/columns.ts'
import { describeRelation, JournalChains, mergeBadSessions } from '../rows/journal-chains.ts'
import { describeUnreadableRow, rowKey } from '../rows/unreadable-rows.ts'
import { addReadableFunctions, convertBigInts, readableCondition } from './readable-functions.ts'

/** Tables whose rows belong to a session. */
const SESSION_TABLES: ReadonlySet<TableName> = new Set([
  ...(['dispatches', 'inbox', 'unknowns', 'approvals', 'todos', 'todo_receipts'] as const),
])

/** An SQL condition for invalid rows: unreadable ones, rows of a missing session, and wrong counts in `tally`. */
export function badRowCondition(table: TableName): string {
  const unreadable = `NOT ${readableCondition(table)}`
  if (table === 'tally') return `(${unreadable} OR n <> ${ACTUAL_COUNT})`
  return SESSION_TABLES.has(table) ? `(${unreadable} OR ${orphanCondition(table)})` : unreadable
}

const ACTUAL_COUNT = '(SELECT count(*) FROM dispatches d WHERE d.status = tally.status)'
const orphanCondition = (table: string): string => `NOT EXISTS (SELECT 1 FROM sessions o WHERE o.n = ${table}.session)`

/**
 * Contract: scans one consistent snapshot. A session whose row or journal is unreadable is listed once, as a session.
 */
export function scanRows(db: DatabaseSync): readonly UnreadableRow[] {
  addReadableFunctions(db)
  db.exec('SAVEPOINT scan')
  try {
    const found = TABLE_NAMES.flatMap((table) => findBadRows(db, table))
    return mergeBadSessions(found, findBadJournals(db))
  } finally {
    db.exec('RELEASE scan')
  }
}

function findBadRows(db: DatabaseSync, table: TableName): readonly UnreadableRow[] {
  return readRows(db, `SELECT * FROM ${table} WHERE ${badRowCondition(table)}`).map((row) => ({
    ...{ table, key: rowKey(table, row), why: describeUnreadableRow(table, row) ?? describeRelation(table) },
  }))
}

function readRows(db: DatabaseSync, text: string): readonly StoredRow[] {
  const statement = db.prepare(text)
  statement.setReadBigInts(true)
  return statement.all().map(convertBigInts)
}

/** Reads the journal once, in write order; each entry must follow the last one of its session. */
function findBadJournals(db: DatabaseSync): readonly UnreadableRow[] {
  const chains = new JournalChains()
  for (const row of readRows(db, 'SELECT n, session_id, head, last FROM sessions')) chains.addSession(row)
  const entries = db.prepare('SELECT n, session, seq, prev, body FROM journal ORDER BY n')
  entries.setReadBigInts(true)
  for (const raw of entries.iterate()) chains.addEntry(convertBigInts(raw))
  return chains.findBad()
}
