/** Runs queries on a read-only connection. Always uses `.all()`: an open iterator would keep the WAL from resetting. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { TirelessError } from '../../../../domain/error.ts'
import type { TableName } from '../../rows/columns.ts'
import type { SqlRow } from '../../rows/rows.ts'
import { ensureReadable } from '../../rows/unreadable-rows.ts'
import { storeFailedError } from '../connection.ts'
import { convertBigInts, isOutOfRange } from '../readable-functions.ts'

export interface RowReader {
  readonly all: (text: string, ...values: readonly (string | number | null)[]) => SqlRow[]
  /** Contract: throws `row_unreadable` for an unreadable row. */
  readonly readOne: (table: TableName, text: string, ...values: readonly (string | number)[]) => SqlRow | undefined
}

export function createRowReader(db: DatabaseSync): RowReader {
  const statements = new Map<string, StatementSync>()
  const all: RowReader['all'] = (text, ...values) => {
    try {
      const statement = statements.get(text) ?? db.prepare(text)
      statements.set(text, statement)
      return statement.all(...values) as SqlRow[]
    } catch (cause) {
      if (isOutOfRange(cause)) return allWithBigInts(db, text, values)
      if (!db.isOpen) throw new TirelessError('store_closed', 'the store is closed', { cause })
      throw storeFailedError('the store cannot be read', cause)
    }
  }
  return {
    all,
    readOne: (table, text, ...values) => {
      const [row] = all(text, ...values)
      return row && ensureReadable(table, row)
    },
  }
}

/** Reads integers as bigints, which is slower; used if a row has integers beyond the safe range. */
function allWithBigInts(db: DatabaseSync, text: string, values: readonly (string | number | null)[]): SqlRow[] {
  const statement = db.prepare(text)
  statement.setReadBigInts(true)
  return (statement.all(...values) as SqlRow[]).map(convertBigInts)
}
