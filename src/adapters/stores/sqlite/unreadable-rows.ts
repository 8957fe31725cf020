/**
 * Handles unreadable rows: lists leave them out (in SQL, so that a limit counts readable rows only), reading a single
 * unreadable row throws, and the writer skips them.
 */

import type { DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import { SET_ASIDE_REMEDY, type UnreadableRow } from '../../../domain/unreadable-row.ts'
import { type StoredRow, TABLE_NAMES, TABLES, type TableColumns, type TableName } from './columns.ts'
import { RefusedBatch } from './refuse-batch.ts'
import { describeInvalid } from './value-shapes.ts'

/** Contract: why the row is unreadable; undefined if it is readable. The row needs all columns listed in TABLES. */
export function describeUnreadableRow(table: TableName, row: StoredRow): string | undefined {
  const { columns, mismatch }: TableColumns = TABLES[table]
  for (const [column, shape] of Object.entries(columns)) {
    const why = describeInvalid(shape, row[column])
    if (why !== undefined) return `${column}: ${why}`
  }
  return mismatch?.(row)
}

export function rowKey(table: TableName, row: StoredRow): string {
  return TABLES[table].key.map((column) => String(row[column])).join(' ')
}

/** Contract: returns the row; throws `row_unreadable` if it is unreadable. */
export function ensureReadable<R extends StoredRow>(table: TableName, row: R): R {
  const why = describeUnreadableRow(table, row)
  if (why !== undefined) throw rowUnreadableError({ table, key: rowKey(table, row), why })
  return row
}

export function rowUnreadableError({ table, key, why }: UnreadableRow): TirelessError {
  return new TirelessError('row_unreadable', {
    what: `a stored row cannot be read (${why})`,
    where: `${table} ${key}`,
    fix: SET_ASIDE_REMEDY,
  })
}

/** For the writer: refuses the batch instead of throwing `row_unreadable`. */
export function ensureReadableInBatch<R extends StoredRow>(table: TableName, row: R): R {
  try {
    return ensureReadable(table, row)
  } catch (thrown) {
    throw new RefusedBatch('row_unreadable', thrown instanceof Error ? thrown.message : String(thrown))
  }
}

const checkedColumns = (table: TableName): readonly string[] => [
  ...new Set([...TABLES[table].key, ...Object.keys(TABLES[table].columns)]),
]

/**
 * An SQL condition for readable rows of `table`, named `alias` in the statement. The connection needs the functions of
 * addReadableFunctions.
 */
export function readableCondition(table: TableName, alias: string = table): string {
  return `readable_${table}(${checkedColumns(table)
    .map((column) => `${alias}."${column}"`)
    .join(', ')})`
}

/**
 * Adds the SQL functions `readable_*` to a connection. `onUnreadable` is called whenever a query meets an unreadable
 * row.
 */
export function addReadableFunctions(db: DatabaseSync, onUnreadable: (row: UnreadableRow) => void = () => {}): void {
  const options = { deterministic: true, useBigIntArguments: true, varargs: true } as const
  for (const table of TABLE_NAMES) {
    const columns = checkedColumns(table)
    db.function(`readable_${table}`, options, (...values: unknown[]) => {
      const row = Object.fromEntries(columns.map((column, i) => [column, toSafeNumber(values[i])]))
      const why = describeUnreadableRow(table, row)
      if (why === undefined) return 1
      onUnreadable({ table, key: rowKey(table, row), why })
      return 0
    })
  }
}

/** SQLite passes integers as bigints. An integer beyond the safe range stays a bigint, which makes the row invalid. */
const toSafeNumber = (value: unknown): unknown =>
  typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : value

export const convertBigInts = <R extends StoredRow>(row: R): R =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toSafeNumber(value)])) as R

/** True for the error that node:sqlite throws when it reads an integer beyond the safe range. */
export const isOutOfRange = (thrown: unknown): boolean =>
  thrown instanceof RangeError && 'code' in thrown && thrown.code === 'ERR_OUT_OF_RANGE'
