/** Approvals in the tables: asked once, answered once, expired or withdrawn where nobody answers. Who is told is up to the caller. */

import { type Approval, type ApprovalAnswer, isExpired, observationIdOf } from '../../../domain/approval.ts'
import { iso } from '../../../ports/clock.ts'
import type { Op } from '../../../ports/store.ts'
import { type Apply, sessionNumber } from './apply.ts'
import { Refused, type Sql } from './refused.ts'
import { APPROVAL_COLUMNS, approvalOf, type Row } from './rows.ts'
import { readableRows, refuseUnreadableRow } from './unreadable.ts'

export const ask: Apply<'ask'> = (sql, { approval }) => {
  sql(
    `INSERT INTO approvals (id, session, tool, args, effect, sinks, digest, reason, origin, asked_at, expires_at, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open') ON CONFLICT (id) DO NOTHING`,
  ).run(
    approval.id,
    sessionNumber(sql, approval.session_id),
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

/** The first word counts, and only while there is time. */
export function answerApproval(sql: Sql, op: Extract<Op, { op: 'answer' }>): Approval {
  const row = sql(`SELECT ${APPROVAL_COLUMNS} WHERE a.id = ?`).get(op.approval_id) as Row | undefined
  if (!row) throw new Refused('not_found', `no approval has the id ${op.approval_id}`)
  const approval = approvalOf(refuseUnreadableRow('approvals', row))
  if (approval.status !== 'open') throw new Refused('conflict', `${approval.id} was ${approval.status} already`)
  if (isExpired(approval, op.now))
    throw new Refused('conflict', `${approval.id} has expired, at ${approval.expires_at}; it has to be asked for again`)
  // A home of an earlier version may have one: with the run it went on being open.
  if (op.answer === 'allowed' && !isInFlight(sql, approval.session_id))
    throw new Refused('conflict', `the run that asked for ${approval.id} has ended; it has to be asked for again`)
  return closed(sql, approval, op.answer, op.reason, op.now)
}

/** Contract: those whose time is over by now, each once. */
export function expireApprovals(sql: Sql, now: number): readonly Approval[] {
  const due = sql(
    `SELECT ${APPROVAL_COLUMNS} WHERE a.status = 'open' AND a.expires_at <= ? AND ${readableRows('approvals', 'a')} ORDER BY a.n`,
  ).all(now)
  return (due as Row[]).map((row) => closed(sql, approvalOf(row), 'expired', null, now))
}

const isInFlight = (sql: Sql, session_id: string): boolean =>
  sql(
    `SELECT 1 FROM dispatches d JOIN sessions s ON s.n = d.session
     WHERE s.session_id = ? AND d.status IN ('pending', 'running', 'waiting')`,
  ).get(session_id) !== undefined

/** Contract: those that nobody has answered, each once. */
export function denyOpenApprovals(sql: Sql, session: number, reason: string, now: number): readonly Approval[] {
  const open = sql(
    `SELECT ${APPROVAL_COLUMNS} WHERE a.session = ? AND a.status = 'open' AND ${readableRows('approvals', 'a')} ORDER BY a.n`,
  ).all(session)
  return (open as Row[]).map((row) => closed(sql, approvalOf(row), 'denied', reason, now))
}

/** What was allowed and has not reached the session. */
export function denyUnheardApprovals(sql: Sql, session: number, reason: string, now: number): void {
  const unheard = sql(
    `SELECT ${APPROVAL_COLUMNS} WHERE a.session = ?1 AND a.status = 'allowed' AND EXISTS
       (SELECT 1 FROM inbox i WHERE i.session = ?1 AND i.read_at IS NULL AND i.id = ?2 || a.id) AND ${readableRows('approvals', 'a')}`,
  ).all(session, observationIdOf(''))
  for (const row of unheard as Row[]) closed(sql, approvalOf(row), 'denied', reason, now)
}

function closed(sql: Sql, approval: Approval, answer: ApprovalAnswer, reason: string | null, now: number): Approval {
  sql('UPDATE approvals SET status = ?, answered_at = ?, answer_reason = ? WHERE id = ?').run(
    answer,
    now,
    reason,
    approval.id,
  )
  return { ...approval, status: answer, answered_at: iso(now), answer_reason: reason }
}
