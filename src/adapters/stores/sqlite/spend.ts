/** Money in the tables: a row for each day, agent and model; beside it what is set aside for calls that have no answer yet. */

import type { Cap, CapScope, CapUnit, Spend } from '../../../domain/money.ts'
import type { Op, Results, Spender } from '../../../ports/store.ts'
import type { Sql } from './refused.ts'
import type { Row } from './rows.ts'
import { readableRows } from './unreadable.ts'

type Reserve = Extract<Op, { op: 'reserve' }>
type Spent = Extract<Op, { op: 'spent' }>

export function reserveSpend(sql: Sql, op: Reserve): Results['reserve'] {
  for (const row of sql(`SELECT * FROM reservations WHERE dispatch_id = ? AND ${readableRows('reservations')}`).all(
    op.dispatch_id,
  ) as Row[]) {
    book(sql, spenderOf(row), { usd: Number(row.usd), reserved: -Number(row.usd) })
    sql('DELETE FROM reservations WHERE id = ?').run(String(row.id))
  }
  for (const cap of op.caps) {
    const { used, reserved } = usedUnder(sql, cap, op)
    const more = cap.unit === 'usd' ? op.usd : 1
    // A call that costs nothing is nobody's money.
    if (more > 0 && used + more > cap.limit) return { refused: { cap, used, reserved } }
  }
  book(sql, op, { reserved: op.usd, calls: 1 })
  sql('INSERT INTO reservations VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    op.id,
    op.dispatch_id,
    op.day,
    op.kernel_id,
    op.agent_id,
    op.model,
    op.usd,
  )
  return { refused: null }
}

export function settleSpend(sql: Sql, op: Spent): Results['spent'] {
  const { usd, usage } = op
  const row = taken(sql, op.id)
  const { input_tokens: input, output_tokens: output, cached_tokens: cached } = usage
  book(sql, row ? spenderOf(row) : op, {
    ...{ usd, input, output, cached },
    ...(row ? { reserved: -Number(row.usd) } : { calls: 1 }),
  })
  return null
}

export function releaseSpend(sql: Sql, { id }: Extract<Op, { op: 'unspent' }>): Results['unspent'] {
  const row = taken(sql, id)
  if (row) book(sql, spenderOf(row), { reserved: -Number(row.usd) })
  return null
}

function taken(sql: Sql, id: string): Row | undefined {
  return sql(`DELETE FROM reservations WHERE id = ? AND ${readableRows('reservations')} RETURNING *`).get(id) as
    | Row
    | undefined
}

type Booked = Partial<Record<'usd' | 'reserved' | 'calls' | 'input' | 'output' | 'cached', number>>

function book(sql: Sql, { day, kernel_id, agent_id, model }: Omit<Spender, 'dispatch_id'>, booked: Booked): void {
  const { usd = 0, reserved = 0, calls = 0, input = 0, output = 0, cached = 0 } = booked
  sql(
    `INSERT INTO spend VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO UPDATE SET usd = ${plus('usd', 5)},
       reserved = ${plus('reserved', 6)}, calls = calls + ?7, input_tokens = ${plus('input_tokens', 8)},
       output_tokens = ${plus('output_tokens', 9)}, cached_tokens = ${plus('cached_tokens', 10)}`,
  ).run(day, kernel_id, agent_id, model, usd, reserved, calls, input, output, cached)
}

/** A sum that grows past what can be read again stays at the most that can be: every cap is passed long before. */
const plus = (column: string, n: number): string => `min(${column} + ?${n}, ${Number.MAX_SAFE_INTEGER})`

const SCOPES: Readonly<Record<CapScope, string>> = {
  day: 'day = ?1 AND ?2 = ?2 AND ?3 = ?3',
  agent: 'day = ?1 AND kernel_id = ?2 AND agent_id = ?3',
  kernel: 'day = ?1 AND kernel_id = ?2 AND ?3 = ?3',
  month: "day BETWEEN substr(?1, 1, 8) || '01' AND substr(?1, 1, 8) || '31' AND ?2 = ?2 AND ?3 = ?3",
}

/** What is below zero was never spent, and must not make room for more. */
const UNITS: Readonly<Record<CapUnit, string>> = {
  usd: 'max(usd, 0) + max(reserved, 0)',
  calls: 'max(calls, 0)',
  tokens: 'max(input_tokens, 0) + max(output_tokens, 0)',
}

function usedUnder(
  sql: Sql,
  { scope, unit }: Cap,
  { day, kernel_id, agent_id }: Spender,
): { used: number; reserved: number } {
  // Not sum(): that fails where it grows past 64 bits.
  const sums = `total(${UNITS[unit]}) AS used, total(reserved) AS reserved`
  const row = sql(`SELECT ${sums} FROM spend WHERE ${SCOPES[scope]}`).get(day, kernel_id, agent_id)
  return { used: Number(row?.used ?? 0), reserved: Number(row?.reserved ?? 0) }
}

const spenderOf = ({ day, kernel_id, agent_id, model }: Row): Omit<Spender, 'dispatch_id'> => ({
  day: String(day),
  kernel_id: String(kernel_id),
  agent_id: String(agent_id),
  model: String(model),
})

export const SPEND = `SELECT * FROM spend WHERE day BETWEEN ? AND ? AND ${readableRows('spend')} ORDER BY day, kernel_id, agent_id, model`

export const spendOf = (row: Row): Spend => ({
  ...spenderOf(row),
  usd: Number(row.usd),
  reserved: Number(row.reserved),
  calls: Number(row.calls),
  input_tokens: Number(row.input_tokens),
  output_tokens: Number(row.output_tokens),
  cached_tokens: Number(row.cached_tokens),
})
