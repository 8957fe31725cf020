/** Table operations on undos. At most one is unfinished. */

import { RefusedBatch } from '../refuse-batch.ts'
import type { ApplyOp } from './op-context.ts'

export const beginUndo: ApplyOp<'undo_begin'> = (sql, { undo, now }) => {
  const { id, target, ...body } = undo
  const open = sql("SELECT id FROM undos WHERE status = 'running' OR id = ?").get(id)
  if (open) throw new RefusedBatch('conflict', `undo ${open.id} is not finished`)
  sql("INSERT INTO undos (id, target, status, body, created_at) VALUES (?, ?, 'running', ?, ?)").run(
    ...[id, target, JSON.stringify(body), now],
  )
  return null
}

export const endUndo: ApplyOp<'undo_end'> = (sql, { id, now }) => {
  const { changes } = sql("UPDATE undos SET status = 'done', ended_at = ? WHERE id = ? AND status = 'running'").run(
    ...[now, id],
  )
  if (Number(changes) === 0) throw new RefusedBatch('not_found', `no unfinished undo ${id}`)
  return null
}
