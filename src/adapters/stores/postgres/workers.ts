/** Operations on workers in PostgreSQL: one row per epoch, with a lease by the database's clock. */

import { statusAfterCrash } from '../../../domain/dispatch.ts'
import type { Leader, WorkerAbout } from '../../../ports/store/queue.ts'
import type { LeaderFence, OpResults } from '../../../ports/store.ts'
import { afterResignation, checkLeader, endedEpoch, leaderSetting, parseLeader } from '../leaders.ts'
import type { SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'
import { closeAllApprovals } from './inbox.ts'
import { recordInterrupted } from './interrupted-calls.ts'
import { type ApplyPgOp, isReadable, lockDispatches, takeWideLock } from './op-context.ts'
import { adoptSessions } from './pins.ts'
import { cancelSpawned } from './queue.ts'
import { deliverResult } from './sub-agents.ts'
import { takeOver } from './take-over.ts'

const join: ApplyPgOp<'join'> = async (db, op) => {
  const now = await db.leaseNow(op.now)
  if (op.alone) await db.run('UPDATE workers SET lease_until = 0 WHERE left_at IS NULL')
  else if (op.about) await endEarlierWorkers(db, op.about)
  const [row] = await db.all(
    'INSERT INTO workers (name, joined_at, lease_until, about, home) VALUES ($1, $2, $3, $4, $5) RETURNING epoch',
    ...[op.name, now, now + op.lease_until - op.now, op.about ? JSON.stringify(op.about) : null],
    op.about?.home ?? null,
  )
  if (op.about) await adoptSessions(db, op.about)
  return { epoch: Number(row?.epoch) }
}

/** A copy of a home has the id of the original; so its machine and its path count, too. */
async function endEarlierWorkers(db: Queries, { home, host, root }: WorkerAbout): Promise<void> {
  await db.run(
    `UPDATE workers SET lease_until = 0 WHERE left_at IS NULL AND home = $1
     AND about::jsonb ->> 'host' = $2 AND about::jsonb ->> 'root' IS NOT DISTINCT FROM $3`,
    ...[home, host, root ?? null],
  )
}

const beat: ApplyPgOp<'beat'> = async (db, op) => {
  const until = (await db.leaseNow(op.now)) + op.lease_until - op.now
  const changed = await db.run(
    'UPDATE workers SET lease_until = $1 WHERE epoch = $2 AND left_at IS NULL',
    until,
    op.epoch,
  )
  return { alive: changed === 1 }
}

const leave: ApplyPgOp<'leave'> = async (db, op) => {
  await takeWideLock(db)
  await db.run('UPDATE workers SET left_at = $1 WHERE epoch = $2 AND left_at IS NULL', op.now, op.epoch)
  const released = await db.run(
    `UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = $1 WHERE status = 'running' AND epoch = $2`,
    ...[op.now, op.epoch],
  )
  return { released }
}

/** The row is locked until the transaction ends: candidates wait for each other, and for writes of the leader. */
const lead: ApplyPgOp<'lead'> = async (db, { name, epoch, now: given, resign = false }) => {
  const now = await db.leaseNow(given)
  if (!(await db.get('SELECT 1 FROM workers WHERE epoch = $1 AND left_at IS NULL FOR SHARE', epoch)))
    throw endedEpoch(epoch)
  if (resign) return giveUpLead(db, name, epoch)
  const first = JSON.stringify({ epoch, token: 1 })
  const isFirst = await db.run(
    'INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
    ...[leaderSetting(name), first],
  )
  const found = (await readLeader(db, name, 'FOR UPDATE')) ?? { epoch, token: 1 }
  if (isFirst === 1 || found.epoch === epoch) return { leading: true, ...found }
  const leads = 'SELECT 1 FROM workers WHERE epoch = $1 AND left_at IS NULL AND lease_until > $2'
  if (await db.get(leads, found.epoch, now)) return { leading: false, ...found }
  const leader = { epoch, token: found.token + 1 }
  await writeLeader(db, name, leader)
  return { leading: true, ...leader }
}

async function giveUpLead(db: Queries, name: string, epoch: number): Promise<OpResults['lead']> {
  const found = (await readLeader(db, name, 'FOR UPDATE')) ?? { epoch: 0, token: 0 }
  if (found.epoch !== epoch) return { leading: false, ...found }
  const none = afterResignation(found)
  await writeLeader(db, name, none)
  return { leading: false, ...none }
}

const writeLeader = (db: Queries, name: string, leader: Leader): Promise<unknown> =>
  db.run('UPDATE settings SET value = $1 WHERE name = $2', JSON.stringify(leader), leaderSetting(name))

async function readLeader(db: Queries, name: string, lock: 'FOR UPDATE' | 'FOR SHARE'): Promise<Leader | undefined> {
  const row = await db.get(`SELECT value FROM settings WHERE name = $1 ${lock}`, leaderSetting(name))
  return parseLeader(row?.value)
}

/** The leader cannot change until the batch is committed. */
export const requirePgLeader = async (db: Queries, fence: LeaderFence): Promise<void> =>
  checkLeader(fence, await readLeader(db, fence.name, 'FOR SHARE'))

const recover: ApplyPgOp<'recover'> = async (db, op) => {
  const expired = 'left_at IS NULL AND lease_until <= $1'
  const now = await db.leaseNow(op.now)
  const recovered: string[] = []
  const dead: string[] = []
  if (!(await db.get(`SELECT 1 FROM workers WHERE ${expired} LIMIT 1`, now))) return { lost: 0, recovered, dead }
  await takeWideLock(db)
  // A worker whose row is locked is claiming or renewing its lease now.
  const lost = await db.all(`SELECT epoch FROM workers WHERE ${expired} ORDER BY epoch FOR UPDATE SKIP LOCKED`, now)
  for (const { epoch } of lost) {
    for (const orphan of await lockOrphans(db, Number(epoch))) {
      const status = await requeue(db, orphan, op.now)
      const list = status === 'dead' ? dead : recovered
      list.push(String(orphan.dispatch_id))
    }
    await db.run('UPDATE workers SET left_at = $1 WHERE epoch = $2', op.now, Number(epoch))
  }
  return { lost: lost.length, recovered, dead }
}

async function lockOrphans(db: Queries, epoch: number): Promise<readonly SqlRow[]> {
  const found = await db.all("SELECT n FROM dispatches WHERE status = 'running' AND epoch = $1", epoch)
  const rows = await lockDispatches(
    db,
    found.map(({ n }) => Number(n)),
  )
  return rows.filter((row) => row.status === 'running' && row.epoch === epoch && isReadable('dispatches', row))
}

/** A dispatch of a worker that is gone becomes pending, or dead after too many crashes without a new record. */
async function requeue(db: Queries, orphan: SqlRow, now: number): Promise<'pending' | 'dead'> {
  const [n, session] = [Number(orphan.n), Number(orphan.session)]
  const owner = await db.get('SELECT head FROM sessions WHERE n = $1', session)
  const hasMoved = Number(owner?.head) > Number(orphan.head_at_claim)
  const crashes = hasMoved ? 0 : Number(orphan.crashes) + 1
  const status = statusAfterCrash(crashes)
  const isDead = status === 'dead'
  const error = isDead ? `the process died ${crashes} times in a row during this dispatch without progress` : null
  await db.run(
    `UPDATE dispatches SET status = $1, epoch = NULL, crashes = $2, error = $3, failure_class = $4, updated_at = $5
     WHERE n = $6`,
    ...[status, crashes, error, isDead ? 'infra' : null, now, n],
  )
  if (isDead) {
    await recordInterrupted(db, session, String(orphan.dispatch_id))
    await closeAllApprovals(db, session, 'the run ended: dead', now)
    await deliverResult(db, n, undefined, now)
    await cancelSpawned(db, n, now)
  }
  return status
}

export const workerOps = { join, beat, leave, recover, lead, take_over: takeOver }
