/**
 * Spending in PostgreSQL. The ops of a group are applied at its end, all at once: caps are checked under a lock that
 * other processes wait for until the group is committed.
 */

import type { Cap, CapScope, CapUnit } from '../../../domain/money.ts'
import type { Spender } from '../../../ports/store/spending.ts'
import type { Op, OpResults } from '../../../ports/store.ts'
import type { SqlRow } from '../rows/rows.ts'
import { SPEND_AMOUNTS, SPEND_KEYS, spenderFromRow } from '../rows/spend-rows.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, sendLast, takeSpendLock } from './op-context.ts'

export type SpendOp = Extract<Op, { op: 'reserve' | 'spent' | 'unspent' }>
type Reserve = Extract<Op, { op: 'reserve' }>
type Account = Omit<Spender, 'dispatch_id'>
type Amounts = Partial<Record<'usd' | 'reserved' | 'calls' | 'input' | 'output' | 'cached', number>>

interface Reservation extends Spender {
  readonly id: string
  readonly usd: number
}

/** What counted against a cap before this group. */
interface Used {
  readonly used: number
  readonly reserved: number
}

/** What the ops change, in memory, until they are written. */
interface Ledger {
  /** Reservations of earlier groups that these ops settle, and those that these ops make. */
  readonly open: Map<string, Reservation>
  readonly made: Set<string>
  readonly changes: { readonly account: Account; readonly amounts: Amounts }[]
  readonly usedBefore: ReadonlyMap<string, Used>
}

/** Contract: applies the ops in order; the results as in the port. Its last statements are returned as `written`. */
export async function applySpending(
  db: Queries,
  ops: readonly SpendOp[],
): Promise<{ readonly results: readonly unknown[]; readonly written: Promise<unknown> }> {
  const ledger = await openLedger(db, ops)
  const results = ops.map((op) => (op.op === 'reserve' ? reserveIn(ledger, op) : settleIn(ledger, op)))
  return { results, written: sendLast(writeLedger(db, ledger)) }
}

const one =
  <K extends SpendOp['op']>(): ApplyPgOp<K> =>
  async (db, op) => {
    const { results, written } = await applySpending(db, [op as unknown as SpendOp])
    await written
    return results[0] as OpResults[K]
  }

export const spendOps = { reserve: one<'reserve'>(), spent: one<'spent'>(), unspent: one<'unspent'>() }

/** An unreadable reservation stays where it is. */
const TAKE_RESERVATIONS = `DELETE FROM reservations WHERE (id = ANY ($1::text[]) OR dispatch_id = ANY ($2::text[]))
  AND usd BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER} RETURNING *`

/** The statements are sent together: the database applies them one after the other, the first takes the lock. */
async function openLedger(db: Queries, ops: readonly SpendOp[]): Promise<Ledger> {
  const reserves = ops.filter((op): op is Reserve => op.op === 'reserve')
  const caps = new Map(reserves.flatMap((op) => op.caps.map((cap) => [capKey(cap, op), { cap, op }] as const)))
  const lock = caps.size > 0 ? takeSpendLock(db) : undefined
  const taken = db.all(
    TAKE_RESERVATIONS,
    ops.filter(({ op }) => op !== 'reserve').map(({ id }) => id),
    reserves.map(({ dispatch_id }) => dispatch_id),
  )
  const used = [...caps].map(async ([key, { cap, op }]) => [key, await readUsed(db, cap, op)] as const)
  const [, rows, ...usedBefore] = await Promise.all([lock, taken, ...used])
  return {
    open: new Map(rows.map((row) => [String(row.id), reservationFromRow(row)])),
    ...{ made: new Set(), changes: [], usedBefore: new Map(usedBefore) },
  }
}

const reservationFromRow = (row: SqlRow): Reservation => ({
  ...{ ...spenderFromRow(row), id: String(row.id), dispatch_id: String(row.dispatch_id), usd: Number(row.usd) },
})

function reserveIn(ledger: Ledger, op: Reserve): OpResults['reserve'] {
  for (const left of [...ledger.open.values()].filter(({ dispatch_id }) => dispatch_id === op.dispatch_id)) {
    ledger.open.delete(left.id)
    ledger.changes.push({ account: left, amounts: { usd: left.usd, reserved: -left.usd } })
  }
  for (const cap of op.caps) {
    const { used, reserved } = usedNow(ledger, cap, op)
    const amount = cap.unit === 'usd' ? op.usd : 1
    // A free call never exceeds a cap.
    if (amount > 0 && used + amount > cap.limit) return { refused: { cap, used, reserved } }
  }
  ledger.changes.push({ account: op, amounts: { reserved: op.usd, calls: 1 } })
  ledger.open.set(op.id, op)
  ledger.made.add(op.id)
  return { refused: null }
}

function settleIn({ open, changes }: Ledger, op: Exclude<SpendOp, Reserve>): null {
  const reservation = open.get(op.id)
  open.delete(op.id)
  const released = reservation ? { reserved: -reservation.usd } : { calls: 1 }
  if (op.op === 'spent') {
    const { input_tokens: input, output_tokens: output, cached_tokens: cached } = op.usage
    changes.push({ account: reservation ?? op, amounts: { usd: op.usd, input, output, cached, ...released } })
  } else if (reservation) changes.push({ account: reservation, amounts: released })
  return null
}

const IN_SCOPE: Readonly<Record<CapScope, (account: Account, spender: Account) => boolean>> = {
  day: (a, b) => a.day === b.day,
  agent: (a, b) => a.day === b.day && a.kernel_id === b.kernel_id && a.agent_id === b.agent_id,
  kernel: (a, b) => a.day === b.day && a.kernel_id === b.kernel_id,
  month: (a, b) => a.day.slice(0, 8) === b.day.slice(0, 8),
}

const OF_UNIT: Readonly<Record<CapUnit, (amounts: Amounts) => number>> = {
  usd: ({ usd = 0, reserved = 0 }) => usd + reserved,
  calls: ({ calls = 0 }) => calls,
  tokens: ({ input = 0, output = 0 }) => input + output,
}

function usedNow({ usedBefore, changes }: Ledger, cap: Cap, op: Reserve): Used {
  const before = usedBefore.get(capKey(cap, op)) ?? { used: 0, reserved: 0 }
  const since = changes.filter(({ account }) => IN_SCOPE[cap.scope](account, op)).map(({ amounts }) => amounts)
  return {
    used: before.used + since.reduce((sum, amounts) => sum + OF_UNIT[cap.unit](amounts), 0),
    reserved: before.reserved + since.reduce((sum, { reserved = 0 }) => sum + reserved, 0),
  }
}

const capKey = ({ scope, unit }: Cap, { day, kernel_id, agent_id }: Account): string =>
  JSON.stringify([scope, unit, day, kernel_id, agent_id])

const COLUMN_OF = ['usd', 'reserved', 'calls', 'input', 'output', 'cached'] as const

async function writeLedger(db: Queries, { open, made, changes }: Ledger): Promise<unknown> {
  const sums = new Map<string, { readonly account: Account; readonly amounts: number[] }>()
  for (const { account, amounts } of changes) {
    const key = JSON.stringify([account.day, account.kernel_id, account.agent_id, account.model])
    const sum = sums.get(key) ?? { account, amounts: COLUMN_OF.map(() => 0) }
    for (const [i, name] of COLUMN_OF.entries()) sum.amounts[i] = (sum.amounts[i] ?? 0) + (amounts[name] ?? 0)
    sums.set(key, sum)
  }
  // In one order, so that two processes cannot wait for each other.
  const rows = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
  const kept = [...made].flatMap((id) => open.get(id) ?? [])
  return Promise.all([rows.length > 0 && addAll(db, rows), kept.length > 0 && insertReservations(db, kept)])
}

const insertReservations = (db: Queries, kept: readonly Reservation[]): Promise<number> =>
  db.run(
    `INSERT INTO reservations (id, dispatch_id, day, kernel_id, agent_id, model, usd)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])`,
    ...(['id', 'dispatch_id', 'day', 'kernel_id', 'agent_id', 'model', 'usd'] as const).map((name) =>
      kept.map((reservation) => reservation[name]),
    ),
  )

/** Limits a sum to the largest safe integer; every cap is reached long before that. */
const cappedSum = (column: string): string => `${column} = ${capped(`s.${column} + excluded.${column}`)}`

const capped = (amount: string): string => `least(${amount}, ${Number.MAX_SAFE_INTEGER})`

const ADD_ALL = `INSERT INTO spend AS s (day, kernel_id, agent_id, model, ${SPEND_AMOUNTS.join(', ')})
  SELECT day, kernel_id, agent_id, model, ${SPEND_AMOUNTS.map(capped).join(', ')}
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::bigint[]) AS u (day, kernel_id, agent_id, model, ${SPEND_AMOUNTS.join(', ')})
  ON CONFLICT (day, kernel_id, agent_id, model) DO UPDATE SET ${SPEND_AMOUNTS.map(cappedSum).join(', ')}`

function addAll(
  db: Queries,
  rows: readonly { readonly account: Account; readonly amounts: readonly number[] }[],
): Promise<number> {
  const names = (['day', 'kernel_id', 'agent_id', 'model'] as const).map((name) =>
    rows.map(({ account }) => account[name]),
  )
  const amounts = COLUMN_OF.map((_, i) => rows.map((row) => row.amounts[i] ?? 0))
  return db.run(ADD_ALL, ...names, ...amounts)
}

const SCOPES: Readonly<Record<CapScope, string>> = {
  day: 'day = $1 AND $2::text IS NOT NULL AND $3::text IS NOT NULL',
  agent: 'day = $1 AND kernel_id = $2 AND agent_id = $3',
  kernel: 'day = $1 AND kernel_id = $2 AND $3::text IS NOT NULL',
  month: `day BETWEEN substr($1, 1, 8) || '01' AND substr($1, 1, 8) || '31' AND $2::text IS NOT NULL
    AND $3::text IS NOT NULL`,
}

/**
 * SQL for the amount that counts towards a cap of this unit. Negative amounts count as zero, so that they do not allow
 * more spending.
 */
const UNITS: Readonly<Record<CapUnit, string>> = {
  usd: 'greatest(usd, 0)::float8 + greatest(reserved, 0)::float8',
  calls: 'greatest(calls, 0)::float8',
  tokens: 'greatest(input_tokens, 0)::float8 + greatest(output_tokens, 0)::float8',
}

async function readUsed(db: Queries, { scope, unit }: Cap, { day, kernel_id, agent_id }: Account): Promise<Used> {
  const sums = `coalesce(sum(${UNITS[unit]}), 0) AS used, coalesce(sum(reserved::float8), 0) AS reserved`
  const row = await db.get(`SELECT ${sums} FROM spend WHERE ${SCOPES[scope]}`, day, kernel_id, agent_id)
  return { used: Number(row?.used ?? 0), reserved: Number(row?.reserved ?? 0) }
}

/** All amounts are counts: the check of readable rows in plain SQL, because a year has very many rows. */
const COUNTS_ONLY = `(${SPEND_AMOUNTS.join(' | ')}) BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`

export const sumSpendQuery = (by: keyof typeof SPEND_KEYS): string =>
  `SELECT day, ${SPEND_KEYS[by]} AS key, ${SPEND_AMOUNTS.map((name) => `sum(${name}::float8) AS ${name}`).join()}
   FROM spend WHERE day BETWEEN $1 AND $2 AND ${COUNTS_ONLY} GROUP BY 1, 2 ORDER BY 1, 2`
