/** Rows of the store that cannot be read: written by an earlier version, or edited in the database file. */

export interface UnreadableRow {
  readonly table: string
  /** What names the row in its table: an id, where it has one. */
  readonly key: string
  readonly why: string
}

/** A row that was moved out of its table, as it was. */
export interface SetAsideRow {
  readonly n: number
  /** The table it was in. */
  readonly source: string
  readonly why: string
  /** Its columns, as JSON. */
  readonly body: string
  readonly at: string
}

export const SET_ASIDE_REMEDY =
  'set them aside: tireless doctor --fix (nothing is deleted; see tireless doctor --set-aside)'

/** The audit is a chain: a record that is taken out of it breaks it. */
export const isNeverMoved = ({ table }: Pick<UnreadableRow, 'table'>): boolean => table === 'audit'

const MAX_NAMED = 10

export function describeUnreadable(rows: readonly UnreadableRow[]): string {
  const named = rows.slice(0, MAX_NAMED).map(({ table, key, why }) => `${table} ${key} (${why})`)
  const more = rows.length > MAX_NAMED ? ` and ${rows.length - MAX_NAMED} more` : ''
  return `${rows.length} stored ${rows.length === 1 ? 'row' : 'rows'} cannot be read: ${named.join(', ')}${more}`
}
