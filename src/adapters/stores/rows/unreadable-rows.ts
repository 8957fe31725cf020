/** Unreadable rows: what is wrong with each, and the error of reading a single one. */

import { TirelessError } from '../../../domain/error.ts'
import { SET_ASIDE_REMEDY, type UnreadableRow } from '../../../domain/unreadable-row.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { type StoredRow, TABLES, type TableColumns, type TableName } from './columns.ts'
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
