/** Table operations on undos. */

import { RefusedBatch } from '../refuse-batch.ts'
import { withEnd, withStop } from '../rows/undo-shape.ts'
import type { ApplyOp } from './op-context.ts'
import type { Sql } from './sql.ts'

export const beginUndo: ApplyOp<'undo_begin'> = (sql, { undo, now }) => {
  const { id, target, ...body } = undo
  if (sql('SELECT id FROM undos WHERE id = ?').get(id)) throw new RefusedBatch('conflict', `undo ${id} is known`)
  sql("INSERT INTO undos (id, target, status, body, created_at) VALUES (?, ?, 'running', ?, ?)").run(
    ...[id, target, JSON.stringify(body), now],
  )
  return null
}

export const stopUndo: ApplyOp<'undo_stop'> = (sql, op) => {
  sql('UPDATE undos SET body = ? WHERE id = ?').run(withStop(runningBody(sql, op.id), op), op.id)
  return null
}

export const endUndo: ApplyOp<'undo_end'> = (sql, op) => {
  const { id, how, now } = op
  const body = withEnd(runningBody(sql, id), op)
  sql('UPDATE undos SET status = ?, body = ?, ended_at = ? WHERE id = ?').run(how, body, now, id)
  return null
}

function runningBody(sql: Sql, id: string): string {
  const row = sql("SELECT body FROM undos WHERE id = ? AND status = 'running'").get(id)
  if (!row) throw new RefusedBatch('not_found', `no unfinished undo ${id}`)
  return String(row.body)
}
