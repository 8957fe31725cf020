/** Operations on inboxes in PostgreSQL: messages, answers and deadlines for a session, which may wake its dispatch. */

import { approvalAnswerObservation } from '../../../domain/approval.ts'
import type { Observation } from '../../../domain/observation.ts'
import { type Wait, wakesWait } from '../../../domain/wait.ts'
import type { OpResults } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { answerOpen, denyOpen, denyUnread, expireOpen } from './approvals.ts'
import type { Queries } from './connection.ts'
import { createSuccessor, wakeWaiting } from './create-dispatches.ts'
import { type ApplyPgOp, IN_FLIGHT, isReadable, lockSession, takeWideLock } from './op-context.ts'

const publish: ApplyPgOp<'publish'> = async (db, op) =>
  deliverToInbox(db, await lockSession(db, op.session_id), op.observation, op.successor_id, op.now)

const acknowledge: ApplyPgOp<'acknowledge'> = async (db, op) => {
  const row = await db.get(
    `WITH owner AS (SELECT n FROM sessions WHERE session_id = $1), marked AS (
       UPDATE inbox SET read_at = $2 FROM owner
       WHERE session = owner.n AND id = ANY ($3::text[]) AND read_at IS NULL RETURNING 1)
     SELECT owner.n, (SELECT count(*) FROM marked) AS marked FROM owner`,
    ...[op.session_id, op.now, op.observation_ids],
  )
  if (!row) throw new RefusedBatch('not_found', `unknown session ${op.session_id}`)
  return { acknowledged: Number(row.marked) }
}

const answer: ApplyPgOp<'answer'> = async (db, op) => {
  const approval = await answerOpen(db, op)
  const observation = approvalAnswerObservation(approval, op.answer, op.reason, op.now)
  const session = await lockSession(db, approval.session_id)
  const { dispatch_id } = await deliverToInbox(db, session, observation, null, op.now)
  return { approval, dispatch_id }
}

/** Denies the open approvals of a session whose run ended. The session gets the denials with its next input. */
export async function closeAllApprovals(db: Queries, session: number, reason: string, now: number): Promise<void> {
  for (const approval of await denyOpen(db, session, reason, now))
    await deliverToInbox(db, session, approvalAnswerObservation(approval, 'denied', reason, now), null, now)
}

/** Call it after a run was cancelled: denies open approvals, and allowed ones whose answer the session has not read. */
export async function withdrawAllApprovals(db: Queries, session: number, now: number): Promise<void> {
  const reason = 'the run was cancelled'
  await denyUnread(db, session, reason, now)
  await closeAllApprovals(db, session, reason, now)
}

const promote: ApplyPgOp<'promote'> = async (db, { now, borne_out: until = now }) => {
  const found = await db.get(
    `SELECT EXISTS (SELECT 1 FROM dispatches WHERE status = 'waiting' AND due IS NOT NULL AND due <= $1) AS dispatches,
       EXISTS (SELECT 1 FROM approvals WHERE status = 'open' AND expires_at <= $2) AS approvals`,
    now,
    until,
  )
  // A call with nothing due writes nothing and locks nothing.
  if (!found?.dispatches && !found?.approvals) return { promoted: 0 }
  await takeWideLock(db)
  const promoted = await wakeDue(db, now)
  for (const approval of await expireOpen(db, until, now)) {
    const observation = approvalAnswerObservation(approval, 'expired', null, now)
    await deliverToInbox(db, await lockSession(db, approval.session_id), observation, null, now)
  }
  return { promoted }
}

async function wakeDue(db: Queries, now: number): Promise<number> {
  const due = await db.all(
    `SELECT * FROM dispatches WHERE status = 'waiting' AND due IS NOT NULL AND due <= $1
     FOR NO KEY UPDATE SKIP LOCKED`,
    now,
  )
  const readable = due.filter((row) => isReadable('dispatches', row))
  for (const row of readable) {
    const wait = JSON.parse(String(row.wait)) as Wait
    if (wait.kind === 'observation')
      await insertUnread(db, Number(row.session), {
        // Unique per park. A run may wait for the same instant twice, but parks at most once per token.
        ...{ id: `deadline-${row.n}-${row.token}`, type: 'system_event', name: 'deadline' },
        ...{ payload: { waited_for: wait.reason }, ts: now },
      })
    await wakeWaiting(db, Number(row.n), now)
  }
  return readable.length
}

/**
 * `successor_id`: id of the dispatch to create if the session has none in flight; null: create none. The session stays
 * locked, so that a run that parks or ends meanwhile sees the observation.
 */
export async function deliverToInbox(
  db: Queries,
  session: number,
  observation: Observation,
  successor_id: string | null,
  now: number,
): Promise<OpResults['publish']> {
  if (!(await insertUnread(db, session, observation))) return { duplicate: true, dispatch_id: null }
  if (observation.quiet) return { duplicate: false, dispatch_id: null }
  const inFlight = await db.get(`SELECT * FROM dispatches WHERE session = $1 AND status IN ${IN_FLIGHT}`, session)
  if (!inFlight)
    return { duplicate: false, dispatch_id: successor_id && (await createSuccessor(db, session, successor_id, now)) }
  const isWaiting = inFlight.status === 'waiting' && isReadable('dispatches', inFlight)
  if (isWaiting && wakesWait(JSON.parse(String(inFlight.wait)) as Wait, observation))
    await wakeWaiting(db, Number(inFlight.n), now)
  return { duplicate: false, dispatch_id: String(inFlight.dispatch_id) }
}

async function insertUnread(db: Queries, session: number, observation: Observation): Promise<boolean> {
  const inserted = await db.run(
    `WITH owner AS (SELECT n FROM sessions WHERE n = $1 FOR NO KEY UPDATE)
     INSERT INTO inbox (session, id, body) SELECT n, $2, $3 FROM owner ON CONFLICT (session, id) DO NOTHING`,
    ...[session, observation.id, JSON.stringify(observation)],
  )
  return inserted === 1
}

export const inboxOps = { publish, acknowledge, answer, promote }
