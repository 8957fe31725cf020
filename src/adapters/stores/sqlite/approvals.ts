/**
 * Table operations on approvals. An approval is asked once, and then answered once, expired or withdrawn. The caller
 * tells the session.
 */

import { type Approval, type ApprovalAnswer, approvalObservationId, isExpired } from '../../../domain/approval.ts'
import { iso } from '../../../ports/clock.ts'
import type { Op } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { APPROVAL_COLUMNS, approvalFromRow, type SqlRow } from '../rows/rows.ts'
import { ensureReadableInBatch } from '../rows/unreadable-rows.ts'
import { type ApplyOp, findSessionNumber } from './op-context.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

export const insertApproval: ApplyOp<'ask'> = (sql, { approval }) => {
  sql(
    `INSERT INTO approvals (id, session, tool, args, effect, sinks, digest, reason, origin, asked_at, expires_at,
      status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open') ON CONFLICT (id) DO NOTHING`,
  ).run(
    approval.id,
    findSessionNumber(sql, approval.session_id),
    approval.tool,
    JSON.stringify(approval.args),
    JSON.stringify(approval.effect),
    JSON.stringify(approval.sinks),
    approval.digest,
    approval.reason,
    JSON.stringify(approval.origin),
    Date.parse(approval.asked_at),
    Date.parse(approval.expires_at),
  )
  return null
}

/** Accepts the first answer only, and only before the approval expires. */
export function answerApproval(sql: Sql, op: Extract<Op, { op: 'answer' }>): Approval {
  const row = sql(`SELECT ${APPROVAL_COLUMNS} WHERE a.id = ?`).get(op.approval_id) as SqlRow | undefined
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
  if (op.answer === 'allowed' && !isInFlight(sql, approval.session_id))
    throw new RefusedBatch(
      'conflict',
      `the run that asked for approval ${approval.id} has ended; the agent must ask again`,
    )
  return closeApproval(sql, approval, op.answer, op.reason, op.now)
}

/** Contract: closes and returns the approvals that have expired by `until`, each once. */
export function expireApprovals(sql: Sql, until: number, now: number): readonly Approval[] {
  const expiredRows = sql(
    `SELECT ${APPROVAL_COLUMNS} WHERE a.status = 'open' AND a.expires_at <= ?
     AND ${readableCondition('approvals', 'a')} ORDER BY a.n`,
  ).all(until)
  return (expiredRows as SqlRow[]).map((row) => closeApproval(sql, approvalFromRow(row), 'expired', null, now))
}

const isInFlight = (sql: Sql, session_id: string): boolean =>
  sql(
    `SELECT 1 FROM dispatches d JOIN sessions s ON s.n = d.session
     WHERE s.session_id = ? AND d.status IN ('pending', 'running', 'waiting')`,
  ).get(session_id) !== undefined

/** Contract: denies and returns the open approvals of a session, each once. */
export function denyOpenApprovals(sql: Sql, session: number, reason: string, now: number): readonly Approval[] {
  const open = sql(
    `SELECT ${APPROVAL_COLUMNS} WHERE a.session = ? AND a.status = 'open'
     AND ${readableCondition('approvals', 'a')} ORDER BY a.n`,
  ).all(session)
  return (open as SqlRow[]).map((row) => closeApproval(sql, approvalFromRow(row), 'denied', reason, now))
}

/** Denies allowed approvals whose answer the session has not read. */
export function denyUnreadApprovals(sql: Sql, session: number, reason: string, now: number): void {
  const unread = sql(
    `SELECT ${APPROVAL_COLUMNS} WHERE a.session = ?1 AND a.status = 'allowed' AND EXISTS
       (SELECT 1 FROM inbox i WHERE i.session = ?1 AND i.read_at IS NULL AND i.id = ?2 || a.id)
       AND ${readableCondition('approvals', 'a')}`,
  ).all(session, approvalObservationId(''))
  for (const row of unread as SqlRow[]) closeApproval(sql, approvalFromRow(row), 'denied', reason, now)
}

function closeApproval(
  sql: Sql,
  approval: Approval,
  answer: ApprovalAnswer,
  reason: string | null,
  now: number,
): Approval {
  sql('UPDATE approvals SET status = ?, answered_at = ?, answer_reason = ? WHERE id = ?').run(
    answer,
    now,
    reason,
    approval.id,
  )
  return { ...approval, status: answer, answered_at: iso(now), answer_reason: reason }
}
