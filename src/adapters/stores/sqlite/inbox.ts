/** Table operations on inboxes: messages, answers and deadlines for a session, which may wake its dispatch. */

import { approvalAnswerObservation } from '../../../domain/approval.ts'
import type { Observation } from '../../../domain/observation.ts'
import { type Wait, wakesWait } from '../../../domain/wait.ts'
import type { OpResults } from '../../../ports/store.ts'
import { answerApproval, denyOpenApprovals, denyUnreadApprovals, expireApprovals } from './approvals.ts'
import { enqueueSuccessor, wakeDispatch } from './create-dispatches.ts'
import { type ApplyOp, findSessionNumber } from './op-context.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

export const publishObservation: ApplyOp<'publish'> = (sql, op) =>
  deliverObservation(sql, findSessionNumber(sql, op.session_id), op.observation, op.successor_id, op.now)

export const acknowledgeObservations: ApplyOp<'acknowledge'> = (sql, op) => {
  const session = findSessionNumber(sql, op.session_id)
  const markRead = sql('UPDATE inbox SET read_at = ? WHERE session = ? AND id = ? AND read_at IS NULL')
  const changes = op.observation_ids.map((id) => Number(markRead.run(op.now, session, id).changes))
  return { acknowledged: changes.reduce((sum, n) => sum + n, 0) }
}

export const answerAndPublish: ApplyOp<'answer'> = (sql, op) => {
  const approval = answerApproval(sql, op)
  const observation = approvalAnswerObservation(approval, op.answer, op.reason, op.now)
  const session = findSessionNumber(sql, approval.session_id)
  const { dispatch_id } = deliverObservation(sql, session, observation, null, op.now)
  return { approval, dispatch_id }
}

/** Denies the open approvals of a session whose run ended. The session gets the denials with its next input. */
export function closeApprovals(sql: Sql, session: number, reason: string, now: number): void {
  for (const approval of denyOpenApprovals(sql, session, reason, now))
    deliverObservation(sql, session, approvalAnswerObservation(approval, 'denied', reason, now), null, now)
}

/** Call it after a run was cancelled: denies open approvals, and allowed ones whose answer the session has not read. */
export function withdrawApprovals(sql: Sql, session: number, now: number): void {
  const reason = 'the run was cancelled'
  denyUnreadApprovals(sql, session, reason, now)
  closeApprovals(sql, session, reason, now)
}

export const promoteDue: ApplyOp<'promote'> = (sql, op) => {
  const due = sql(
    `SELECT n, session, token, wait FROM dispatches WHERE status = 'waiting' AND due IS NOT NULL AND due <= ?
     AND ${readableCondition('dispatches')}`,
  ).all(op.now)
  for (const row of due) {
    const wait = JSON.parse(String(row.wait)) as Wait
    if (wait.kind === 'observation') {
      const deadline: Observation = {
        // Unique per park. A run may wait for the same instant twice, but parks at most once per token.
        id: `deadline-${row.n}-${row.token}`,
        type: 'system_event',
        name: 'deadline',
        payload: { waited_for: wait.reason },
        ts: op.now,
      }
      insertObservation(sql, Number(row.session), deadline)
    }
    wakeDispatch(sql, Number(row.n), op.now)
  }
  for (const approval of expireApprovals(sql, op.borne_out ?? op.now, op.now)) {
    const observation = approvalAnswerObservation(approval, 'expired', null, op.now)
    deliverObservation(sql, findSessionNumber(sql, approval.session_id), observation, null, op.now)
  }
  return { promoted: due.length }
}

/** `successor_id`: id of the dispatch to create if the session has none in flight; null: create none. */
export function deliverObservation(
  sql: Sql,
  session: number,
  observation: Observation,
  successor_id: string | null,
  now: number,
): OpResults['publish'] {
  if (!insertObservation(sql, session, observation)) return { duplicate: true, dispatch_id: null }
  if (observation.quiet) return { duplicate: false, dispatch_id: null }
  const inFlight = sql(
    `SELECT n, dispatch_id, status, wait, ${readableCondition('dispatches')} AS is_readable FROM dispatches
     WHERE session = ? AND status IN ('pending', 'running', 'waiting')`,
  ).get(session)
  if (!inFlight)
    return { duplicate: false, dispatch_id: successor_id && enqueueSuccessor(sql, session, successor_id, now) }
  const isWaiting = inFlight.status === 'waiting' && inFlight.is_readable === 1
  if (isWaiting && wakesWait(JSON.parse(String(inFlight.wait)) as Wait, observation))
    wakeDispatch(sql, Number(inFlight.n), now)
  return { duplicate: false, dispatch_id: String(inFlight.dispatch_id) }
}

function insertObservation(sql: Sql, session: number, observation: Observation): boolean {
  const { changes } = sql(
    'INSERT INTO inbox (session, id, body) VALUES (?, ?, ?) ON CONFLICT (session, id) DO NOTHING',
  ).run(session, observation.id, JSON.stringify(observation))
  return Number(changes) === 1
}
