/**
 * The writer: applies a group of batches in one transaction with a savepoint per batch, so that a refused batch fails
 * alone. It does not know about threads; the simulator uses it unchanged.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import { SET_ASIDE_REMEDY } from '../../../domain/unreadable-row.ts'
import type { BatchOutcome, Fence } from '../../../ports/store.ts'
import type { EncodedBatch, EncodedOp } from '../encode-batch.ts'
import { type HeldDispatch, staleFence } from '../held-dispatch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { NewPosition } from './commit-notes.ts'
import { COMMIT_COUNT, storeFailedError } from './connection.ts'
import { appendFenced } from './journal.ts'
import { OP_TABLE, type OpTable } from './ops.ts'
import { addReadableFunctions, isOutOfRange } from './readable-functions.ts'
import type { Sql } from './sql.ts'
import { requireLeader } from './workers.ts'

export interface Writer {
  /** Contract: all outcomes are on disk when this returns; throws `store_failed` otherwise. */
  apply(batches: readonly EncodedBatch[]): AppliedGroup
  close(): void
}

export interface AppliedGroup {
  readonly outcomes: readonly BatchOutcome[]
  /** Where the database is after the group; undefined if nothing changed. */
  readonly position: NewPosition | undefined
}

/** Applies groups one after the other, in this thread or another. */
export interface GroupWriter {
  apply(batches: readonly EncodedBatch[]): Promise<AppliedGroup>
  close(): Promise<void>
}

/**
 * `ops`: replaced by the simulator to test broken ops. An append at the start of a fenced batch may bypass this table.
 */
export function createWriter(db: DatabaseSync, ops: OpTable = OP_TABLE): Writer {
  addReadableFunctions(db)
  const statements = new Map<string, StatementSync>()
  const sql: Sql = (text) => {
    const existing = statements.get(text)
    if (existing) return existing
    const prepared = db.prepare(text)
    statements.set(text, prepared)
    return prepared
  }
  return {
    apply: (batches) => applyGroup(sql, ops, batches),
    close: () => db.close(),
  }
}

interface Progress {
  /** The last journal entry of the transaction. */
  entry: number | undefined
  /** The connection's change count before the first batch that adds no journal entry. */
  before: number | undefined
}

/** Ops that may delete the last journal entries. */
const SHRINKING_OPS: ReadonlySet<EncodedOp['op']> = new Set(['prune', 'set_aside'])

function applyGroup(sql: Sql, ops: OpTable, batches: readonly EncodedBatch[]): AppliedGroup {
  try {
    sql('BEGIN IMMEDIATE').run()
    const progress: Progress = { entry: undefined, before: undefined }
    const outcomes = batches.map((batch) => applyBatch(sql, ops, batch, progress))
    const moved = countCommit(sql, batches, progress)
    sql('COMMIT').run()
    return { outcomes, position: moved }
  } catch (cause) {
    throw storeFailedError('the store cannot commit', cause)
  }
}

/**
 * Contract: the position after this commit; undefined if nothing changed. A commit without changes must not be counted:
 * the new count would itself be a change.
 */
function countCommit(sql: Sql, batches: readonly EncodedBatch[], { entry, before }: Progress): NewPosition | undefined {
  const mayShrink = batches.some(({ ops }) => ops.some(({ op }) => SHRINKING_OPS.has(op)))
  // The new journal entry identifies the commit, so most commits need no counter, which would write one more page.
  if (entry !== undefined && !mayShrink) return { entry }
  if (before === undefined || countChanges(sql) === before) return undefined
  const row = sql(`UPDATE commits SET n = ${COMMIT_COUNT} + 1 RETURNING n, (SELECT max(n) FROM journal) AS entry`).get()
  return row && { count: Number(row.n), entry: Number(row.entry ?? 0) }
}

const readLastEntry = (sql: Sql): number => Number(sql('SELECT max(n) AS n FROM journal').get()?.n)
const countChanges = (sql: Sql): number => Number(sql('SELECT total_changes() AS n').get()?.n)

function applyBatch(sql: Sql, ops: OpTable, batch: EncodedBatch, progress: Progress): BatchOutcome {
  const { fence, leader, ops: batchOps, refusal: refused } = batch
  if (refused !== undefined) return invalidValue(refused)
  const [first] = batchOps
  if (fence && !leader && first?.op === 'append' && batchOps.length === 1) {
    const appended = appendFenced(sql, fence, first)
    if (appended) {
      progress.entry = appended.entry
      return { ok: true, results: [{ head: appended.head }] }
    }
  }
  const hasAppend = batchOps.some(({ op }) => op === 'append')
  if (!hasAppend) progress.before ??= countChanges(sql)
  sql('SAVEPOINT batch').run()
  try {
    const { results, entry } = applyOps(sql, ops, batch)
    sql('RELEASE batch').run()
    if (hasAppend) progress.entry = entry ?? readLastEntry(sql)
    return { ok: true, results }
  } catch (thrown) {
    const outcome = toRefusal(thrown)
    if (!outcome) throw thrown
    sql('ROLLBACK TO batch').run()
    sql('RELEASE batch').run()
    return outcome
  }
}

/** Ops that most steps contain and that do not need the dispatch of the fence. */
const OPS_WITHOUT_DISPATCH: ReadonlySet<EncodedOp['op']> = new Set(['audit', 'reserve', 'spent', 'unspent'])

/** `entry`: number of the new journal entry, if known here. */
function applyOps(
  sql: Sql,
  ops: OpTable,
  { fence, leader, ops: batchOps }: EncodedBatch,
): { readonly results: readonly unknown[]; readonly entry?: number } {
  if (leader) requireLeader(sql, leader)
  const [first, ...others] = batchOps
  if (fence && first?.op === 'append' && others.every(({ op }) => OPS_WITHOUT_DISPATCH.has(op))) {
    const appended = appendFenced(sql, fence, first)
    if (appended) {
      const { head, entry } = appended
      return { results: [{ head }, ...others.map((op) => applyOp(sql, ops, op, undefined))], entry }
    }
  }
  const held = fence ? checkFence(sql, fence) : undefined
  return { results: batchOps.map((op) => applyOp(sql, ops, op, held)) }
}

const invalidValue = (why: string): BatchOutcome => ({
  ok: false,
  code: 'store_invalid',
  message: `the store cannot store this value: ${why}`,
})

/** SQLite errors that refuse only the statement: too big, constraint, mismatch, range. */
const SQLITE_REFUSALS: ReadonlySet<number> = new Set([18, 19, 20, 25])

/**
 * Contract: the outcome of a refused batch; undefined if the store itself failed. A value of the wrong type only
 * refuses the batch.
 */
function toRefusal(thrown: unknown): BatchOutcome | undefined {
  if (thrown instanceof RefusedBatch) return { ok: false, code: thrown.code, message: thrown.message }
  if (!(thrown instanceof Error)) return undefined
  const { errcode } = thrown as { readonly errcode?: number }
  // These errors come from reading: the program writes neither invalid JSON nor integers beyond the safe range.
  if (thrown instanceof SyntaxError || isOutOfRange(thrown))
    return {
      ok: false,
      code: 'row_unreadable',
      message: `a stored row cannot be read: ${thrown.message}; do this: ${SET_ASIDE_REMEDY}`,
    }
  const isValueError = thrown instanceof TypeError || thrown instanceof RangeError
  const isRefused = errcode === undefined ? isValueError : SQLITE_REFUSALS.has(errcode & 0xff)
  return isRefused ? invalidValue(thrown.message) : undefined
}

function checkFence(sql: Sql, fence: Fence): HeldDispatch {
  const row = sql(
    `SELECT d.n, d.session, d.status, d.token, s.session_id
     FROM dispatches d JOIN sessions s ON s.n = d.session WHERE d.dispatch_id = ?`,
  ).get(fence.dispatch_id)
  if (row?.status === 'running' && row.token === fence.token)
    return { dispatch: Number(row.n), session: Number(row.session), session_id: String(row.session_id) }
  throw staleFence(fence, row)
}

function applyOp(sql: Sql, ops: OpTable, op: EncodedOp, held: HeldDispatch | undefined): unknown {
  const apply = ops[op.op] as ((sql: Sql, op: EncodedOp, held: HeldDispatch | undefined) => unknown) | undefined
  if (!apply) throw new TirelessError('internal', `unknown store op ${String(op.op)}`)
  return apply(sql, op, held)
}
