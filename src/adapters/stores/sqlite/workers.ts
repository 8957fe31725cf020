/**
 * Table operations on workers: one row per epoch with a lease. Dispatches of a dead worker are requeued or marked dead.
 */

import { statusAfterCrash } from '../../../domain/dispatch.ts'
import type { Leader } from '../../../ports/store/queue.ts'
import type { LeaderFence } from '../../../ports/store.ts'
import { afterResignation, checkLeader, endedEpoch, leaderSetting, parseLeader } from '../leaders.ts'
import { writeSetting } from './cycles.ts'
import { closeApprovals } from './inbox.ts'
import { recordInterruptedCalls } from './interrupted-calls.ts'
import type { ApplyOp } from './op-context.ts'
import { cancelAgentsOf } from './queue.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'
import { deliverAgentResult } from './sub-agents.ts'

export const joinWorker: ApplyOp<'join'> = (sql, op) => {
  if (op.alone) sql('UPDATE workers SET lease_until = 0 WHERE left_at IS NULL').run()
  const { lastInsertRowid } = sql('INSERT INTO workers (name, joined_at, lease_until) VALUES (?, ?, ?)').run(
    op.name,
    op.now,
    op.lease_until,
  )
  return { epoch: Number(lastInsertRowid) }
}

export const renewLease: ApplyOp<'beat'> = (sql, op) => {
  const { changes } = sql('UPDATE workers SET lease_until = ? WHERE epoch = ? AND left_at IS NULL').run(
    op.lease_until,
    op.epoch,
  )
  return { alive: Number(changes) === 1 }
}

export const leaveWorker: ApplyOp<'leave'> = (sql, op) => {
  sql('UPDATE workers SET left_at = ? WHERE epoch = ? AND left_at IS NULL').run(op.now, op.epoch)
  const { changes } = sql(
    "UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ? WHERE status = 'running' AND epoch = ?",
  ).run(op.now, op.epoch)
  return { released: Number(changes) }
}

export const takeLead: ApplyOp<'lead'> = (sql, { name, epoch, now, resign = false }) => {
  const isAlive = (condition: string, ...values: number[]): boolean =>
    sql(`SELECT 1 FROM workers WHERE left_at IS NULL AND ${condition}`).get(...values) !== undefined
  if (!isAlive('epoch = ?', epoch)) throw endedEpoch(epoch)
  const found = readLeader(sql, name)
  const write = (leader: Leader) => writeSetting(sql, { op: 'set', name: leaderSetting(name), value: { ...leader } })
  if (resign) {
    const left = found?.epoch === epoch ? afterResignation(found) : (found ?? { epoch: 0, token: 0 })
    if (found?.epoch === epoch) write(left)
    return { leading: false, ...left }
  }
  if (found?.epoch === epoch) return { leading: true, ...found }
  if (found && isAlive('epoch = ? AND lease_until > ?', found.epoch, now)) return { leading: false, ...found }
  const leader = { epoch, token: (found?.token ?? 0) + 1 }
  write(leader)
  return { leading: true, ...leader }
}

const readLeader = (sql: Sql, name: string): Leader | undefined =>
  parseLeader(sql('SELECT value FROM settings WHERE name = ?').get(leaderSetting(name))?.value)

export const requireLeader = (sql: Sql, fence: LeaderFence): void => checkLeader(fence, readLeader(sql, fence.name))

export const recoverWorkers: ApplyOp<'recover'> = (sql, op) => {
  const recovered: string[] = []
  const dead: string[] = []
  const lostWorkers = sql('SELECT epoch FROM workers WHERE left_at IS NULL AND lease_until <= ?').all(op.now)
  for (const { epoch } of lostWorkers) {
    const orphans = sql(
      `SELECT d.n, d.dispatch_id, d.session, d.crashes, s.head > d.head_at_claim AS has_moved
       FROM dispatches d JOIN sessions s ON s.n = d.session WHERE d.status = 'running' AND d.epoch = ?
         AND ${readableCondition('dispatches', 'd')}`,
    ).all(Number(epoch))
    for (const orphan of orphans) {
      const crashes = orphan.has_moved === 1 ? 0 : Number(orphan.crashes) + 1
      const status = statusAfterCrash(crashes)
      const error =
        status === 'dead' ? `the process died ${crashes} times in a row during this dispatch without progress` : null
      sql(
        'UPDATE dispatches SET status = ?, epoch = NULL, crashes = ?, ' +
          'error = ?, failure_class = ?, updated_at = ? WHERE n = ?',
      ).run(status, crashes, error, status === 'dead' ? 'infra' : null, op.now, Number(orphan.n))
      if (status === 'dead') {
        recordInterruptedCalls(sql, Number(orphan.session), String(orphan.dispatch_id))
        closeApprovals(sql, Number(orphan.session), 'the run ended: dead', op.now)
        deliverAgentResult(sql, Number(orphan.n), undefined, op.now)
        cancelAgentsOf(sql, Number(orphan.n), op.now)
      }
      const list = status === 'dead' ? dead : recovered
      list.push(String(orphan.dispatch_id))
    }
    sql('UPDATE workers SET left_at = ? WHERE epoch = ?').run(op.now, Number(epoch))
  }
  return { lost: lostWorkers.length, recovered, dead }
}
