/** How an op is applied: through prepared statements, by whoever has proved to hold its dispatch. */

import type { Op, Results } from '../../../ports/store.ts'
import type { Written } from './encode.ts'
import { Refused, type Sql } from './refused.ts'

/** The dispatch and session that a fenced batch has proved it holds. */
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
  if (!held) throw new Refused('store_fenced', `${op} needs the fence of the dispatch it is about`)
  return held
}

export function sessionNumber(sql: Sql, session_id: string): number {
  const row = sql('SELECT n FROM sessions WHERE session_id = ?').get(session_id)
  if (!row) throw new Refused('not_found', `no session has the id ${session_id}`)
  return Number(row.n)
}
