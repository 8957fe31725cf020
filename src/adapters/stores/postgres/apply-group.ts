/**
 * Applies the batches of a group inside an open transaction.
 *
 * The usual way needs no savepoints and few statements: the appends of neighbouring batches are one statement, and what
 * needs the locks that all processes share (spending, the audit log) is written at the end, all at once. If that way
 * meets a batch that is refused after it wrote something, the transaction is rolled back and the group is applied once
 * more, with a savepoint per batch.
 */

import { TirelessError } from '../../../domain/error.ts'
import { SET_ASIDE_REMEDY } from '../../../domain/unreadable-row.ts'
import type { BatchOutcome, Fence } from '../../../ports/store.ts'
import type { EncodedBatch, EncodedOp } from '../encode-batch.ts'
import { type HeldDispatch, staleFence } from '../held-dispatch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { isRefusedValue, type Queries } from './connection.ts'
import { appendAllFenced, type FencedAppend } from './journal.ts'
import type { OpContext } from './op-context.ts'
import { PG_OPS } from './ops.ts'
import { type AuditOp, appendAudits } from './permissions.ts'
import { applySpending, type SpendOp } from './spend.ts'
import { requirePgLeader } from './workers.ts'

/** A transaction. `hasWritten`: whether a statement since the last `markUnwritten` changed something. */
export interface GroupContext extends OpContext {
  savepoint(statement: 'SAVEPOINT batch' | 'RELEASE SAVEPOINT batch' | 'ROLLBACK TO SAVEPOINT batch'): Promise<unknown>
  markUnwritten(): void
  hasWritten(): boolean
}

/** Thrown if the group has to be applied with savepoints. */
export class NeedsSavepoints extends Error {}

/** The transaction holds only this batch, and must be rolled back. */
export class LoneRefusal extends Error {
  readonly outcome: BatchOutcome
  constructor(outcome: BatchOutcome) {
    super('the only batch of the group is refused')
    this.outcome = outcome
  }
}

type LateOp = SpendOp | AuditOp
const LATE: ReadonlySet<EncodedOp['op']> = new Set(['reserve', 'spent', 'unspent', 'audit'])
const isLate = (op: EncodedOp): op is LateOp => LATE.has(op.op)

interface WaitingOp {
  readonly op: LateOp
  setResult(result: unknown): void
}

/**
 * Contract: `finish` is called once with the outcomes, and commits; it may be sent before the last writes are answered,
 * because a failed write makes the commit fail.
 */
type Finish = (outcomes: readonly BatchOutcome[]) => Promise<unknown>

export async function applyBatches(
  db: GroupContext,
  batches: readonly EncodedBatch[],
  finish: Finish,
): Promise<readonly BatchOutcome[]> {
  const outcomes: BatchOutcome[] = []
  const late: WaitingOp[] = []
  try {
    for (let at = 0; at < batches.length; ) {
      const appended = await applyAppends(db, batches.slice(at), late)
      outcomes.push(...appended)
      at += appended.length
      const batch = batches[at]
      if (batch) outcomes.push(await applyOne(db, batch, late))
      at += 1
    }
    const writes = await applyLate(db, late)
    await Promise.all([...writes, finish(outcomes)])
    return outcomes
  } catch (thrown) {
    const refusal = toRefusal(thrown)
    if (!refusal) throw thrown
    if (batches.length === 1) throw new LoneRefusal(refusal)
    throw new NeedsSavepoints()
  }
}

/** Contract: the outcomes of the first batches, as far as each is a fenced append of another session that succeeded. */
async function applyAppends(
  db: GroupContext,
  batches: readonly EncodedBatch[],
  late: WaitingOp[],
): Promise<readonly BatchOutcome[]> {
  const sessions = new Set<string>()
  const appends: FencedAppend[] = []
  for (const batch of batches) {
    const append = asFencedAppend(batch)
    if (!append || sessions.has(append.append.session_id)) break
    sessions.add(append.append.session_id)
    appends.push(append)
  }
  if (appends.length === 0) return []
  const done = await appendAllFenced(db, appends)
  const outcomes: BatchOutcome[] = []
  for (const [i, { fence, append }] of appends.entries()) {
    const others = batches[i]?.ops.slice(1) ?? []
    if (!done.has(fence.dispatch_id)) outcomes.push(await explainRefusal(db, { fence, append }))
    else {
      const results: unknown[] = [{ head: append.seq + append.count - 1 }]
      postpone(others.filter(isLate), results, late)
      outcomes.push({ ok: true, results })
    }
  }
  return outcomes
}

/** Nothing was written for this append; applying it alone tells why. */
async function explainRefusal(db: GroupContext, { fence, append }: FencedAppend): Promise<BatchOutcome> {
  try {
    await PG_OPS.append(db, append, await checkFence(db, fence))
    // It became possible meanwhile, because another process ended its work. The rest of its batch is still missing.
    throw new NeedsSavepoints()
  } catch (thrown) {
    if (thrown instanceof RefusedBatch) return { ok: false, code: thrown.code, message: thrown.message }
    throw thrown
  }
}

function asFencedAppend({ fence, leader, ops, refusal }: EncodedBatch): FencedAppend | undefined {
  const [first, ...others] = ops
  if (refusal !== undefined || !fence || leader || first?.op !== 'append' || !others.every(isLate)) return undefined
  return { fence, append: first }
}

function postpone(ops: readonly LateOp[], results: unknown[], late: WaitingOp[]): void {
  for (const op of ops) {
    const place = results.push(undefined) - 1
    late.push({ op, setResult: (result) => (results[place] = result) })
  }
}

async function applyOne(db: GroupContext, batch: EncodedBatch, late: WaitingOp[]): Promise<BatchOutcome> {
  if (batch.refusal !== undefined) return invalidValue(batch.refusal)
  const waiting: WaitingOp[] = []
  db.markUnwritten()
  try {
    if (batch.leader) await requirePgLeader(db, batch.leader)
    const held = batch.fence && (await checkFence(db, batch.fence))
    const results: unknown[] = []
    for (const op of batch.ops)
      if (isLate(op)) postpone([op], results, waiting)
      else results.push(await applyOp(db, op, held))
    late.push(...waiting)
    return { ok: true, results }
  } catch (thrown) {
    const isHarmless = thrown instanceof RefusedBatch && !db.hasWritten()
    if (isHarmless) return { ok: false, code: thrown.code, message: thrown.message }
    throw thrown
  }
}

/** Spending first, then the audit log: every process takes these two locks in this order, and no other after them. */
async function applyLate(db: GroupContext, late: readonly WaitingOp[]): Promise<readonly Promise<unknown>[]> {
  const spending = late.filter(({ op }) => op.op !== 'audit')
  const audits = late.filter(({ op }) => op.op === 'audit')
  const parts = await Promise.all([
    spending.length > 0 &&
      applySpending(
        db,
        spending.map(({ op }) => op as SpendOp),
      ),
    audits.length > 0 &&
      appendAudits(
        db,
        audits.map(({ op }) => op as AuditOp),
      ),
  ])
  const [spent, audited] = parts
  if (spent) for (const [i, { setResult }] of spending.entries()) setResult(spent.results[i])
  if (audited) for (const [i, { setResult }] of audits.entries()) setResult(audited.results[i])
  return parts.flatMap((part) => (part ? [part.written] : []))
}

/** Contract: each batch under its own savepoint, in order; a refused one leaves nothing behind. */
export async function applyWithSavepoints(
  db: GroupContext,
  batches: readonly EncodedBatch[],
  finish: Finish,
): Promise<readonly BatchOutcome[]> {
  const outcomes: BatchOutcome[] = []
  for (const batch of batches) outcomes.push(await applyUnderSavepoint(db, batch))
  await finish(outcomes)
  return outcomes
}

async function applyUnderSavepoint(db: GroupContext, batch: EncodedBatch): Promise<BatchOutcome> {
  if (batch.refusal !== undefined) return invalidValue(batch.refusal)
  await db.savepoint('SAVEPOINT batch')
  try {
    if (batch.leader) await requirePgLeader(db, batch.leader)
    const held = batch.fence && (await checkFence(db, batch.fence))
    const results: unknown[] = []
    for (const op of batch.ops) results.push(await applyOp(db, op, held))
    await db.savepoint('RELEASE SAVEPOINT batch')
    return { ok: true, results }
  } catch (thrown) {
    const refusal = toRefusal(thrown)
    if (!refusal) throw thrown
    await db.savepoint('ROLLBACK TO SAVEPOINT batch')
    return refusal
  }
}

/** The session is locked before the dispatch, as everywhere; both stay locked until the group is committed. */
async function checkFence(db: Queries, fence: Fence): Promise<HeldDispatch> {
  const row = await db.get(
    `SELECT d.n, d.session, d.status, d.token, s.session_id FROM sessions s JOIN dispatches d ON d.session = s.n
     WHERE d.dispatch_id = $1 FOR NO KEY UPDATE OF s, d`,
    fence.dispatch_id,
  )
  if (row?.status === 'running' && row.token === fence.token)
    return { dispatch: Number(row.n), session: Number(row.session), session_id: String(row.session_id) }
  throw staleFence(fence, row)
}

function applyOp(db: OpContext, op: EncodedOp, held: HeldDispatch | undefined): Promise<unknown> {
  const apply = PG_OPS[op.op] as ((db: OpContext, op: EncodedOp, held?: HeldDispatch) => Promise<unknown>) | undefined
  if (!apply) throw new TirelessError('internal', `unknown store op ${String(op.op)}`)
  return apply(db, op, held)
}

const invalidValue = (why: string): BatchOutcome => ({
  ...{ ok: false, code: 'store_invalid', message: `the store cannot store this value: ${why}` },
})

/** Contract: the outcome of a refused batch; undefined if the transaction itself failed. */
function toRefusal(thrown: unknown): BatchOutcome | undefined {
  if (thrown instanceof RefusedBatch) return { ok: false, code: thrown.code, message: thrown.message }
  // This error comes from reading: the program does not write invalid JSON.
  if (thrown instanceof SyntaxError)
    return {
      ...{ ok: false, code: 'row_unreadable' },
      message: `a stored row cannot be read: ${thrown.message}; do this: ${SET_ASIDE_REMEDY}`,
    }
  const isValueError = thrown instanceof TypeError || thrown instanceof RangeError
  return isRefusedValue(thrown) || isValueError ? invalidValue((thrown as Error).message) : undefined
}
