/** Reads whole tables of PostgreSQL in one snapshot: for unreadable rows, for damage, and for copies. */

import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import { TABLE_NAMES, type TableName } from '../rows/columns.ts'
import { describeRelation, JournalChains, mergeBadSessions } from '../rows/journal-chains.ts'
import type { SqlRow } from '../rows/rows.ts'
import { describeUnreadableRow, rowKey } from '../rows/unreadable-rows.ts'
import { PgConnection, type PgSettings } from './connection.ts'

/** Most rows per message of the database; between two, other work goes on. */
const PAGE_ROWS = 500
/** The size of a message that is aimed at: the number of rows follows from the size of those before. */
const PAGE_CHARS = 2_000_000
const FIRST_ROWS = 20

type ReadTable = (query: string) => AsyncIterable<SqlRow>

/** Contract: all that `read` gets is one consistent state. Has its own connection and transaction. */
export async function withSnapshot<T>(
  settings: PgSettings,
  read: (rows: ReadTable, connection: PgConnection) => Promise<T>,
): Promise<T> {
  const connection = await PgConnection.open(settings)
  try {
    await connection.exec('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const result = await read((query) => readRows(connection, query), connection)
    await connection.exec('COMMIT')
    return result
  } finally {
    await connection.close()
  }
}

async function* readRows(connection: PgConnection, query: string): AsyncGenerator<SqlRow> {
  for await (const page of readPages(connection, query)) yield* page
}

/** Contract: the rows in pages, inside the transaction of the caller, one query at a time. */
export async function* readPages(connection: PgConnection, query: string): AsyncGenerator<readonly SqlRow[]> {
  await connection.exec(`DECLARE scan NO SCROLL CURSOR FOR ${query}`)
  for (let size = FIRST_ROWS; ; ) {
    const rows = await connection.exec(`FETCH ${size} FROM scan`)
    if (rows.length > 0) yield rows
    if (rows.length < size) break
    const average = rows.reduce((sum, row) => sum + charsIn(row), 1) / rows.length
    size = Math.max(1, Math.min(PAGE_ROWS, size * 4, Math.floor(PAGE_CHARS / average)))
  }
  await connection.exec('CLOSE scan')
}

const charsIn = (row: SqlRow): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)

/** Contract: a session whose row or journal is unreadable is listed once, as a session. */
export const scanForUnreadable = (settings: PgSettings): Promise<readonly UnreadableRow[]> =>
  withSnapshot(settings, async (rows) => {
    const found: UnreadableRow[] = []
    const chains = new JournalChains()
    const counted = new Map<unknown, number>()
    for (const table of TABLE_NAMES)
      for await (const row of rows(`SELECT * FROM ${table}`)) {
        if (table === 'dispatches') counted.set(row.status, (counted.get(row.status) ?? 0) + 1)
        if (table === 'sessions') chains.addSession(row)
        const why = describeUnreadableRow(table, row) ?? describeWrongCount(table, row, counted)
        if (why !== undefined) found.push({ table, key: rowKey(table, row), why })
      }
    for await (const entry of rows('SELECT * FROM journal ORDER BY n')) chains.addEntry(entry)
    return mergeBadSessions(found, chains.findBad())
  })

/** `tally` comes after `dispatches` in the list of tables. */
const describeWrongCount = (
  table: TableName,
  { status, n }: SqlRow,
  counted: ReadonlyMap<unknown, number>,
): string | undefined => (table === 'tally' && (counted.get(status) ?? 0) !== n ? describeRelation(table) : undefined)

/** Contract: what the database says about pages that it cannot read. Reading every row reads every page. */
export async function findDamage(settings: PgSettings): Promise<readonly string[]> {
  const problems: string[] = []
  for (const table of [...TABLE_NAMES, 'journal', 'projections', 'set_aside'])
    try {
      await withSnapshot(settings, async (rows) => {
        for await (const _ of rows(`SELECT * FROM ${table}`));
      })
    } catch (thrown) {
      problems.push(`${table}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  return problems
}
