/** How a dispatch moves through the queue: claimed, ended, parked, given back, cancelled, paused. */

import type { DispatchStatus } from '../../../domain/dispatch.ts'
import type { Observation } from '../../../domain/observation.ts'
import { type Wait, wakes } from '../../../domain/wait.ts'
import { type Apply, holding, sessionNumber } from './apply.ts'
import { succeed, wake } from './dispatches.ts'
import { closeApprovals, withdrawApprovals } from './inbox.ts'
import { Refused, type Sql } from './refused.ts'
import { DISPATCH_COLUMNS, dispatchOf, type Row } from './rows.ts'
import { readableRows } from './unreadable.ts'

/** What cannot be read stays where it is, and holds up nobody. */
const CLAIMABLE = `status = 'pending' AND paused = 0 AND ${readableRows('dispatches')}
  AND EXISTS (SELECT 1 FROM sessions s WHERE s.n = dispatches.session)`

export const claim: Apply<'claim'> = (sql, op) => {
  const worker = sql('SELECT 1 FROM workers WHERE epoch = ? AND left_at IS NULL').get(op.epoch)
  if (!worker) throw new Refused('store_fenced', `worker epoch ${op.epoch} has ended and may claim nothing`)
  const { only, except = [] } = op
  const first = 'ORDER BY priority DESC, n LIMIT ?'
  const free = `SELECT n, session FROM dispatches WHERE ${CLAIMABLE}`
  const isNamed = 'dispatch_id IN (SELECT value FROM json_each(?))'
  const found = only
    ? sql(`${free} AND ${isNamed} ${first}`).all(JSON.stringify(only), op.limit)
    : except.length > 0
      ? sql(`${free} AND NOT ${isNamed} ${first}`).all(JSON.stringify(except), op.limit)
      : sql(`${free} ${first}`).all(op.limit)
  return found.map(({ n, session }) => {
    sql(
      `UPDATE dispatches SET status = 'running', epoch = ?, token = token + 1, attempts = attempts + 1, wait = NULL, due = NULL,
         crashes = iif(h.head > head_at_claim, 0, crashes), head_at_claim = h.head, updated_at = ?
       FROM (SELECT head FROM sessions WHERE n = ?) AS h
       WHERE n = ?`,
    ).run(op.epoch, op.now, Number(session), Number(n))
    return dispatchOf(sql(`SELECT ${DISPATCH_COLUMNS} WHERE d.n = ?`).get(Number(n)) as Row)
  })
}

/** Input that can be read; other input would make one run after the other, and none could take it. */
const UNREAD = `session = ? AND read_at IS NULL AND ${readableRows('inbox')}`

export const settle: Apply<'settle'> = (sql, op, held) => {
  const { dispatch, session } = holding(held, op.op)
  sql(
    'UPDATE dispatches SET status = ?, epoch = NULL, wait = NULL, due = NULL, cancel = NULL, paused = 0, result = ?, error = ?, failure_class = ?, updated_at = ? WHERE n = ?',
  ).run(op.status, op.result, op.error, op.failure_class, op.now, dispatch)
  const unread = op.status === 'done' && sql(`SELECT 1 FROM inbox WHERE ${UNREAD} LIMIT 1`).get(session)
  const successor = unread ? succeed(sql, session, op.successor_id, op.now) : null
  // Behind the look into the inbox: what is told here is no reason for another run.
  if (op.status === 'cancelled') withdrawApprovals(sql, session, op.now)
  else closeApprovals(sql, session, `the run ended: ${op.failure_class ?? op.status}`, op.now)
  return { successor }
}

export const park: Apply<'park'> = (sql, op, held) => {
  const { dispatch, session } = holding(held, op.op)
  if (alreadyAnswered(sql, session, op.wait)) return { parked: false }
  sql("UPDATE dispatches SET status = 'waiting', epoch = NULL, wait = ?, due = ?, updated_at = ? WHERE n = ?").run(
    JSON.stringify(op.wait),
    op.wait.until,
    op.now,
    dispatch,
  )
  // Whoever asked for its end does not wait with it.
  if (sql('SELECT 1 FROM dispatches WHERE n = ? AND cancel IS NOT NULL').get(dispatch)) wake(sql, dispatch, op.now)
  return { parked: true }
}

export const release: Apply<'release'> = (sql, op, held) => {
  const { dispatch } = holding(held, op.op)
  sql("UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ? WHERE n = ?").run(op.now, dispatch)
  return null
}

export const cancel: Apply<'cancel'> = (sql, op) => {
  return family(sql, op.dispatch_id).map(({ n, session, dispatch_id, status, attempts }) => {
    if (status === 'pending' && attempts === 0) {
      sql(
        "UPDATE dispatches SET status = 'cancelled', failure_class = NULL, error = ?, updated_at = ? WHERE n = ?",
      ).run(op.reason ?? null, op.now, n)
      withdrawApprovals(sql, session, op.now)
    } else {
      const how = "iif(cancel = 'immediate', cancel, ?)"
      sql(`UPDATE dispatches SET cancel = ${how}, paused = 0, updated_at = ? WHERE n = ?`).run(op.how, op.now, n)
      if (status === 'waiting') wake(sql, n, op.now)
    }
    return { dispatch_id, status }
  })
}

export const pause: Apply<'pause'> = (sql, op) => {
  return family(sql, op.dispatch_id).map(({ n, dispatch_id, status }) => {
    sql('UPDATE dispatches SET paused = ?, updated_at = ? WHERE n = ?').run(op.paused ? 1 : 0, op.now, n)
    return { dispatch_id, status }
  })
}

export const retry: Apply<'retry'> = (sql, op) => {
  const found = sql('SELECT n, session, status FROM dispatches WHERE dispatch_id = ?').get(op.dispatch_id)
  if (!found) throw new Refused('not_found', `no dispatch has the id ${op.dispatch_id}`)
  if (found.status !== 'failed' && found.status !== 'dead')
    throw new Refused(
      'conflict',
      `${op.dispatch_id} is ${found.status}; only what failed or is dead can be tried again`,
    )
  refuseInFlight(sql, Number(found.session), 'tried again')
  sql(
    `UPDATE dispatches SET status = 'pending', crashes = 0, result = NULL, error = NULL, failure_class = NULL, cancel = NULL,
       paused = 0, updated_at = ? WHERE n = ?`,
  ).run(op.now, Number(found.n))
  return null
}

export const archive: Apply<'archive'> = (sql, op) => {
  const session = sessionNumber(sql, op.session_id)
  refuseInFlight(sql, session, 'put away')
  sql('UPDATE sessions SET archived_at = ? WHERE n = ?').run(op.archived ? op.now : null, session)
  return null
}

function refuseInFlight(sql: Sql, session: number, what: string): void {
  const other = sql(
    "SELECT dispatch_id, status FROM dispatches WHERE session = ? AND status IN ('pending', 'running', 'waiting')",
  ).get(session)
  if (other)
    throw new Refused('conflict', `it cannot be ${what} while ${other.dispatch_id} of its session is ${other.status}`)
}

interface Member {
  readonly n: number
  readonly session: number
  readonly dispatch_id: string
  readonly status: DispatchStatus
  readonly attempts: number
}

/** A dispatch and its descendants, those in flight. */
function family(sql: Sql, dispatch_id: string): readonly Member[] {
  const found = sql('SELECT n FROM dispatches WHERE dispatch_id = ?').get(dispatch_id)
  if (!found) throw new Refused('not_found', `no dispatch has the id ${dispatch_id}`)
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

function alreadyAnswered(sql: Sql, session: number, wait: Wait): boolean {
  if (wait.kind === 'unknown')
    return sql("SELECT 1 FROM unknowns WHERE id = ? AND status = 'resolved'").get(wait.unknown_id) !== undefined
  const unread = sql(`SELECT body FROM inbox WHERE ${UNREAD} ORDER BY n`).all(session)
  return unread.some((row) => wakes(wait, JSON.parse(String(row.body)) as Observation))
}
