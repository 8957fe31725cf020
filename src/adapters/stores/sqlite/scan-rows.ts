/** Scans the whole database for unreadable rows and says what is wrong with each. */

import type { DatabaseSync } from 'node:sqlite'
import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import { type StoredRow, TABLE_NAMES, type TableName } from './columns.ts'
import { parseEntry } from './read-journal.ts'
import {
  addReadableFunctions,
  convertBigInts,
  describeUnreadableRow,
  readableCondition,
  rowKey,
} from './unreadable-rows.ts'

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
    const sessions = new Set(found.filter(({ table }) => table === 'sessions').map(({ key }) => key))
    return [...found, ...findBadJournals(db).filter(({ table, key }) => table !== 'sessions' || !sessions.has(key))]
  } finally {
    db.exec('RELEASE scan')
  }
}

function findBadRows(db: DatabaseSync, table: TableName): readonly UnreadableRow[] {
  return readRows(db, `SELECT * FROM ${table} WHERE ${badRowCondition(table)}`).map((row) => ({
    ...{ table, key: rowKey(table, row), why: describeUnreadableRow(table, row) ?? describeRelation(table) },
  }))
}

const describeRelation = (table: TableName): string =>
  table === 'tally' ? 'it differs from the number of dispatches with this status' : 'its session is missing'

function readRows(db: DatabaseSync, text: string): readonly StoredRow[] {
  const statement = db.prepare(text)
  statement.setReadBigInts(true)
  return statement.all().map(convertBigInts)
}

interface JournalChain {
  readonly id: string
  readonly head: unknown
  readonly last: unknown
  /** `entry`: the last entry read. `seq`: the expected number of the next record. */
  entry: unknown
  seq: number
  why?: string
}

/** Reads the journal once, in write order; each entry must follow the last one of its session. */
function findBadJournals(db: DatabaseSync): readonly UnreadableRow[] {
  const chains = new Map<unknown, JournalChain>()
  for (const { n, session_id, head, last } of readRows(db, 'SELECT n, session_id, head, last FROM sessions'))
    chains.set(n, { id: String(session_id), head, last, entry: null, seq: 1 })
  const orphans: UnreadableRow[] = []
  const entries = db.prepare('SELECT n, session, seq, prev, body FROM journal ORDER BY n')
  entries.setReadBigInts(true)
  for (const raw of entries.iterate()) {
    const entry = convertBigInts(raw)
    const chain = chains.get(entry.session)
    if (!chain) orphans.push({ table: 'journal', key: String(entry.n), why: 'its session is missing' })
    else followEntry(chain, entry)
  }
  const bad = [...chains.values()].flatMap((chain): UnreadableRow[] => {
    const why = chain.why ?? describeEnd(chain)
    return why === undefined ? [] : [{ table: 'sessions', key: chain.id, why: `its journal: ${why}` }]
  })
  return [...bad, ...orphans]
}

function followEntry(chain: JournalChain, entry: StoredRow): void {
  if (chain.why !== undefined) return
  const read =
    entry.prev === chain.entry
      ? parseEntry(entry, entry.session, chain.seq)
      : `entry ${entry.n} does not follow the previous entry`
  if (typeof read === 'string') chain.why = read
  else chain.seq += read.length
  chain.entry = entry.n
}

function describeEnd({ head, last, entry, seq }: JournalChain): string | undefined {
  if (head === seq - 1 && last === entry) return undefined
  return `it ends at record ${seq - 1}, entry ${entry}; expected record ${head}, entry ${last}`
}
