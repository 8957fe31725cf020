/** The tables that a copy of a store consists of, with columns and keys as SQLite declares them. */

import type { DatabaseSync } from 'node:sqlite'

/**
 * In an order in which each row comes after those it refers to. The other tables are derived from these (counts, words
 * of facts), or describe one database and its processes.
 */
export const COPIED_TABLES = [
  ...(['workers', 'sessions', 'dispatches', 'journal', 'inbox', 'unknowns', 'selections', 'cycles'] as const),
  ...(['settings', 'spend', 'reservations', 'schedules', 'marks', 'approvals', 'grants', 'labels'] as const),
  ...(['audit', 'facts', 'documents', 'outbox', 'heard', 'todos', 'todo_receipts', 'undos', 'needs'] as const),
  ...(['set_aside', 'projections'] as const),
]

/** Columns that only PostgreSQL has: processes of a shared store, and which home has the files of a session. */
export const ONLY_IN_POSTGRES: readonly string[] = [
  ...['workers.about', 'workers.home', 'sessions.home', 'sessions.folder', 'dispatches.home'],
]

/** Whether the values of a column are integers or texts; no column has others. */
type ColumnType = 'bigint' | 'text'

export interface CopiedTable {
  readonly name: (typeof COPIED_TABLES)[number]
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[]
  /** Positions of the columns that identify a row. */
  readonly key: readonly number[]
}

export function readCopiedTables(db: DatabaseSync): readonly CopiedTable[] {
  return COPIED_TABLES.map((name) => {
    const found = db.prepare(`PRAGMA table_info(${name})`).all()
    const columns = found.map((column) => ({
      name: String(column.name),
      type: column.type === 'INTEGER' ? ('bigint' as const) : ('text' as const),
    }))
    const key = found
      .map(({ pk }, i) => ({ rank: Number(pk), i }))
      .filter(({ rank }) => rank > 0)
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ i }) => i)
    return { name, columns, key }
  })
}

export const quoteName = (name: string): string => `"${name}"`

export const columnList = ({ columns }: CopiedTable, prefix = ''): string =>
  columns.map(({ name }) => prefix + quoteName(name)).join(', ')

export const keyColumns = ({ columns, key }: CopiedTable): CopiedTable['columns'] =>
  key.flatMap((i) => columns[i] ?? [])
