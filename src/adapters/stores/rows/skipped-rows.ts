/** Remembers the unreadable rows that were skipped, for status and doctor. */

import type { UnreadableRow } from '../../../domain/unreadable-row.ts'

/** Most rows remembered; further ones are dropped. A scan of the database finds them all. */
const MAX_REMEMBERED = 1000

export class SkippedRows {
  #rows = new Map<string, UnreadableRow>()

  add(row: UnreadableRow): void {
    if (this.#rows.size < MAX_REMEMBERED) this.#rows.set(`${row.table} ${row.key}`, row)
  }

  replace(rows: readonly UnreadableRow[]): void {
    this.#rows = new Map()
    for (const row of rows) this.add(row)
  }

  all(): readonly UnreadableRow[] {
    return [...this.#rows.values()]
  }
}
