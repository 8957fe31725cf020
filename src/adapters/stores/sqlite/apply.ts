/** Types and helpers of functions that apply an op to the tables. */

import type { Op, Results } from '../../../ports/store.ts'
import type { Written } from './encode.ts'
import { Refused, type Sql } from './refused.ts'

/** The dispatch that a batch holds by its fence, and its session; numbers are row numbers. */
export interface Held {
  readonly dispatch: number
  readonly session: number
  readonly session_id: string
}

export type Apply<K extends Op['op']> = (
  sql: Sql,
  op: Extract<Written, { op: K }>,
  held: Held | undefined,
) => Results[K]

export function holding(held: Held | undefined, op: string): Held {
  if (!held) throw new Refused('store_fenced', `${op} needs a fence for its dispatch`)
  return held
}

export function sessionNumber(sql: Sql, session_id: string): number {
  const row = sql('SELECT n FROM sessions WHERE session_id = ?').get(session_id)
  if (!row) throw new Refused('not_found', `unknown session ${session_id}`)
  return Number(row.n)
}
