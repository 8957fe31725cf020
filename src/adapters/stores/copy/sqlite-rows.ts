/** The rows of an SQLite database, as the source or the target of a copy. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { tokenizeForIndex } from '../../../domain/tokenize.ts'
import { type CopiedRow, type CopiedValue, inBatches, type RowSource, type RowTarget } from './copy-rows.ts'
import { type CopiedTable, columnList, keyColumns, quoteName } from './tables.ts'

/** Contract: no other connection may write while it is read. */
export function createSqliteRows(db: DatabaseSync): RowSource & RowTarget {
  const countRows = async ({ name }: CopiedTable): Promise<number> =>
    Number(db.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.n)
  return {
    async *batches(table) {
      const order = keyColumns(table).map((column) => quoteName(column.name))
      const all = exactly(db.prepare(`SELECT ${columnList(table)} FROM ${table.name} ORDER BY ${order.join(', ')}`))
      yield* inBatches(readRows(all, table))
    },
    count: countRows,
    async lastNumber(table) {
      const row = db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table)
      return Number(row?.seq ?? 0)
    },
    async insert(table, rows) {
      const places = table.columns.map(() => '?').join(', ')
      const insert = db.prepare(`INSERT INTO ${table.name} (${columnList(table)}) VALUES (${places})`)
      const words = db.prepare('INSERT INTO facts_words (rowid, key, text) VALUES (?, ?, ?)')
      for (const row of rows) {
        insert.run(...(row as readonly SQLInputValue[]))
        if (table.name === 'facts') for (const entry of wordsOf(table, row)) words.run(...entry)
      }
    },
    async find(table, rows) {
      const where = keyColumns(table).map(({ name }) => `${quoteName(name)} = ?`)
      const one = exactly(db.prepare(`SELECT ${columnList(table)} FROM ${table.name} WHERE ${where.join(' AND ')}`))
      return rows.map((row) => {
        const key = table.key.map((i) => row[i] as SQLInputValue)
        return [...readRows(one, table, key)][0]
      })
    },
    async finish(last) {
      for (const [table, seq] of Object.entries(last)) {
        db.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table)
        db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, seq)
      }
    },
  }
}

function exactly(statement: StatementSync): StatementSync {
  statement.setReadBigInts(true)
  return statement
}

function* readRows(
  statement: StatementSync,
  { columns }: CopiedTable,
  values: readonly SQLInputValue[] = [],
): Generator<CopiedRow> {
  for (const row of statement.iterate(...values)) yield columns.map(({ name }) => narrow(row[name] as CopiedValue))
}

/** The form of the other side: numbers, as long as they are exact. */
const narrow = (value: CopiedValue): CopiedValue =>
  typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value

/** The words of a fact that is known, for the search. */
function wordsOf({ columns }: CopiedTable, row: CopiedRow): readonly [SQLInputValue, string, string][] {
  const value = (name: string): CopiedValue => row[columns.findIndex((column) => column.name === name)] ?? null
  if (value('status') !== 'known') return []
  const words = (text: CopiedValue): string => tokenizeForIndex(String(text)).join(' ')
  return [[value('n'), words(value('key')), words(value('text'))]]
}
