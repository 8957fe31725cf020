/**
 * Table operations on spend: totals per day, agent and model, and reservations for model calls that have no answer yet.
 */

import type { Cap, CapScope, CapUnit, SpendGroup } from '../../../domain/money.ts'
import type { Spender } from '../../../ports/store/spending.ts'
import type { Op, OpResults } from '../../../ports/store.ts'
import type { SqlRow } from '../rows/rows.ts'
import { SPEND_AMOUNTS, SPEND_KEYS, spenderFromRow } from '../rows/spend-rows.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

type Reserve = Extract<Op, { op: 'reserve' }>
type Spent = Extract<Op, { op: 'spent' }>

export function reserveSpend(sql: Sql, op: Reserve): OpResults['reserve'] {
  for (const row of sql(RESERVATIONS_OF).all(op.dispatch_id) as SqlRow[]) {
    addToSpend(sql, spenderFromRow(row), { usd: Number(row.usd), reserved: -Number(row.usd) })
    sql(DELETE_RESERVATION).run(String(row.id))
  }
  for (const cap of op.caps) {
    const { used, reserved } = readUsage(sql, cap, op)
    const amount = cap.unit === 'usd' ? op.usd : 1
    // A free call never exceeds a cap.
    if (amount > 0 && used + amount > cap.limit) return { refused: { cap, used, reserved } }
  }
  addToSpend(sql, op, { reserved: op.usd, calls: 1 })
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

export function settleSpend(sql: Sql, op: Spent): OpResults['spent'] {
  const { usd, usage } = op
  const row = takeReservation(sql, op.id)
  const { input_tokens: input, output_tokens: output, cached_tokens: cached } = usage
  addToSpend(sql, row ? spenderFromRow(row) : op, {
    ...{ usd, input, output, cached },
    ...(row ? { reserved: -Number(row.usd) } : { calls: 1 }),
  })
  return null
}

export function releaseSpend(sql: Sql, { id }: Extract<Op, { op: 'unspent' }>): OpResults['unspent'] {
  const row = takeReservation(sql, id)
  if (row) addToSpend(sql, spenderFromRow(row), { reserved: -Number(row.usd) })
  return null
}

// The SQL texts are built once, because some of them run in every step.
const RESERVATIONS_OF = `SELECT * FROM reservations WHERE dispatch_id = ? AND ${readableCondition('reservations')}`
const RESERVATION = `SELECT * FROM reservations WHERE id = ? AND ${readableCondition('reservations')}`
const DELETE_RESERVATION = 'DELETE FROM reservations WHERE id = ?'

function takeReservation(sql: Sql, id: string): SqlRow | undefined {
  const row = sql(RESERVATION).get(id) as SqlRow | undefined
  if (row) sql(DELETE_RESERVATION).run(id)
  return row
}

type Amounts = Partial<Record<'usd' | 'reserved' | 'calls' | 'input' | 'output' | 'cached', number>>

function addToSpend(
  sql: Sql,
  { day, kernel_id, agent_id, model }: Omit<Spender, 'dispatch_id'>,
  amounts: Amounts,
): void {
  const { usd = 0, reserved = 0, calls = 0, input = 0, output = 0, cached = 0 } = amounts
  sql(ADD_TO_SPEND).run(day, kernel_id, agent_id, model, usd, reserved, calls, input, output, cached)
}

/** Limits a sum to the largest safe integer; every cap is reached long before that. */
const cappedSum = (column: string, n: number): string => `min(${column} + ?${n}, ${Number.MAX_SAFE_INTEGER})`

const ADD_TO_SPEND = `INSERT INTO spend VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO UPDATE
  SET usd = ${cappedSum('usd', 5)},
   reserved = ${cappedSum('reserved', 6)}, calls = calls + ?7, input_tokens = ${cappedSum('input_tokens', 8)},
   output_tokens = ${cappedSum('output_tokens', 9)}, cached_tokens = ${cappedSum('cached_tokens', 10)}`

const SCOPES: Readonly<Record<CapScope, string>> = {
  day: 'day = ?1 AND ?2 = ?2 AND ?3 = ?3',
  agent: 'day = ?1 AND kernel_id = ?2 AND agent_id = ?3',
  kernel: 'day = ?1 AND kernel_id = ?2 AND ?3 = ?3',
  month: "day BETWEEN substr(?1, 1, 8) || '01' AND substr(?1, 1, 8) || '31' AND ?2 = ?2 AND ?3 = ?3",
}

/**
 * SQL for the amount that counts towards a cap of this unit. Negative amounts count as zero, so that they do not allow
 * more spending.
 */
const UNITS: Readonly<Record<CapUnit, string>> = {
  usd: 'max(usd, 0) + max(reserved, 0)',
  calls: 'max(calls, 0)',
  tokens: 'max(input_tokens, 0) + max(output_tokens, 0)',
}

function readUsage(
  sql: Sql,
  { scope, unit }: Cap,
  { day, kernel_id, agent_id }: Spender,
): { used: number; reserved: number } {
  // Uses total(), because sum() fails on 64-bit overflow.
  const sums = `total(${UNITS[unit]}) AS used, total(reserved) AS reserved`
  const row = sql(`SELECT ${sums} FROM spend WHERE ${SCOPES[scope]}`).get(day, kernel_id, agent_id)
  return { used: Number(row?.used ?? 0), reserved: Number(row?.reserved ?? 0) }
}

export const SPEND_QUERY =
  'SELECT * FROM spend WHERE day BETWEEN ? AND ? AND ' +
  `${readableCondition('spend')} ORDER BY day, kernel_id, agent_id, ` +
  'model'

/** All amounts are counts: the readable condition in plain SQL, because a year has very many rows. */
const COUNTS_ONLY = `(${SPEND_AMOUNTS.join(' | ')}) BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`

export const sumQuery = (by: SpendGroup): string =>
  `SELECT day, ${SPEND_KEYS[by]} AS key, ${SPEND_AMOUNTS.map((name) => `total(${name}) AS ${name}`).join()}
   FROM spend WHERE day BETWEEN ? AND ? AND ${COUNTS_ONLY} GROUP BY 1, 2 ORDER BY 1, 2`
