/** Runs the queries of reads, and leaves out or refuses rows that cannot be read. */

import type { UnreadableRow } from '../../../../domain/unreadable-row.ts'
import type { TableName } from '../../rows/columns.ts'
import type { SqlRow } from '../../rows/rows.ts'
import { describeUnreadableRow, ensureReadable, rowKey } from '../../rows/unreadable-rows.ts'
import type { PgValue, Queries } from '../connection.ts'

export interface PgRowReader {
  readonly all: Queries['all']
  /** Contract: the rows that can be read. */
  readonly readAll: (table: TableName, text: string, ...values: readonly PgValue[]) => Promise<SqlRow[]>
  /** Contract: `limit` readable rows, if there are so many. `text`: without LIMIT and OFFSET. */
  readonly readPage: (
    table: TableName,
    text: string,
    values: readonly PgValue[],
    page: { readonly limit: number; readonly offset?: number },
  ) => Promise<SqlRow[]>
  /** Contract: throws `row_unreadable` for an unreadable row. */
  readonly readOne: (table: TableName, text: string, ...values: readonly PgValue[]) => Promise<SqlRow | undefined>
}

/** `onSkipped`: called for each unreadable row that a list leaves out, at every read. */
export function createPgRowReader(db: Queries, onSkipped: (row: UnreadableRow) => void): PgRowReader {
  const keepReadable = (table: TableName, rows: SqlRow[]): SqlRow[] =>
    rows.filter((row) => {
      const why = describeUnreadableRow(table, row)
      if (why !== undefined) onSkipped({ table, key: rowKey(table, row), why })
      return why === undefined
    })
  return {
    all: (text, ...values) => db.all(text, ...values),
    readAll: async (table, text, ...values) => keepReadable(table, await db.all(text, ...values)),
    async readPage(table, text, values, { limit, offset = 0 }) {
      const query = `${text} LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
      const found: SqlRow[] = []
      // Pages grow, so that very many unreadable rows do not cost the square of their number.
      for (let from = offset, size = limit; found.length < limit; from += size, size = nextSize(size)) {
        const rows = await db.all(query, ...values, size, from)
        found.push(...keepReadable(table, rows))
        if (rows.length < size) break
      }
      return found.slice(0, limit)
    },
    async readOne(table, text, ...values) {
      const row = await db.get(text, ...values)
      return row && ensureReadable(table, row)
    },
  }
}

const MAX_PAGE_ROWS = 10_000

/** The next page begins where this one ends, so its size changes after `from` has moved. */
const nextSize = (size: number): number => Math.max(size, Math.min(MAX_PAGE_ROWS, 2 * size))

interface Conditions {
  readonly text: string
  readonly values: readonly PgValue[]
}

/** Conditions that were asked for, so that each query can use the index that fits; `?` is the place of the value. */
export function conditionsFor(
  ...asked: readonly (readonly [text: string, value: PgValue | true | undefined])[]
): Conditions {
  const texts: string[] = []
  const values: PgValue[] = []
  for (const [text, value] of asked) {
    if (value === undefined) continue
    if (value !== true) values.push(value)
    texts.push(`(${text.replaceAll('?', `$${values.length}`)})`)
  }
  return { text: texts.length === 0 ? 'TRUE' : texts.join(' AND '), values }
}
