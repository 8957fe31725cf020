/** Table operations on cycles and settings. */

import { ENDED_DURING_CYCLE, errorCycleResult } from '../../../domain/cycle.ts'
import type { Op, OpResults } from '../../../ports/store.ts'
import { checkSettingBase, RefusedBatch } from '../refuse-batch.ts'
import type { SqlRow } from '../rows/rows.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

/** Only one process runs a kernel, so an unfinished cycle belongs to a dead process and is ended here. */
export function beginCycle(sql: Sql, op: Extract<Op, { op: 'cycle_begin' }>): OpResults['cycle_begin'] {
  const { kernel_id, cycle_id, trigger, due, now } = op
  const newest = sql(
    `SELECT cycle_id, open, ${readableCondition('cycles')} AS is_readable ` +
      'FROM cycles WHERE kernel_id = ? ORDER BY n DESC LIMIT 1',
  ).get(kernel_id) as SqlRow | undefined
  const interrupted = sql(
    `SELECT * FROM cycles WHERE kernel_id = ? AND ended_at IS NULL AND ${readableCondition('cycles')} ORDER BY n`,
  ).all(kernel_id) as SqlRow[]
  for (const row of interrupted) {
    const result = errorCycleResult(String(row.cycle_id), ENDED_DURING_CYCLE, now - Number(row.started_at))
    sql('UPDATE cycles SET ended_at = ?, result = ? WHERE n = ?').run(now, JSON.stringify(result), Number(row.n))
  }
  const left = [...(newest ? openDispatches(sql, newest) : []), ...interrupted.flatMap(dispatchesIn(sql))]
  // The open dispatches are stored now, so that the next cycle finds them even if this cycle is interrupted, too.
  sql('INSERT INTO cycles (cycle_id, kernel_id, trigger, due, started_at, open) VALUES (?, ?, ?, ?, ?, ?)').run(
    cycle_id,
    kernel_id,
    trigger,
    due,
    now,
    JSON.stringify(left),
  )
  return { interrupted: interrupted.map((row) => String(row.cycle_id)), left }
}

/** If the cycle's row is unreadable, all dispatches of the cycle count as open. */
const openDispatches = (sql: Sql, newest: SqlRow): string[] =>
  newest.is_readable === 1 ? (JSON.parse(String(newest.open)) as string[]) : dispatchesIn(sql)(newest)

const dispatchesIn =
  (sql: Sql) =>
  ({ cycle_id }: SqlRow): string[] => {
    const dispatches = sql('SELECT dispatch_id FROM dispatches WHERE cycle_id = ? ORDER BY n').all(
      String(cycle_id),
    ) as SqlRow[]
    return dispatches.map(({ dispatch_id }) => String(dispatch_id))
  }

export function endCycle(sql: Sql, op: Extract<Op, { op: 'cycle_end' }>): OpResults['cycle_end'] {
  const { changes } = sql(
    'UPDATE cycles SET ended_at = ?, result = ?, open = ? WHERE cycle_id = ? AND ended_at IS NULL',
  ).run(op.now, JSON.stringify(op.result), JSON.stringify(op.open), op.result.cycle_id)
  if (Number(changes) !== 1) throw new RefusedBatch('conflict', `cycle ${op.result.cycle_id} has ended, or never began`)
  return null
}

export function writeSetting(sql: Sql, { name, value, base }: Extract<Op, { op: 'set' }>): OpResults['set'] {
  if (base !== undefined)
    checkSettingBase(name, sql('SELECT value FROM settings WHERE name = ?').get(name)?.value, base)
  if (value === null) sql('DELETE FROM settings WHERE name = ?').run(name)
  else sql('INSERT INTO settings VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2').run(name, JSON.stringify(value))
  return null
}
