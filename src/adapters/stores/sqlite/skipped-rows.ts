/** The rows that cannot be read and were met, for whoever asks how the home is. */

import type { UnreadableRow } from '../../../domain/unreadable.ts'

/** More are not remembered: a scan finds them all. */
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
