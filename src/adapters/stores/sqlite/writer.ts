/**
 * The one writer: applies a group of batches in one transaction, a savepoint per batch, so that a refused batch fails alone while
 * the others share the fsync. Knows nothing of threads; the simulator uses it as it is.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import { SET_ASIDE_REMEDY } from '../../../domain/unreadable.ts'
import type { Fence, Outcome } from '../../../ports/store.ts'
import type { Held } from './apply.ts'
import type { MovedPosition } from './commit-notes.ts'
import { COMMITS, storeFailed } from './connection.ts'
import type { Written, WrittenBatch } from './encode.ts'
import { appendFenced } from './journal.ts'
import { OPS, type Ops } from './ops.ts'
import { Refused, type Sql } from './refused.ts'
import { addReadable, isOutOfRange } from './unreadable.ts'

export interface Writer {
  /** Contract: all outcomes are on disk when it returns; throws `store_failed` when they cannot be. */
  apply(batches: readonly WrittenBatch[]): Applied
  close(): void
}

export interface Applied {
  readonly outcomes: readonly Outcome[]
  /** Undefined where nothing has changed. */
  readonly moved: MovedPosition | undefined
}

/** Applies groups one after the other, wherever the writer lives. */
export interface GroupWriter {
  apply(batches: readonly WrittenBatch[]): Promise<Applied>
  close(): Promise<void>
}

/** `ops` can be replaced, because the simulator has to catch broken ones; a lone append does not come by the table. */
export function createWriter(db: DatabaseSync, ops: Ops = OPS): Writer {
  addReadable(db)
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

/** What a transaction has come to so far. */
interface Progress {
  /** The last entry that came to the journal. */
  entry: number | undefined
  /** How many changes the connection had made before the first batch without an entry. */
  before: number | undefined
}

/** They may take the journal's last entries away. */
const SHRINKING: ReadonlySet<Written['op']> = new Set(['prune', 'set_aside'])

function applyGroup(sql: Sql, ops: Ops, batches: readonly WrittenBatch[]): Applied {
  try {
    sql('BEGIN IMMEDIATE').run()
    const progress: Progress = { entry: undefined, before: undefined }
    const outcomes = batches.map((batch) => applyBatch(sql, ops, batch, progress))
    const moved = countCommit(sql, batches, progress)
    sql('COMMIT').run()
    return { outcomes, moved }
  } catch (cause) {
    throw storeFailed('the store cannot commit', cause)
  }
}

/** Contract: where the database stands after this commit, if it has changed. A commit that changes nothing must not become one that does. */
function countCommit(
  sql: Sql,
  batches: readonly WrittenBatch[],
  { entry, before }: Progress,
): MovedPosition | undefined {
  const isShrunk = batches.some(({ ops }) => ops.some(({ op }) => SHRINKING.has(op)))
  // Most commits come to the journal, whose last entry says enough; a count of our own would be one more page for each.
  if (entry !== undefined && !isShrunk) return { entry }
  if (before === undefined || changesSoFar(sql) === before) return undefined
  const row = sql(`UPDATE commits SET n = ${COMMITS} + 1 RETURNING n, (SELECT max(n) FROM journal) AS entry`).get()
  return row && { count: Number(row.n), entry: Number(row.entry ?? 0) }
}

const lastEntry = (sql: Sql): number => Number(sql('SELECT max(n) AS n FROM journal').get()?.n)
const changesSoFar = (sql: Sql): number => Number(sql('SELECT total_changes() AS n').get()?.n)

function applyBatch(sql: Sql, ops: Ops, batch: WrittenBatch, progress: Progress): Outcome {
  const { fence, ops: wanted, refused } = batch
  if (refused !== undefined) return invalid(refused)
  const [first] = wanted
  if (fence && first?.op === 'append' && wanted.length === 1) {
    const appended = appendFenced(sql, fence, first)
    if (appended) {
      progress.entry = appended.entry
      return { ok: true, results: [{ head: appended.head }] }
    }
  }
  const isEntry = wanted.some(({ op }) => op === 'append')
  if (!isEntry) progress.before ??= changesSoFar(sql)
  sql('SAVEPOINT batch').run()
  try {
    const held = batch.fence ? checkFence(sql, batch.fence) : undefined
    const results = batch.ops.map((op) => applyOp(sql, ops, op, held))
    sql('RELEASE batch').run()
    if (isEntry) progress.entry = lastEntry(sql)
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
  // Read, not written: no value of ours is JSON that cannot be parsed, or a number that no number can hold.
  if (thrown instanceof SyntaxError || isOutOfRange(thrown))
    return {
      ok: false,
      code: 'row_unreadable',
      message: `a stored row cannot be read: ${thrown.message}; do this: ${SET_ASIDE_REMEDY}`,
    }
  const isOfValue = thrown instanceof TypeError || thrown instanceof RangeError
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
