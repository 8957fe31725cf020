/** Operations on the queue in PostgreSQL: settle, park, release, cancel, pause, retry, prioritize, archive. */

import { type DispatchStatus, isTerminal } from '../../../domain/dispatch.ts'
import type { Observation } from '../../../domain/observation.ts'
import { AGENT_RESULT } from '../../../domain/sub-agent.ts'
import { type Wait, wakesWait } from '../../../domain/wait.ts'
import { requireHeldDispatch } from '../held-dispatch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { SqlRow } from '../rows/rows.ts'
import { claimDue } from './claim.ts'
import type { Queries } from './connection.ts'
import { createSuccessor, wakeWaiting } from './create-dispatches.ts'
import { closeAllApprovals, withdrawAllApprovals } from './inbox.ts'
import { recordInterrupted } from './interrupted-calls.ts'
import { type ApplyPgOp, IN_FLIGHT, isReadable, lockDispatches, lockSession, takeWideLock } from './op-context.ts'
import { findHomes } from './pins.ts'
import { deliverResult, isSpawnedBy } from './sub-agents.ts'

/**
 * Unread input of a session that may wake it. Unreadable input does not count: it would start one run after another,
 * and none could process it.
 */
async function readUnread(db: Queries, session: number): Promise<readonly Observation[]> {
  const rows = await db.all('SELECT * FROM inbox WHERE session = $1 AND read_at IS NULL ORDER BY n', session)
  return rows
    .filter((row) => isReadable('inbox', row))
    .map(({ body }) => JSON.parse(String(body)) as Observation)
    .filter(({ quiet }) => quiet == null)
}

export type SettleOp = Parameters<ApplyPgOp<'settle'>>[1]

/** What the end of a run `d` has to look at; most runs have none of it. */
export const LEFT_OPEN_COLUMNS = `d.n, d.session, d.parent IS NOT NULL AS has_parent,
  EXISTS (SELECT 1 FROM inbox WHERE session = d.session AND read_at IS NULL) AS has_unread,
  EXISTS (SELECT 1 FROM approvals WHERE session = d.session AND status IN ('open', 'allowed')) AS has_approvals,
  EXISTS (SELECT 1 FROM dispatches c WHERE c.parent = d.n AND c.status IN ${IN_FLIGHT}) AS has_children`

const settle: ApplyPgOp<'settle'> = async (db, op, held) => {
  const { dispatch } = requireHeldDispatch(held, op.op)
  const [, open] = await Promise.all([
    db.run(
      `UPDATE dispatches SET status = $1, epoch = NULL, wait = NULL, due = NULL, cancel = NULL, paused = 0, result = $2,
         error = $3, failure_class = $4, updated_at = $5 WHERE n = $6`,
      ...[op.status, op.result, op.error, op.failure_class, op.now, dispatch],
    ),
    db.get(`SELECT ${LEFT_OPEN_COLUMNS} FROM dispatches d WHERE d.n = $1`, dispatch),
  ])
  return finishSettle(db, op, open ?? {})
}

/** `open`: the columns of LEFT_OPEN_COLUMNS, read after the status was written. */
export async function finishSettle(db: Queries, op: SettleOp, open: SqlRow): ReturnType<ApplyPgOp<'settle'>> {
  const [dispatch, session] = [Number(open.n), Number(open.session)]
  // The result of a sub-agent concerns only the run that spawned it, and that run is over.
  const isInput = (observation: Observation): boolean =>
    observation.type !== 'system_event' || observation.name !== AGENT_RESULT
  const isUnread = op.status === 'done' && open.has_unread && (await readUnread(db, session)).some(isInput)
  const successor = isUnread ? await createSuccessor(db, session, op.successor_id, op.now) : null
  // Approvals are denied after the inbox was checked, so that the denials do not cause another run.
  if (open.has_approvals && op.status === 'cancelled') await withdrawAllApprovals(db, session, op.now)
  else if (open.has_approvals)
    await closeAllApprovals(db, session, `the run ended: ${op.failure_class ?? op.status}`, op.now)
  if (open.has_parent) await deliverResult(db, dispatch, op.report, op.now)
  if (open.has_children) await cancelSpawned(db, dispatch, op.now)
  return { successor }
}

const park: ApplyPgOp<'park'> = async (db, op, held) => {
  const { dispatch, session } = requireHeldDispatch(held, op.op)
  if (await isAlreadyAnswered(db, session, op.wait)) return { parked: false }
  // A dispatch with a requested cancel must not wait.
  const [row] = await db.all(
    `UPDATE dispatches SET status = 'waiting', epoch = NULL, wait = $1, due = $2, updated_at = $3 WHERE n = $4
     RETURNING cancel`,
    ...[JSON.stringify(op.wait), op.wait.until, op.now, dispatch],
  )
  if (row?.cancel != null) await wakeWaiting(db, dispatch, op.now)
  return { parked: true }
}

async function isAlreadyAnswered(db: Queries, session: number, wait: Wait): Promise<boolean> {
  if (wait.kind === 'unknown') {
    const resolved = await db.get("SELECT 1 FROM unknowns WHERE id = $1 AND status = 'resolved'", wait.unknown_id)
    return resolved !== undefined
  }
  return (await readUnread(db, session)).some((observation) => wakesWait(wait, observation))
}

const release: ApplyPgOp<'release'> = async (db, op, held) => {
  const { dispatch } = requireHeldDispatch(held, op.op)
  await db.run("UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = $1 WHERE n = $2", op.now, dispatch)
  return null
}

type CancelOp = Pick<Parameters<ApplyPgOp<'cancel'>>[1], 'dispatch_id' | 'how' | 'reason' | 'now'>

const cancel: ApplyPgOp<'cancel'> = async (db, op) => {
  await takeWideLock(db)
  return cancelFamily(db, op)
}

async function cancelFamily(db: Queries, op: CancelOp): ReturnType<ApplyPgOp<'cancel'>> {
  const cancelled = []
  for (const row of await lockFamily(db, op.dispatch_id)) {
    const [n, status] = [Number(row.n), String(row.status) as DispatchStatus]
    if (status === 'pending' && Number(row.attempts) > 0 && (await isHomeAway(db, row, op.now))) {
      await abandon(db, row, op.reason ?? 'cancelled while the machine that has its files was away', op.now)
    } else if (status === 'pending' && row.attempts === 0) {
      await db.run(
        "UPDATE dispatches SET status = 'cancelled', failure_class = NULL, error = $1, updated_at = $2 WHERE n = $3",
        ...[op.reason ?? null, op.now, n],
      )
      await withdrawAllApprovals(db, Number(row.session), op.now)
      await deliverResult(db, n, undefined, op.now)
    } else {
      await db.run(
        `UPDATE dispatches SET cancel = CASE WHEN cancel = 'immediate' THEN cancel ELSE $1 END, paused = 0,
           updated_at = $2 WHERE n = $3`,
        ...[op.how, op.now, n],
      )
      if (status === 'waiting') await wakeWaiting(db, n, op.now)
    }
    cancelled.push({ dispatch_id: String(row.dispatch_id), status })
  }
  return cancelled
}

/** Whether no worker can claim the dispatch to end it. */
async function isHomeAway(db: Queries, { home }: SqlRow, now: number): Promise<boolean> {
  if (home === '') return false
  const [found] = await findHomes(db, [String(home)], now)
  return found?.is_alive === false
}

/** A dispatch that no worker can go on with ends; its run is told of as one that crashed. */
export async function abandon(db: Queries, row: SqlRow, error: string, now: number): Promise<void> {
  const [n, session] = [Number(row.n), Number(row.session)]
  await db.run(
    `UPDATE dispatches SET status = 'cancelled', cancel = NULL, paused = 0, error = $1, failure_class = 'infra',
       updated_at = $2 WHERE n = $3`,
    ...[error, now, n],
  )
  await recordInterrupted(db, session, String(row.dispatch_id))
  await closeAllApprovals(db, session, 'the run ended: cancelled', now)
  await deliverResult(db, n, undefined, now)
  await cancelSpawned(db, n, now)
}

/** Cancels the sub-agents of a run that has ended, with everything that they started. */
export async function cancelSpawned(db: Queries, dispatch: number, now: number): Promise<void> {
  const open = await db.all(
    `SELECT dispatch_id, metadata FROM dispatches WHERE parent = $1 AND status IN ${IN_FLIGHT} ORDER BY n`,
    dispatch,
  )
  for (const { dispatch_id } of open.filter(({ metadata }) => isSpawnedBy(metadata)))
    await cancelFamily(db, {
      ...{ dispatch_id: String(dispatch_id), how: 'immediate', now },
      reason: 'the run that spawned it has ended',
    })
}

const pause: ApplyPgOp<'pause'> = async (db, op) => {
  await takeWideLock(db)
  const family = await lockFamily(db, op.dispatch_id)
  await db.run(
    'UPDATE dispatches SET paused = $1, updated_at = $2 WHERE n = ANY ($3::bigint[])',
    ...[op.paused ? 1 : 0, op.now, family.map(({ n }) => Number(n))],
  )
  return family.map(({ dispatch_id, status }) => ({
    ...{ dispatch_id: String(dispatch_id), status: String(status) as DispatchStatus },
  }))
}

/** The dispatch and its descendants that have not ended (pending, running or waiting), locked. */
async function lockFamily(db: Queries, dispatch_id: string): Promise<readonly SqlRow[]> {
  const members = await db.all(
    `WITH RECURSIVE member (n) AS (SELECT n FROM dispatches WHERE dispatch_id = $1
       UNION SELECT d.n FROM dispatches d JOIN member m ON d.parent = m.n) SELECT n FROM member`,
    dispatch_id,
  )
  if (members.length === 0) throw new RefusedBatch('not_found', `unknown dispatch ${dispatch_id}`)
  const rows = await lockDispatches(
    db,
    members.map(({ n }) => Number(n)),
  )
  return rows.filter(({ status }) => !isTerminal(String(status) as DispatchStatus))
}

const retry: ApplyPgOp<'retry'> = async (db, op) => {
  const found = await lockOne(db, op.dispatch_id)
  if (found.status !== 'failed' && found.status !== 'dead')
    throw new RefusedBatch(
      'conflict',
      `dispatch ${op.dispatch_id} is ${found.status}; only a failed or dead dispatch can be retried`,
    )
  await checkNoneInFlight(db, Number(found.session), 'retried')
  await db.run(
    `UPDATE dispatches SET status = 'pending', crashes = 0, result = NULL, error = NULL, failure_class = NULL,
       cancel = NULL, paused = 0, updated_at = $1 WHERE n = $2`,
    ...[op.now, Number(found.n)],
  )
  return null
}

const prioritize: ApplyPgOp<'prioritize'> = async (db, { dispatch_id, priority, now }) => {
  const found = await lockOne(db, dispatch_id)
  if (isTerminal(found.status as DispatchStatus))
    throw new RefusedBatch('conflict', `dispatch ${dispatch_id} is ${found.status}; it does not run again by itself`)
  await db.run('UPDATE dispatches SET priority = $1, updated_at = $2 WHERE n = $3', priority, now, Number(found.n))
  return null
}

async function lockOne(db: Queries, dispatch_id: string): Promise<SqlRow> {
  const found = await db.get('SELECT n FROM dispatches WHERE dispatch_id = $1', dispatch_id)
  const [row] = found ? await lockDispatches(db, [Number(found.n)]) : []
  if (!row) throw new RefusedBatch('not_found', `unknown dispatch ${dispatch_id}`)
  return row
}

const archive: ApplyPgOp<'archive'> = async (db, op) => {
  const session = await lockSession(db, op.session_id)
  await checkNoneInFlight(db, session, 'archived')
  await db.run('UPDATE sessions SET archived_at = $1 WHERE n = $2', op.archived ? op.now : null, session)
  return null
}

async function checkNoneInFlight(db: Queries, session: number, what: string): Promise<void> {
  const other = await db.get(
    `SELECT dispatch_id, status FROM dispatches WHERE session = $1 AND status IN ${IN_FLIGHT}`,
    session,
  )
  if (other)
    throw new RefusedBatch(
      'conflict',
      `the session cannot be ${what} while its dispatch ${other.dispatch_id} is ${other.status}`,
    )
}

export const queueOps = { claim: claimDue, settle, park, release, cancel, pause, retry, prioritize, archive }
