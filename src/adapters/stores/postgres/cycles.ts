/** Operations on cycles, settings and schedules in PostgreSQL. */

import { ENDED_DURING_CYCLE, errorCycleResult } from '../../../domain/cycle.ts'
import type { Json } from '../../../domain/json.ts'
import { SET_ASIDE_REMEDY } from '../../../domain/unreadable-row.ts'
import { checkSettingBase, RefusedBatch } from '../refuse-batch.ts'
import type { SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, isReadable, takeWideLock } from './op-context.ts'

/** Only one process runs a kernel, so an unfinished cycle belongs to a dead process and is ended here. */
const cycle_begin: ApplyPgOp<'cycle_begin'> = async (db, { kernel_id, cycle_id, trigger, due, now }) => {
  await takeWideLock(db)
  const newest = await db.get('SELECT * FROM cycles WHERE kernel_id = $1 ORDER BY n DESC LIMIT 1', kernel_id)
  const unfinished = await db.all(
    'SELECT * FROM cycles WHERE kernel_id = $1 AND ended_at IS NULL ORDER BY n',
    kernel_id,
  )
  const interrupted = unfinished.filter((row) => isReadable('cycles', row))
  const left = newest ? await openDispatches(db, newest) : []
  for (const row of interrupted) {
    const result = errorCycleResult(String(row.cycle_id), ENDED_DURING_CYCLE, now - Number(row.started_at))
    await db.run(
      'UPDATE cycles SET ended_at = $1, result = $2 WHERE n = $3',
      now,
      JSON.stringify(result),
      Number(row.n),
    )
    left.push(...(await dispatchesIn(db, row)))
  }
  // The open dispatches are stored now, so that the next cycle finds them even if this cycle is interrupted, too.
  await db.run(
    'INSERT INTO cycles (cycle_id, kernel_id, trigger, due, started_at, open) VALUES ($1, $2, $3, $4, $5, $6)',
    ...[cycle_id, kernel_id, trigger, due, now, JSON.stringify(left)],
  )
  return { interrupted: interrupted.map((row) => String(row.cycle_id)), left }
}

/** If the cycle's row is unreadable, all dispatches of the cycle count as open. */
const openDispatches = async (db: Queries, newest: SqlRow): Promise<string[]> =>
  isReadable('cycles', newest) ? (JSON.parse(String(newest.open)) as string[]) : dispatchesIn(db, newest)

async function dispatchesIn(db: Queries, { cycle_id }: SqlRow): Promise<string[]> {
  const rows = await db.all('SELECT dispatch_id FROM dispatches WHERE cycle_id = $1 ORDER BY n', String(cycle_id))
  return rows.map(({ dispatch_id }) => String(dispatch_id))
}

const cycle_end: ApplyPgOp<'cycle_end'> = async (db, op) => {
  const changed = await db.run(
    'UPDATE cycles SET ended_at = $1, result = $2, open = $3 WHERE cycle_id = $4 AND ended_at IS NULL',
    ...[op.now, JSON.stringify(op.result), JSON.stringify(op.open), op.result.cycle_id],
  )
  if (changed !== 1) throw new RefusedBatch('conflict', `cycle ${op.result.cycle_id} has ended, or never began`)
  return null
}

const set: ApplyPgOp<'set'> = async (db, { name, value, base }) => {
  if (base !== undefined) await lockSetting(db, name, base)
  if (value === null) await db.run('DELETE FROM settings WHERE name = $1', name)
  else
    await db.run(
      `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      ...[name, JSON.stringify(value)],
    )
  return null
}

/** One that does not exist is made for the moment, because only a row can be locked. */
async function lockSetting(db: Queries, name: string, base: Json): Promise<void> {
  const none = JSON.stringify(null)
  await db.run('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', name, none)
  const row = await db.get('SELECT value FROM settings WHERE name = $1 FOR UPDATE', name)
  checkSettingBase(name, row?.value, base)
}

const select: ApplyPgOp<'select'> = async (db, { scope, model, now }) => {
  if (model === null) await db.run('DELETE FROM selections WHERE scope = $1', scope)
  else
    await db.run(
      `INSERT INTO selections (scope, model, chosen_at) VALUES ($1, $2, $3)
       ON CONFLICT (scope) DO UPDATE SET model = excluded.model, chosen_at = excluded.chosen_at`,
      ...[scope, model, now],
    )
  return null
}

const schedule_put: ApplyPgOp<'schedule_put'> = async (db, { entry, now }) => {
  const inserted = await db.run(
    `INSERT INTO schedules (id, spec, timezone, agent_id, prompt, paused, created_at)
     VALUES ($1, $2, $3, $4, $5, 0, $6) ON CONFLICT (id) DO NOTHING`,
    ...[entry.id, JSON.stringify(entry.spec), entry.timezone, entry.agent_id, entry.prompt],
    Date.parse(entry.created_at),
  )
  if (inserted === 0) throw new RefusedBatch('conflict', `schedule ${entry.id} already exists`)
  // If its beat was still running, a removed schedule of the same name may have left its progress mark.
  await db.run(
    `INSERT INTO marks (schedule_id, until) VALUES ($1, $2)
     ON CONFLICT (schedule_id) DO UPDATE SET until = excluded.until, fired = NULL`,
    ...[entry.id, now],
  )
  return null
}

const schedule_remove: ApplyPgOp<'schedule_remove'> = async (db, { id }) => {
  const removed = (await db.run('DELETE FROM schedules WHERE id = $1', id)) === 1
  if (removed) await db.run('DELETE FROM marks WHERE schedule_id = $1', id)
  return { removed }
}

const schedule_pause: ApplyPgOp<'schedule_pause'> = async (db, { id, paused, now }) => {
  const changed = await db.run('UPDATE schedules SET paused = $1 WHERE id = $2', paused ? 1 : 0, id)
  if (changed === 0) throw new RefusedBatch('not_found', `unknown schedule ${id}`)
  // Beats that were missed during the pause are skipped.
  if (!paused) await db.run('UPDATE marks SET until = greatest(until, $1) WHERE schedule_id = $2', now, id)
  return null
}

const schedule_open: ApplyPgOp<'schedule_open'> = async (db, { id, now }) => {
  await db.run('INSERT INTO marks (schedule_id, until) VALUES ($1, $2) ON CONFLICT (schedule_id) DO NOTHING', id, now)
  const mark = await db.get('SELECT * FROM marks WHERE schedule_id = $1', id)
  if (!mark || !isReadable('marks', mark))
    throw new RefusedBatch(
      'row_unreadable',
      `the progress of schedule ${id} cannot be read; do this: ${SET_ASIDE_REMEDY}`,
    )
  return { until: Number(mark.until) }
}

const schedule_fired: ApplyPgOp<'schedule_fired'> = async (db, { id, instant }) => {
  const changed = await db.run(
    `INSERT INTO marks AS m (schedule_id, until, fired) VALUES ($1, $2, $2) ON CONFLICT (schedule_id)
     DO UPDATE SET until = excluded.until, fired = excluded.fired WHERE m.until < excluded.until`,
    ...[id, instant],
  )
  return { first: changed === 1 }
}

export const cycleOps = {
  ...{ cycle_begin, cycle_end, set, select },
  ...{ schedule_put, schedule_remove, schedule_pause, schedule_open, schedule_fired },
}
