/** Reads whole tables of PostgreSQL in one snapshot: for unreadable rows, for damage, and for copies. */

import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import { TABLE_NAMES, type TableName } from '../rows/columns.ts'
import { describeRelation, JournalChains, mergeBadSessions } from '../rows/journal-chains.ts'
import type { SqlRow } from '../rows/rows.ts'
import { describeUnreadableRow, rowKey } from '../rows/unreadable-rows.ts'
import { PgConnection, type PgSettings } from './connection.ts'

/** Rows per message of the database; between two, other work goes on. */
const PAGE_ROWS = 500

export type ReadTable = (query: string) => AsyncIterable<SqlRow>

/** Contract: all that `read` gets is one consistent state. Has its own connection and transaction. */
export async function withSnapshot<T>(settings: PgSettings, read: (rows: ReadTable) => Promise<T>): Promise<T> {
  const connection = await PgConnection.open(settings)
  try {
    await connection.exec('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const result = await read((query) => readRows(connection, query))
    await connection.exec('COMMIT')
    return result
  } finally {
    await connection.close()
  }
}

async function* readRows(connection: PgConnection, query: string): AsyncGenerator<SqlRow> {
  await connection.exec(`DECLARE scan NO SCROLL CURSOR FOR ${query}`)
  for (;;) {
    const rows = await connection.exec(`FETCH ${PAGE_ROWS} FROM scan`)
    yield* rows
    if (rows.length < PAGE_ROWS) break
  }
  await connection.exec('CLOSE scan')
}

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
