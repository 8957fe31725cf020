/** Every row of the database, looked at: those that cannot be read, by what is wrong with them. */

import type { DatabaseSync } from 'node:sqlite'
import type { UnreadableRow } from '../../../domain/unreadable.ts'
import { type StoredRow, TABLE_NAMES, type TableName } from './columns.ts'
import { readEntry } from './read-journal.ts'
import { addReadable, keyOf, readableRows, whyUnreadable, withNumbers } from './unreadable.ts'

/** Their rows belong to a session. */
const OF_SESSIONS: ReadonlySet<TableName> = new Set(['dispatches', 'inbox', 'unknowns', 'approvals'])

/** An SQL condition: rows that are not as they have to be, be it each for itself or beside the others. */
export function isBad(table: TableName): string {
  const unreadable = `NOT ${readableRows(table)}`
  if (table === 'tally') return `(${unreadable} OR n <> ${REAL_COUNT})`
  return OF_SESSIONS.has(table) ? `(${unreadable} OR ${IS_ORPHAN(table)})` : unreadable
}

const REAL_COUNT = '(SELECT count(*) FROM dispatches d WHERE d.status = tally.status)'
const IS_ORPHAN = (table: string): string => `NOT EXISTS (SELECT 1 FROM sessions o WHERE o.n = ${table}.session)`

/** Contract: as of one instant. A session of which the journal cannot be read is named once, as a session. */
export function scanRows(db: DatabaseSync): readonly UnreadableRow[] {
  addReadable(db)
  db.exec('SAVEPOINT scan')
  try {
    const found = TABLE_NAMES.flatMap((table) => badRows(db, table))
    const sessions = new Set(found.filter(({ table }) => table === 'sessions').map(({ key }) => key))
    return [...found, ...badJournals(db).filter(({ table, key }) => table !== 'sessions' || !sessions.has(key))]
  } finally {
    db.exec('RELEASE scan')
  }
}

function badRows(db: DatabaseSync, table: TableName): readonly UnreadableRow[] {
  return rowsOf(db, `SELECT * FROM ${table} WHERE ${isBad(table)}`).map((row) => ({
    ...{ table, key: keyOf(table, row), why: whyUnreadable(table, row) ?? whyBeside(table) },
  }))
}

const whyBeside = (table: TableName): string =>
  table === 'tally' ? 'it is not the number of dispatches with this status' : 'its session is not there'

function rowsOf(db: DatabaseSync, text: string): readonly StoredRow[] {
  const statement = db.prepare(text)
  statement.setReadBigInts(true)
  return statement.all().map(withNumbers)
}

interface Chain {
  readonly id: string
  readonly head: unknown
  readonly last: unknown
  /** The entry that was read last, and the number of the next record. */
  entry: unknown
  seq: number
  why?: string
}

/** One walk through the journal, which is in the order of writing: each entry has to follow its session's last one. */
function badJournals(db: DatabaseSync): readonly UnreadableRow[] {
  const chains = new Map<unknown, Chain>()
  for (const { n, session_id, head, last } of rowsOf(db, 'SELECT n, session_id, head, last FROM sessions'))
    chains.set(n, { id: String(session_id), head, last, entry: null, seq: 1 })
  const orphans: UnreadableRow[] = []
  const entries = db.prepare('SELECT n, session, seq, prev, body FROM journal ORDER BY n')
  entries.setReadBigInts(true)
  for (const raw of entries.iterate()) {
    const entry = withNumbers(raw)
    const chain = chains.get(entry.session)
    if (!chain) orphans.push({ table: 'journal', key: String(entry.n), why: 'its session is not there' })
    else follow(chain, entry)
  }
  const bad = [...chains.values()].flatMap((chain): UnreadableRow[] => {
    const why = chain.why ?? whyCut(chain)
    return why === undefined ? [] : [{ table: 'sessions', key: chain.id, why: `its journal: ${why}` }]
  })
  return [...bad, ...orphans]
}

function follow(chain: Chain, entry: StoredRow): void {
  if (chain.why !== undefined) return
  const read =
    entry.prev === chain.entry ? readEntry(entry, entry.session, chain.seq) : `entry ${entry.n} follows no other`
  if (typeof read === 'string') chain.why = read
  else chain.seq += read.length
  chain.entry = entry.n
}

function whyCut({ head, last, entry, seq }: Chain): string | undefined {
  if (head === seq - 1 && last === entry) return undefined
  return `it ends at record ${seq - 1}, entry ${entry}; expected record ${head}, entry ${last}`
}
