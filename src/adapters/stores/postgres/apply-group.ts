/**
 * Applies the batches of a group inside an open transaction.
 *
 * The usual way needs no savepoints and few statements: the appends of neighbouring batches are one statement, and so
 * are the ends of their runs; what needs the locks that all processes share (spending, the audit log) is written at the
 * end, all at once. If that way meets a batch that is refused after it wrote something, the transaction is rolled back
 * and the group is applied once more, with a savepoint per batch.
 */

import { TirelessError } from '../../../domain/error.ts'
import { SET_ASIDE_REMEDY } from '../../../domain/unreadable-row.ts'
import type { BatchOutcome, Fence, OpResults } from '../../../ports/store.ts'
import type { EncodedBatch, EncodedOp } from '../encode-batch.ts'
import { type HeldDispatch, staleFence } from '../held-dispatch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { isRefusedValue, type Queries } from './connection.ts'
import { appendAllFenced, type FencedAppend } from './journal.ts'
import type { OpContext } from './op-context.ts'
import { PG_OPS } from './ops.ts'
import { type AuditOp, appendAudits } from './permissions.ts'
import { type FencedSettle, settleAllFenced } from './settle-many.ts'
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
      const common = await applyCommon(db, batches.slice(at), late)
      outcomes.push(...common)
      at += common.length
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

/**
 * A fenced batch of the most common kind: an append, the end of the run, or both, and nothing else that writes at once.
 */
interface FencedWork {
  readonly fence: Fence
  readonly append: FencedAppend['append'] | undefined
  readonly settle: FencedSettle['settle'] | undefined
  readonly ops: readonly EncodedOp[]
}

/**
 * Contract: the outcomes of the first batches, as far as each is of the most common kind and of another dispatch. All
 * appends are one statement, and so are all ends.
 */
async function applyCommon(
  db: GroupContext,
  batches: readonly EncodedBatch[],
  late: WaitingOp[],
): Promise<readonly BatchOutcome[]> {
  const dispatches = new Set<string>()
  const works: FencedWork[] = []
  for (const batch of batches) {
    const work = asFencedWork(batch)
    if (!work || dispatches.has(work.fence.dispatch_id)) break
    dispatches.add(work.fence.dispatch_id)
    works.push(work)
  }
  const appended = await appendAllFenced(
    db,
    works.flatMap(({ fence, append }) => (append ? [{ fence, append }] : [])),
  )
  const isAppended = ({ fence, append }: FencedWork): boolean => !append || appended.has(fence.dispatch_id)
  const settled = await settleAllFenced(
    db,
    works.filter(isAppended).flatMap(({ fence, settle }) => (settle ? [{ fence, settle }] : [])),
  )
  const outcomes: BatchOutcome[] = []
  for (const work of works) {
    const end = settled.get(work.fence.dispatch_id)
    if (isAppended(work) && (!work.settle || end)) outcomes.push(outcomeOf(work, end, late))
    else outcomes.push(await explainRefusal(db, work))
  }
  return outcomes
}

function outcomeOf({ ops }: FencedWork, end: OpResults['settle'] | undefined, late: WaitingOp[]): BatchOutcome {
  const results: unknown[] = []
  for (const op of ops)
    if (op.op === 'append') results.push({ head: op.seq + op.count - 1 })
    else if (op.op === 'settle') results.push(end)
    else if (isLate(op)) postpone([op], results, late)
  return { ok: true, results }
}

/** Applying the first op alone tells why it was refused; nothing of the batch was written. */
async function explainRefusal(db: GroupContext, { fence, append }: FencedWork): Promise<BatchOutcome> {
  try {
    const held = await checkFence(db, fence)
    if (append) await PG_OPS.append(db, append, held)
  } catch (thrown) {
    if (thrown instanceof RefusedBatch) return { ok: false, code: thrown.code, message: thrown.message }
    throw thrown
  }
  // It became possible meanwhile, because another process ended its work. The rest of its batch is still missing.
  throw new NeedsSavepoints()
}

function asFencedWork({ fence, leader, ops, refusal }: EncodedBatch): FencedWork | undefined {
  if (refusal !== undefined || !fence || leader) return undefined
  const append = ops[0]?.op === 'append' ? ops[0] : undefined
  const [settle, ...others] = ops.filter((op) => op !== append && !isLate(op))
  const isCommon = others.length === 0 && (settle ? settle.op === 'settle' : append !== undefined)
  if (!isCommon) return undefined
  return { fence, append, settle: settle?.op === 'settle' ? settle : undefined, ops }
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
