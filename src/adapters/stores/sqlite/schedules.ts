/** Table operations on added schedules, and on the progress marks of all schedules. */

import { SET_ASIDE_REMEDY } from '../../../domain/unreadable-row.ts'
import type { Op, OpResults } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

type ScheduleOp<K extends Op['op']> = Extract<Op, { op: K }>

export function putSchedule(sql: Sql, { entry, now }: ScheduleOp<'schedule_put'>): null {
  const { changes } = sql(
    `INSERT INTO schedules (id, spec, timezone, agent_id, prompt, paused, created_at) VALUES (?, ?, ?, ?, ?, 0, ?)
     ON CONFLICT (id) DO NOTHING`,
  ).run(
    entry.id,
    JSON.stringify(entry.spec),
    entry.timezone,
    entry.agent_id,
    entry.prompt,
    Date.parse(entry.created_at),
  )
  if (Number(changes) === 0) throw new RefusedBatch('conflict', `schedule ${entry.id} already exists`)
  // If its beat was still running, a removed schedule of the same name may have left its progress mark.
  sql(
    'INSERT INTO marks (schedule_id, until) VALUES (?1, ?2) ON ' +
      'CONFLICT (schedule_id) DO UPDATE SET until = ?2, fired = NULL',
  ).run(entry.id, now)
  return null
}

export function removeSchedule(sql: Sql, { id }: ScheduleOp<'schedule_remove'>): OpResults['schedule_remove'] {
  const { changes } = sql('DELETE FROM schedules WHERE id = ?').run(id)
  const removed = Number(changes) === 1
  if (removed) sql('DELETE FROM marks WHERE schedule_id = ?').run(id)
  return { removed }
}

export function pauseSchedule(sql: Sql, { id, paused, now }: ScheduleOp<'schedule_pause'>): null {
  const { changes } = sql('UPDATE schedules SET paused = ? WHERE id = ?').run(paused ? 1 : 0, id)
  if (Number(changes) === 0) throw new RefusedBatch('not_found', `unknown schedule ${id}`)
  // Beats that were missed during the pause are skipped.
  if (!paused) sql('UPDATE marks SET until = max(until, ?) WHERE schedule_id = ?').run(now, id)
  return null
}

export function openSchedule(sql: Sql, { id, now }: ScheduleOp<'schedule_open'>): OpResults['schedule_open'] {
  sql('INSERT INTO marks (schedule_id, until) VALUES (?, ?) ON CONFLICT (schedule_id) DO NOTHING').run(id, now)
  const mark = sql(`SELECT until FROM marks WHERE schedule_id = ? AND ${readableCondition('marks')}`).get(id)
  if (!mark)
    throw new RefusedBatch(
      'row_unreadable',
      `the progress of schedule ${id} cannot be read; do this: ${SET_ASIDE_REMEDY}`,
    )
  return { until: Number(mark.until) }
}

export function fireSchedule(sql: Sql, { id, instant }: ScheduleOp<'schedule_fired'>): OpResults['schedule_fired'] {
  const { changes } = sql(
    `INSERT INTO marks (schedule_id, until, fired) VALUES (?1, ?2, ?2)
     ON CONFLICT (schedule_id) DO UPDATE SET until = ?2, fired = ?2 WHERE until < ?2`,
  ).run(id, instant)
  return { first: Number(changes) === 1 }
}
