/** Operations on needs in PostgreSQL. Of all needs with the same `same_as`, at most one is open. */

import type { Op, OpResults } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, takeWideLock } from './op-context.ts'

const need_open: ApplyPgOp<'need_open'> = async (db, op) => {
  await takeWideLock(db)
  return upsertNeed(db, op)
}

type Opening = Pick<Extract<Op, { op: 'need_open' }>, 'need' | 'now'>

/** The caller holds the lock of wide operations. */
export async function upsertNeed(db: Queries, { need, now }: Opening): Promise<OpResults['need_open']> {
  const { id, kind, same_as, ...rest } = need
  const body = JSON.stringify(rest)
  const known = "SELECT id FROM needs WHERE id = $1 OR (same_as = $2 AND status = 'open') ORDER BY id = $1 DESC"
  const found = await db.get(known, id, same_as)
  if (found) {
    const changed = "UPDATE needs SET kind = $1, body = $2 WHERE same_as = $3 AND status = 'open' AND body <> $2"
    if (found.id !== id) await db.run(changed, kind, body, same_as)
    return { id: String(found.id), opened: false }
  }
  const insert = "INSERT INTO needs (id, kind, same_as, status, body, asked_at) VALUES ($1, $2, $3, 'open', $4, $5)"
  await db.run(insert, id, kind, same_as, body, now)
  return { id, opened: true }
}

const need_answer: ApplyPgOp<'need_answer'> = async (db, { id, answer, now }) => {
  const row = await db.get('SELECT status FROM needs WHERE id = $1 FOR UPDATE', id)
  if (!row) throw new RefusedBatch('not_found', `there is no need with the id ${id}`)
  if (row.status !== 'open') throw new RefusedBatch('conflict', `${id} is already ${row.status}`)
  const update = "UPDATE needs SET status = 'answered', answer = $1, ended_at = $2 WHERE id = $3"
  await db.run(update, JSON.stringify(answer), now, id)
  return null
}

const need_withdraw: ApplyPgOp<'need_withdraw'> = async (db, { same_as, now }) => {
  const update = "UPDATE needs SET status = 'withdrawn', ended_at = $1 WHERE same_as = $2 AND status = 'open'"
  return { withdrawn: (await db.run(update, now, same_as)) > 0 }
}

export const needOps = { need_open, need_answer, need_withdraw }
