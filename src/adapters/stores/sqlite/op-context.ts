/** Types and helpers of functions that apply an op to the tables. */

import type { Op, OpResults } from '../../../ports/store.ts'
import type { EncodedOp } from '../encode-batch.ts'
import type { HeldDispatch } from '../held-dispatch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { Sql } from './sql.ts'

export type ApplyOp<K extends Op['op']> = (
  sql: Sql,
  op: Extract<EncodedOp, { op: K }>,
  held: HeldDispatch | undefined,
) => OpResults[K]

export function findSessionNumber(sql: Sql, session_id: string): number {
  const row = sql('SELECT n FROM sessions WHERE session_id = ?').get(session_id)
  if (!row) throw new RefusedBatch('not_found', `unknown session ${session_id}`)
  return Number(row.n)
}
