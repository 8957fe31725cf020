/**
 * SQL functions that find unreadable rows: lists leave them out in SQL, so that a limit counts readable rows only, and
 * the writer skips them.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import { type StoredRow, TABLE_NAMES, TABLES, type TableName } from '../rows/columns.ts'
import { describeUnreadableRow, rowKey } from '../rows/unreadable-rows.ts'

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
