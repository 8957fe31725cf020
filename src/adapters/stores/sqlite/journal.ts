/** Table operations on the journal: one entry per commit and session, linked to the previous one. Gaps are refused. */

import type { Fence } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { type ApplyOp, findSessionNumber } from './op-context.ts'
import type { Sql } from './sql.ts'

export const appendRecords: ApplyOp<'append'> = (sql, op, held) => {
  if (held && held.session_id !== op.session_id)
    throw new RefusedBatch('store_fenced', `the fence belongs to another session than ${op.session_id}`)
  const session = held?.session ?? findSessionNumber(sql, op.session_id)
  const head = op.seq + op.count - 1
  sql(
    'INSERT INTO journal (session, seq, prev, body) VALUES (?1, ?2, (SELECT last FROM sessions WHERE n = ?1), ?3)',
  ).run(session, op.seq, op.body)
  const { changes } = sql('UPDATE sessions SET head = ?, last = last_insert_rowid() WHERE n = ? AND head = ?').run(
    head,
    session,
    op.seq - 1,
  )
  if (Number(changes) === 1) return { head }
  const found = sql('SELECT head FROM sessions WHERE n = ?').get(session)?.head
  throw new RefusedBatch(
    'store_sequence',
    `session ${op.session_id} ends at record ${found}; record ${op.seq} does not follow it`,
  )
}

/**
 * Fast path for a fenced append, the most common batch. Contract: returns undefined and writes nothing if any check
 * fails.
 */
export function appendFenced(
  sql: Sql,
  { dispatch_id, token }: Fence,
  { session_id, seq, count, body }: Parameters<typeof appendRecords>[1],
): { readonly head: number; readonly entry: number } | undefined {
  const { changes, lastInsertRowid } = sql(
    `INSERT INTO journal (session, seq, prev, body) SELECT s.n, ?1, s.last, ?2
     FROM dispatches d JOIN sessions s ON s.n = d.session
     WHERE d.dispatch_id = ?3 AND d.token = ?4 AND d.status = 'running' AND s.session_id = ?5 AND s.head = ?1 - 1`,
  ).run(seq, body, dispatch_id, token, session_id)
  if (Number(changes) !== 1) return undefined
  const head = seq + count - 1
  sql('UPDATE sessions SET head = ?1, last = ?2 WHERE n = (SELECT session FROM journal WHERE n = ?2)').run(
    head,
    lastInsertRowid,
  )
  return { head, entry: Number(lastInsertRowid) }
}
