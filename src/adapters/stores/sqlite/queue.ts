/** Table operations on the queue: claim, settle, park, release, cancel, pause, retry, archive. */

import { type Dispatch, type DispatchStatus, isTerminal } from '../../../domain/dispatch.ts'
import type { Observation } from '../../../domain/observation.ts'
import { AGENT_RESULT } from '../../../domain/sub-agent.ts'
import { type Wait, wakesWait } from '../../../domain/wait.ts'
import { requireHeldDispatch } from '../held-dispatch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { DISPATCH_COLUMNS, dispatchFromRow, type SqlRow } from '../rows/rows.ts'
import { enqueueSuccessor, wakeDispatch } from './create-dispatches.ts'
import { closeApprovals, withdrawApprovals } from './inbox.ts'
import { type ApplyOp, findSessionNumber } from './op-context.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'
import { deliverAgentResult, isSpawned } from './sub-agents.ts'

/**
 * Dispatches that can be claimed, next one first. At most one dispatch runs in a workspace: one whose folder is in use
 * stays pending and keeps its place (case 74). Unreadable rows are skipped, so they do not block the queue; they are
 * checked last, because that is slow. CROSS JOIN keeps the order of the loops.
 */
const CLAIMABLE = `SELECT d.n, d.session, d.priority FROM dispatches d CROSS JOIN sessions s ON s.n = d.session
  WHERE d.status = 'pending' AND d.paused = 0
    AND s.workspace NOT IN (
      SELECT used.workspace FROM dispatches r CROSS JOIN sessions used ON used.n = r.session WHERE r.status = 'running')
    AND ${readableCondition('dispatches', 'd')}`
const NEXT = 'ORDER BY d.priority DESC, d.n LIMIT 1'
const IS_NAMED = 'd.dispatch_id IN (SELECT value FROM json_each(?))'
const NEXT_IN_LIST =
  'ORDER BY d.priority DESC, (SELECT l.key FROM json_each(?) l WHERE l.value = d.dispatch_id) LIMIT 1'
/** Named, or started by a named one: a run that waits for its sub-agents goes on only if they run. */
const IS_OF_NAMED_FAMILY = `d.n IN (WITH RECURSIVE member (n) AS (
    SELECT n FROM dispatches WHERE dispatch_id IN (SELECT value FROM json_each(?))
    UNION SELECT c.n FROM dispatches c JOIN member m ON c.parent = m.n) SELECT n FROM member)`

type ClaimOp = Parameters<ApplyOp<'claim'>>[1]

export const claimDispatches: ApplyOp<'claim'> = (sql, op) => {
  const worker = sql('SELECT 1 FROM workers WHERE epoch = ? AND left_at IS NULL').get(op.epoch)
  if (!worker) throw new RefusedBatch('store_fenced', `worker epoch ${op.epoch} has ended and cannot claim dispatches`)
  const findNext = op.only
    ? () => sql(`${CLAIMABLE} AND ${IS_OF_NAMED_FAMILY} ${NEXT}`).get(JSON.stringify(op.only))
    : () => findNextOfAll(sql, op)
  const claimed: Dispatch[] = []
  // One at a time: a claimed dispatch takes its workspace from the others.
  for (let found = findNext(); found && claimed.length < op.limit; found = findNext())
    claimed.push(claimDispatch(sql, op, Number(found.n), Number(found.session)))
  return claimed
}

/** The list `last` is searched on its own, because most claims have none, and the others can use an index. */
function findNextOfAll(sql: Sql, { except = [], last = [] }: Pick<ClaimOp, 'except' | 'last'>): SqlRow | undefined {
  const leftOut = [...except, ...last]
  const next =
    leftOut.length > 0
      ? sql(`${CLAIMABLE} AND NOT ${IS_NAMED} ${NEXT}`).get(JSON.stringify(leftOut))
      : sql(`${CLAIMABLE} ${NEXT}`).get()
  if (last.length === 0) return next
  const list = JSON.stringify(last.filter((id) => !except.includes(id)))
  const lastOne = sql(`${CLAIMABLE} AND ${IS_NAMED} ${NEXT_IN_LIST}`).get(list, list)
  return next && Number(next.priority) >= Number(lastOne?.priority ?? next.priority) ? next : lastOne
}

function claimDispatch(sql: Sql, { epoch, now }: { epoch: number; now: number }, n: number, session: number): Dispatch {
  sql(
    `UPDATE dispatches SET status = 'running', epoch = ?, token = token + 1, attempts = attempts + 1, wait = NULL,
      due = NULL,
       crashes = iif(h.head > head_at_claim, 0, crashes), head_at_claim = h.head, updated_at = ?
     FROM (SELECT head FROM sessions WHERE n = ?) AS h
     WHERE n = ?`,
  ).run(epoch, now, session, n)
  return dispatchFromRow(sql(`SELECT ${DISPATCH_COLUMNS} WHERE d.n = ?`).get(n) as SqlRow)
}

/**
 * SQL condition for unread, readable input of a session that may wake it. Unreadable input does not count: it would
 * start one run after another, and none could process it.
 */
const UNREAD = `session = ? AND read_at IS NULL
  AND CASE WHEN ${readableCondition('inbox')} THEN json_extract(body, '$.quiet') IS NULL ELSE 0 END`

export const settleDispatch: ApplyOp<'settle'> = (sql, op, held) => {
  const { dispatch, session } = requireHeldDispatch(held, op.op)
  sql(
    'UPDATE dispatches SET status = ?, epoch = NULL, wait = NULL, due = NULL, cancel = NULL, ' +
      'paused = 0, result = ?, error = ?, failure_class = ?, updated_at = ? WHERE n = ?',
  ).run(op.status, op.result, op.error, op.failure_class, op.now, dispatch)
  // The result of a sub-agent concerns only the run that spawned it, and that run is over.
  const isInput = `json_extract(body, '$.name') IS NOT '${AGENT_RESULT}'`
  const unread = op.status === 'done' && sql(`SELECT 1 FROM inbox WHERE ${UNREAD} AND ${isInput} LIMIT 1`).get(session)
  const successor = unread ? enqueueSuccessor(sql, session, op.successor_id, op.now) : null
  // Approvals are denied after the inbox was checked, so that the denials do not cause another run.
  if (op.status === 'cancelled') withdrawApprovals(sql, session, op.now)
  else closeApprovals(sql, session, `the run ended: ${op.failure_class ?? op.status}`, op.now)
  deliverAgentResult(sql, dispatch, op.report, op.now)
  cancelAgentsOf(sql, dispatch, op.now)
  return { successor }
}

export const parkDispatch: ApplyOp<'park'> = (sql, op, held) => {
  const { dispatch, session } = requireHeldDispatch(held, op.op)
  if (isAlreadyAnswered(sql, session, op.wait)) return { parked: false }
  sql("UPDATE dispatches SET status = 'waiting', epoch = NULL, wait = ?, due = ?, updated_at = ? WHERE n = ?").run(
    JSON.stringify(op.wait),
    op.wait.until,
    op.now,
    dispatch,
  )
  // A dispatch with a requested cancel must not wait.
  if (sql('SELECT 1 FROM dispatches WHERE n = ? AND cancel IS NOT NULL').get(dispatch))
    wakeDispatch(sql, dispatch, op.now)
  return { parked: true }
}

export const releaseDispatch: ApplyOp<'release'> = (sql, op, held) => {
  const { dispatch } = requireHeldDispatch(held, op.op)
  sql("UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ? WHERE n = ?").run(op.now, dispatch)
  return null
}

export const cancelDispatches: ApplyOp<'cancel'> = (sql, op) => cancelFamily(sql, op)

type CancelOp = Pick<Parameters<ApplyOp<'cancel'>>[1], 'dispatch_id' | 'how' | 'reason' | 'now'>

function cancelFamily(sql: Sql, op: CancelOp): ReturnType<ApplyOp<'cancel'>> {
  return findFamily(sql, op.dispatch_id).map(({ n, session, dispatch_id, status, attempts }) => {
    if (status === 'pending' && attempts === 0) {
      sql(
        "UPDATE dispatches SET status = 'cancelled', failure_class = NULL, error = ?, updated_at = ? WHERE n = ?",
      ).run(op.reason ?? null, op.now, n)
      withdrawApprovals(sql, session, op.now)
      deliverAgentResult(sql, n, undefined, op.now)
    } else {
      const newCancel = "iif(cancel = 'immediate', cancel, ?)"
      sql(`UPDATE dispatches SET cancel = ${newCancel}, paused = 0, updated_at = ? WHERE n = ?`).run(op.how, op.now, n)
      if (status === 'waiting') wakeDispatch(sql, n, op.now)
    }
    return { dispatch_id, status }
  })
}

/** Cancels the sub-agents of a run that has ended, with everything that they started. */
export function cancelAgentsOf(sql: Sql, dispatch: number, now: number): void {
  const open = sql(
    `SELECT dispatch_id FROM dispatches WHERE parent = ? AND status IN ('pending', 'running', 'waiting')
       AND ${isSpawned('metadata')}`,
  ).all(dispatch)
  for (const { dispatch_id } of open)
    cancelFamily(sql, {
      ...{ dispatch_id: String(dispatch_id), how: 'immediate', now },
      reason: 'the run that spawned it has ended',
    })
}

export const pauseDispatches: ApplyOp<'pause'> = (sql, op) => {
  return findFamily(sql, op.dispatch_id).map(({ n, dispatch_id, status }) => {
    sql('UPDATE dispatches SET paused = ?, updated_at = ? WHERE n = ?').run(op.paused ? 1 : 0, op.now, n)
    return { dispatch_id, status }
  })
}

export const retryDispatch: ApplyOp<'retry'> = (sql, op) => {
  const found = sql('SELECT n, session, status FROM dispatches WHERE dispatch_id = ?').get(op.dispatch_id)
  if (!found) throw new RefusedBatch('not_found', `unknown dispatch ${op.dispatch_id}`)
  if (found.status !== 'failed' && found.status !== 'dead')
    throw new RefusedBatch(
      'conflict',
      `dispatch ${op.dispatch_id} is ${found.status}; only a failed or dead dispatch can be retried`,
    )
  checkNoneInFlight(sql, Number(found.session), 'retried')
  sql(
    `UPDATE dispatches SET status = 'pending', crashes = 0, result = NULL, error = NULL, failure_class = NULL,
      cancel = NULL,
       paused = 0, updated_at = ? WHERE n = ?`,
  ).run(op.now, Number(found.n))
  return null
}

export const prioritizeDispatch: ApplyOp<'prioritize'> = (sql, { dispatch_id, priority, now }) => {
  const found = sql('SELECT n, status FROM dispatches WHERE dispatch_id = ?').get(dispatch_id)
  if (!found) throw new RefusedBatch('not_found', `unknown dispatch ${dispatch_id}`)
  if (isTerminal(found.status as DispatchStatus))
    throw new RefusedBatch('conflict', `dispatch ${dispatch_id} is ${found.status}; it does not run again by itself`)
  sql('UPDATE dispatches SET priority = ?, updated_at = ? WHERE n = ?').run(priority, now, Number(found.n))
  return null
}

export const archiveSession: ApplyOp<'archive'> = (sql, op) => {
  const session = findSessionNumber(sql, op.session_id)
  checkNoneInFlight(sql, session, 'archived')
  sql('UPDATE sessions SET archived_at = ? WHERE n = ?').run(op.archived ? op.now : null, session)
  return null
}

function checkNoneInFlight(sql: Sql, session: number, what: string): void {
  const other = sql(
    "SELECT dispatch_id, status FROM dispatches WHERE session = ? AND status IN ('pending', 'running', 'waiting')",
  ).get(session)
  if (other)
    throw new RefusedBatch(
      'conflict',
      `the session cannot be ${what} while its dispatch ${other.dispatch_id} is ${other.status}`,
    )
}

interface FamilyMember {
  readonly n: number
  readonly session: number
  readonly dispatch_id: string
  readonly status: DispatchStatus
  readonly attempts: number
}

/** The dispatch and its descendants that have not ended (pending, running or waiting). */
function findFamily(sql: Sql, dispatch_id: string): readonly FamilyMember[] {
  const found = sql('SELECT n FROM dispatches WHERE dispatch_id = ?').get(dispatch_id)
  if (!found) throw new RefusedBatch('not_found', `unknown dispatch ${dispatch_id}`)
  const rows = sql(
    `WITH RECURSIVE member (n) AS (SELECT ? UNION SELECT d.n FROM dispatches d JOIN member m ON d.parent = m.n)
     SELECT d.n, d.session, d.dispatch_id, d.status, d.attempts FROM dispatches d JOIN member m ON m.n = d.n
     WHERE d.status IN ('pending', 'running', 'waiting') ORDER BY d.n`,
  ).all(Number(found.n))
  return rows.map((row) => ({
    n: Number(row.n),
    session: Number(row.session),
    dispatch_id: String(row.dispatch_id),
    status: String(row.status) as DispatchStatus,
    attempts: Number(row.attempts),
  }))
}

function isAlreadyAnswered(sql: Sql, session: number, wait: Wait): boolean {
  if (wait.kind === 'unknown')
    return sql("SELECT 1 FROM unknowns WHERE id = ? AND status = 'resolved'").get(wait.unknown_id) !== undefined
  const unread = sql(`SELECT body FROM inbox WHERE ${UNREAD} ORDER BY n`).all(session)
  return unread.some((row) => wakesWait(wait, JSON.parse(String(row.body)) as Observation))
}
