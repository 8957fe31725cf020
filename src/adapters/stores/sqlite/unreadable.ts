/**
 * Rows that cannot be read: lists leave them out (in SQL, so that a limit counts readable rows only), a read of one such row throws, and
 * the writer picks none of them for work.
 */

import type { DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import { SET_ASIDE_REMEDY, type UnreadableRow } from '../../../domain/unreadable.ts'
import { type StoredRow, TABLE_NAMES, TABLES, type TableColumns, type TableName } from './columns.ts'
import { Refused } from './refused.ts'

/** Why the row cannot be read, or undefined. It needs all columns that TABLES names. */
export function whyUnreadable(table: TableName, row: StoredRow): string | undefined {
  const { columns, mismatch }: TableColumns = TABLES[table]
  for (const [column, shape] of Object.entries(columns)) {
    const why = shape(row[column])
    if (why !== undefined) return `${column}: ${why}`
  }
  return mismatch?.(row)
}

export function keyOf(table: TableName, row: StoredRow): string {
  return TABLES[table].key.map((column) => String(row[column])).join(' ')
}

/** Contract: the row itself; throws `row_unreadable`, which says what to do, for one that cannot be read. */
export function refuseUnreadable<R extends StoredRow>(table: TableName, row: R): R {
  const why = whyUnreadable(table, row)
  if (why !== undefined) throw rowUnreadable({ table, key: keyOf(table, row), why })
  return row
}

export function rowUnreadable({ table, key, why }: UnreadableRow): TirelessError {
  return new TirelessError('row_unreadable', {
    what: `this stored row cannot be read, and is left as it is (${why})`,
    where: `${table} ${key}`,
    fix: SET_ASIDE_REMEDY,
  })
}

/** As `refuseUnreadable`, for the writer: its batch is refused. */
export function refuseUnreadableRow<R extends StoredRow>(table: TableName, row: R): R {
  try {
    return refuseUnreadable(table, row)
  } catch (thrown) {
    throw new Refused('row_unreadable', thrown instanceof Error ? thrown.message : String(thrown))
  }
}

const columnsOf = (table: TableName): readonly string[] => [
  ...new Set([...TABLES[table].key, ...Object.keys(TABLES[table].columns)]),
]

/** An SQL condition: rows of `table`, called `alias` in the statement, that can be read. The connection needs `addReadable`. */
export function readableRows(table: TableName, alias: string = table): string {
  return `readable_${table}(${columnsOf(table)
    .map((column) => `${alias}."${column}"`)
    .join(', ')})`
}

/** Gives a connection the functions behind `readable`. `found` is told of each row that is left out, each time. */
export function addReadable(db: DatabaseSync, found: (row: UnreadableRow) => void = () => {}): void {
  const options = { deterministic: true, useBigIntArguments: true, varargs: true } as const
  for (const table of TABLE_NAMES) {
    const columns = columnsOf(table)
    db.function(`readable_${table}`, options, (...values: unknown[]) => {
      const row = Object.fromEntries(columns.map((column, i) => [column, asNumber(values[i])]))
      const why = whyUnreadable(table, row)
      if (why === undefined) return 1
      found({ table, key: keyOf(table, row), why })
      return 0
    })
  }
}

/** Whole numbers arrive as bigints; one that no number can hold stays one, and fits no shape. */
const asNumber = (value: unknown): unknown =>
  typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : value

export const withNumbers = <R extends StoredRow>(row: R): R =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, asNumber(value)])) as R

/** SQLite holds larger whole numbers than JavaScript, and reading one throws. */
export const isOutOfRange = (thrown: unknown): boolean =>
  thrown instanceof RangeError && 'code' in thrown && thrown.code === 'ERR_OUT_OF_RANGE'
