/** Operations on approvals in PostgreSQL: asked once, then answered once, expired or withdrawn. */

import { type Approval, type ApprovalAnswer, approvalObservationId, isExpired } from '../../../domain/approval.ts'
import { iso } from '../../../ports/clock.ts'
import type { Op } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { APPROVAL_COLUMNS, approvalFromRow } from '../rows/rows.ts'
import { ensureReadableInBatch } from '../rows/unreadable-rows.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, IN_FLIGHT, isReadable, lockSession } from './op-context.ts'

const ask: ApplyPgOp<'ask'> = async (db, { approval }) => {
  await db.run(
    `INSERT INTO approvals (id, session, tool, args, effect, sinks, digest, reason, origin, asked_at, expires_at,
      status)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'open') ON CONFLICT (id) DO NOTHING`,
    ...[approval.id, await lockSession(db, approval.session_id), approval.tool, JSON.stringify(approval.args)],
    ...[JSON.stringify(approval.effect), JSON.stringify(approval.sinks), approval.digest, approval.reason],
    ...[JSON.stringify(approval.origin), Date.parse(approval.asked_at), Date.parse(approval.expires_at)],
  )
  return null
}

export const approvalOps = { ask }

/** Accepts the first answer only, and only before the approval expires. */
export async function answerOpen(db: Queries, op: Extract<Op, { op: 'answer' }>): Promise<Approval> {
  // Locks the session first, as a run that ends does, and the approval after that.
  await db.all(
    'SELECT n FROM sessions WHERE n = (SELECT session FROM approvals WHERE id = $1) FOR NO KEY UPDATE',
    op.approval_id,
  )
  const row = await db.get(`SELECT ${APPROVAL_COLUMNS} WHERE a.id = $1 FOR NO KEY UPDATE OF a`, op.approval_id)
  if (!row) throw new RefusedBatch('not_found', `unknown approval ${op.approval_id}`)
  const approval = approvalFromRow(ensureReadableInBatch('approvals', row))
  if (approval.status !== 'open')
    throw new RefusedBatch('conflict', `approval ${approval.id} is already ${approval.status}`)
  if (isExpired(approval, op.borne_out ?? op.now))
    throw new RefusedBatch(
      'conflict',
      `approval ${approval.id} expired at ${approval.expires_at}; the agent must ask again`,
    )
  // Happens only in homes of an earlier version, which left approvals open after their run had ended.
  if (op.answer === 'allowed' && !(await hasRun(db, approval.session_id)))
    throw new RefusedBatch(
      'conflict',
      `the run that asked for approval ${approval.id} has ended; the agent must ask again`,
    )
  return close(db, approval, op.answer, op.reason, op.now)
}

const hasRun = async (db: Queries, session_id: string): Promise<boolean> =>
  (await db.get(
    `SELECT 1 FROM dispatches d JOIN sessions s ON s.n = d.session
     WHERE s.session_id = $1 AND d.status IN ${IN_FLIGHT}`,
    session_id,
  )) !== undefined

/** Contract: closes and returns the approvals that have expired by `until`, each once. */
export function expireOpen(db: Queries, until: number, now: number): Promise<readonly Approval[]> {
  return closeWhere(db, "a.status = 'open' AND a.expires_at <= $1", until, { answer: 'expired', reason: null, now })
}

/** Contract: denies and returns the open approvals of a session, each once. */
export function denyOpen(db: Queries, session: number, reason: string, now: number): Promise<readonly Approval[]> {
  return closeWhere(db, "a.session = $1 AND a.status = 'open'", session, { answer: 'denied', reason, now })
}

/** Denies allowed approvals whose answer the session has not read. */
export async function denyUnread(db: Queries, session: number, reason: string, now: number): Promise<void> {
  const isUnread = `a.session = $1 AND a.status = 'allowed' AND EXISTS (SELECT 1 FROM inbox i
    WHERE i.session = $1 AND i.read_at IS NULL AND i.id = '${approvalObservationId('')}' || a.id)`
  await closeWhere(db, isUnread, session, { answer: 'denied', reason, now })
}

interface Closing {
  readonly answer: ApprovalAnswer
  readonly reason: string | null
  readonly now: number
}

async function closeWhere(db: Queries, condition: string, value: number, how: Closing): Promise<readonly Approval[]> {
  const rows = await db.all(`SELECT ${APPROVAL_COLUMNS} WHERE ${condition} ORDER BY a.n FOR NO KEY UPDATE OF a`, value)
  const closed: Approval[] = []
  for (const row of rows.filter((found) => isReadable('approvals', found)))
    closed.push(await close(db, approvalFromRow(row), how.answer, how.reason, how.now))
  return closed
}

async function close(
  db: Queries,
  approval: Approval,
  answer: ApprovalAnswer,
  reason: string | null,
  now: number,
): Promise<Approval> {
  await db.run(
    'UPDATE approvals SET status = $1, answered_at = $2, answer_reason = $3 WHERE id = $4',
    ...[answer, now, reason, approval.id],
  )
  return { ...approval, status: answer, answered_at: iso(now), answer_reason: reason }
}
