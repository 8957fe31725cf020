/**
 * The one writer: applies a group of batches in one transaction, a savepoint per batch, so that a refused batch fails alone while
 * the others share the fsync. Knows nothing of threads; the simulator uses it as it is.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import type { Fence, Outcome } from '../../../ports/store.ts'
import type { Held } from './apply.ts'
import { storeFailed } from './connection.ts'
import type { Written, WrittenBatch } from './encode.ts'
import { appendFenced } from './journal.ts'
import { OPS, type Ops } from './ops.ts'
import { Refused, type Sql } from './refused.ts'

export interface Writer {
  /** Contract: all outcomes are on disk when it returns; throws `store_failed` when they cannot be. */
  apply(batches: readonly WrittenBatch[]): Outcome[]
  close(): void
}

/** Applies groups one after the other, wherever the writer lives. */
export interface GroupWriter {
  apply(batches: readonly WrittenBatch[]): Promise<readonly Outcome[]>
  close(): Promise<void>
}

/** `ops` can be replaced, because the simulator has to catch broken ones; a lone append does not come by the table. */
export function createWriter(db: DatabaseSync, ops: Ops = OPS): Writer {
  const statements = new Map<string, StatementSync>()
  const sql: Sql = (text) => {
    const known = statements.get(text)
    if (known) return known
    const made = db.prepare(text)
    statements.set(text, made)
    return made
  }
  return {
    apply: (batches) => applyGroup(sql, ops, batches),
    close: () => db.close(),
  }
}

function applyGroup(sql: Sql, ops: Ops, batches: readonly WrittenBatch[]): Outcome[] {
  try {
    sql('BEGIN IMMEDIATE').run()
    const outcomes = batches.map((batch) => applyBatch(sql, ops, batch))
    sql('COMMIT').run()
    return outcomes
  } catch (cause) {
    throw storeFailed('the store cannot commit', cause)
  }
}

function applyBatch(sql: Sql, ops: Ops, batch: WrittenBatch): Outcome {
  const { fence, ops: wanted, refused } = batch
  if (refused !== undefined) return invalid(refused)
  const [first] = wanted
  if (fence && first?.op === 'append' && wanted.length === 1) {
    const head = appendFenced(sql, fence, first)
    if (head !== undefined) return { ok: true, results: [{ head }] }
  }
  sql('SAVEPOINT batch').run()
  try {
    const held = batch.fence ? checkFence(sql, batch.fence) : undefined
    const results = batch.ops.map((op) => applyOp(sql, ops, op, held))
    sql('RELEASE batch').run()
    return { ok: true, results }
  } catch (thrown) {
    const outcome = refusalOf(thrown)
    if (!outcome) throw thrown
    sql('ROLLBACK TO batch').run()
    sql('RELEASE batch').run()
    return outcome
  }
}

const invalid = (why: string): Outcome => ({
  ok: false,
  code: 'store_invalid',
  message: `the store cannot keep this: ${why}`,
})

/** Of SQLite: too big, constraint, mismatch, range. It refuses the statement and is none the worse for it. */
const REFUSED_BY_SQLITE: ReadonlySet<number> = new Set([18, 19, 20, 25])

/** Undefined: the store itself has failed. A value of the wrong type, on its way in or out, has not broken it. */
function refusalOf(thrown: unknown): Outcome | undefined {
  if (thrown instanceof Refused) return { ok: false, code: thrown.code, message: thrown.message }
  if (!(thrown instanceof Error)) return undefined
  const { errcode } = thrown as { readonly errcode?: number }
  const isOfValue = thrown instanceof TypeError || thrown instanceof RangeError || thrown instanceof SyntaxError
  const isRefused = errcode === undefined ? isOfValue : REFUSED_BY_SQLITE.has(errcode & 0xff)
  return isRefused ? invalid(thrown.message) : undefined
}

function checkFence(sql: Sql, fence: Fence): Held {
  const row = sql(
    `SELECT d.n, d.session, d.status, d.token, s.session_id
     FROM dispatches d JOIN sessions s ON s.n = d.session WHERE d.dispatch_id = ?`,
  ).get(fence.dispatch_id)
  if (row?.status === 'running' && row.token === fence.token)
    return { dispatch: Number(row.n), session: Number(row.session), session_id: String(row.session_id) }
  throw new Refused(
    'store_fenced',
    `dispatch ${fence.dispatch_id} is no longer held under token ${fence.token} (${row ? `${row.status}, token ${row.token}` : 'no such dispatch'})`,
  )
}

function applyOp(sql: Sql, ops: Ops, op: Written, held: Held | undefined): unknown {
  const apply = ops[op.op] as ((sql: Sql, op: Written, held: Held | undefined) => unknown) | undefined
  if (!apply) throw new TirelessError('internal', `unknown store op ${String(op.op)}`)
  return apply(sql, op, held)
}
