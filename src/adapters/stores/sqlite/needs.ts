/** Table operations on needs. Of all needs with the same `same_as`, at most one is open. */

import { RefusedBatch } from '../refuse-batch.ts'
import type { ApplyOp } from './op-context.ts'

export const openNeed: ApplyOp<'need_open'> = (sql, { need, now }) => {
  const { id, kind, same_as, ...rest } = need
  const body = JSON.stringify(rest)
  const known = sql("SELECT id FROM needs WHERE id = ?1 OR (same_as = ?2 AND status = 'open') ORDER BY id = ?1 DESC")
  const found = known.get(id, same_as)
  if (found) {
    const changed = "UPDATE needs SET kind = ?, body = ? WHERE same_as = ? AND status = 'open' AND body <> ?"
    if (found.id !== id) sql(changed).run(kind, body, same_as, body)
    return { id: String(found.id), opened: false }
  }
  const insert = "INSERT INTO needs (id, kind, same_as, status, body, asked_at) VALUES (?, ?, ?, 'open', ?, ?)"
  sql(insert).run(id, kind, same_as, body, now)
  return { id, opened: true }
}

export const answerNeed: ApplyOp<'need_answer'> = (sql, { id, answer, now }) => {
  const row = sql('SELECT status FROM needs WHERE id = ?').get(id)
  if (!row) throw new RefusedBatch('not_found', `there is no need with the id ${id}`)
  if (row.status !== 'open') throw new RefusedBatch('conflict', `${id} is already ${row.status}`)
  const update = "UPDATE needs SET status = 'answered', answer = ?, ended_at = ? WHERE id = ?"
  sql(update).run(JSON.stringify(answer), now, id)
  return null
}

export const withdrawNeed: ApplyOp<'need_withdraw'> = (sql, { same_as, now }) => {
  const update = "UPDATE needs SET status = 'withdrawn', ended_at = ? WHERE same_as = ? AND status = 'open'"
  return { withdrawn: Number(sql(update).run(now, same_as).changes) > 0 }
}
