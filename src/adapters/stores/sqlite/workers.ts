/**
 * Table operations on workers: one row per epoch with a lease. Dispatches of a dead worker are requeued or marked dead.
 */

import { afterBarrenCrash } from '../../../domain/dispatch.ts'
import type { Apply } from './apply.ts'
import { closeApprovals } from './inbox.ts'
import { listInterrupted } from './interrupted.ts'
import { readableRows } from './unreadable.ts'

export const join: Apply<'join'> = (sql, op) => {
  if (op.alone) sql('UPDATE workers SET lease_until = 0 WHERE left_at IS NULL').run()
  const { lastInsertRowid } = sql('INSERT INTO workers (name, joined_at, lease_until) VALUES (?, ?, ?)').run(
    op.name,
    op.now,
    op.lease_until,
  )
  return { epoch: Number(lastInsertRowid) }
}

export const beat: Apply<'beat'> = (sql, op) => {
  const { changes } = sql('UPDATE workers SET lease_until = ? WHERE epoch = ? AND left_at IS NULL').run(
    op.lease_until,
    op.epoch,
  )
  return { alive: Number(changes) === 1 }
}

export const leave: Apply<'leave'> = (sql, op) => {
  sql('UPDATE workers SET left_at = ? WHERE epoch = ? AND left_at IS NULL').run(op.now, op.epoch)
  const { changes } = sql(
    "UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ? WHERE status = 'running' AND epoch = ?",
  ).run(op.now, op.epoch)
  return { released: Number(changes) }
}

export const recover: Apply<'recover'> = (sql, op) => {
  const recovered: string[] = []
  const dead: string[] = []
  const lostWorkers = sql('SELECT epoch FROM workers WHERE left_at IS NULL AND lease_until <= ?').all(op.now)
  for (const { epoch } of lostWorkers) {
    const orphans = sql(
      `SELECT d.n, d.dispatch_id, d.session, d.crashes, s.head > d.head_at_claim AS has_moved
       FROM dispatches d JOIN sessions s ON s.n = d.session WHERE d.status = 'running' AND d.epoch = ?
         AND ${readableRows('dispatches', 'd')}`,
    ).all(Number(epoch))
    for (const orphan of orphans) {
      const crashes = orphan.has_moved === 1 ? 0 : Number(orphan.crashes) + 1
      const status = afterBarrenCrash(crashes)
      const error =
        status === 'dead' ? `the process died ${crashes} times in a row during this dispatch without progress` : null
      sql(
        'UPDATE dispatches SET status = ?, epoch = NULL, crashes = ?, ' +
          'error = ?, failure_class = ?, updated_at = ? WHERE n = ?',
      ).run(status, crashes, error, status === 'dead' ? 'infra' : null, op.now, Number(orphan.n))
      if (status === 'dead') {
        listInterrupted(sql, Number(orphan.session), String(orphan.dispatch_id))
        closeApprovals(sql, Number(orphan.session), 'the run ended: dead', op.now)
      }
      const list = status === 'dead' ? dead : recovered
      list.push(String(orphan.dispatch_id))
    }
    sql('UPDATE workers SET left_at = ? WHERE epoch = ?').run(op.now, Number(epoch))
  }
  return { lost: lostWorkers.length, recovered, dead }
}
