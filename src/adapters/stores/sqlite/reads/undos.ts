/** Reads undos. */

import type { UndoReads } from '../../../../ports/store/undos.ts'
import { undoFromRow } from '../../rows/rows.ts'
import { readableCondition } from '../readable-functions.ts'
import type { RowReader } from './row-reader.ts'

export function undoReads({ all, readOne }: RowReader): UndoReads {
  return {
    async undo(id) {
      const row = readOne('undos', 'SELECT * FROM undos WHERE id = ?', id)
      return row && undoFromRow(row)
    },
    undos: async ({ limit }) =>
      all(`SELECT * FROM undos WHERE ${readableCondition('undos')} ORDER BY n DESC LIMIT ?`, limit).map(undoFromRow),
    unfinishedUndos: async () =>
      all(`SELECT * FROM undos WHERE status = 'running' AND ${readableCondition('undos')} ORDER BY n`).map(undoFromRow),
  }
}
