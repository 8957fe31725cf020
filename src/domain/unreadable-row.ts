/** Stored rows that cannot be read: written by an earlier version, or edited in the database file. */

export interface UnreadableRow {
  readonly table: string
  /** Identifies the row in its table: its id, if it has one. */
  readonly key: string
  readonly why: string
}

/** An unreadable row, moved out of its table unchanged. */
export interface SetAsideRow {
  readonly n: number
  /** The table that the row came from. */
  readonly source: string
  readonly why: string
  /** The columns of the row as JSON. */
  readonly body: string
  readonly at: string
}

export const SET_ASIDE_REMEDY =
  'run `tireless doctor --fix` to set them aside; nothing is deleted (list: `tireless doctor --set-aside`)'

/** Audit rows stay in their table: the audit is a hash chain, and removing a row breaks it. */
export const staysInTable = ({ table }: Pick<UnreadableRow, 'table'>): boolean => table === 'audit'

const MAX_NAMED = 10

export function describeUnreadable(rows: readonly UnreadableRow[]): string {
  const named = rows.slice(0, MAX_NAMED).map(({ table, key, why }) => `${table} ${key} (${why})`)
  const more = rows.length > MAX_NAMED ? ` and ${rows.length - MAX_NAMED} more` : ''
  return `${rows.length} stored ${rows.length === 1 ? 'row' : 'rows'} cannot be read: ${named.join(', ')}${more}`
}
