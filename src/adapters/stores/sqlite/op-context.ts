/** Types and helpers of functions that apply an op to the tables. */

import type { Op, OpResults } from '../../../ports/store.ts'
import type { EncodedOp } from './encode-batch.ts'
import { RefusedBatch, type Sql } from './refuse-batch.ts'

/** The dispatch that a batch holds by its fence, and its session. `dispatch` and `session` are row numbers. */
export interface HeldDispatch {
  readonly dispatch: number
  readonly session: number
  readonly session_id: string
}

export type ApplyOp<K extends Op['op']> = (
  sql: Sql,
  op: Extract<EncodedOp, { op: K }>,
  held: HeldDispatch | undefined,
) => OpResults[K]

export function requireHeldDispatch(held: HeldDispatch | undefined, op: string): HeldDispatch {
  if (!held) throw new RefusedBatch('store_fenced', `${op} needs a fence for its dispatch`)
  return held
}

export function findSessionNumber(sql: Sql, session_id: string): number {
  const row = sql('SELECT n FROM sessions WHERE session_id = ?').get(session_id)
  if (!row) throw new RefusedBatch('not_found', `unknown session ${session_id}`)
  return Number(row.n)
}
