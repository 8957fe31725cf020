/** Reads cycles, schedules and settings. */

import type { Json } from '../../../../domain/json.ts'
import type { CycleReads } from '../../../../ports/store/cycles.ts'
import { leaderSetting, parseLeader } from '../../leaders.ts'
import { cycleFromRow } from '../../rows/message-rows.ts'
import { markFromRow, scheduleFromRow } from '../../rows/rows.ts'
import { readableCondition } from '../readable-functions.ts'
import type { RowReader } from './row-reader.ts'

/**
 * Every model call belongs to a dispatch, the planner's question too. The recorded number counts as well, because the
 * dispatches of a cycle may have been deleted before the cycle.
 */
const COUNT_CYCLES = `SELECT count(*) AS ended, total(json_extract(c.result, '$.dispatched') = 0
    AND NOT EXISTS (SELECT 1 FROM dispatches d WHERE d.cycle_id = c.cycle_id)) AS quiet
  FROM cycles c WHERE c.kernel_id = ? AND c.started_at >= ? AND c.ended_at IS NOT NULL AND json_valid(c.result)`

export function cycleReads({ all, readOne }: RowReader): CycleReads {
  return {
    async cycles(kernelId, { limit }) {
      const condition = `kernel_id = ? AND ${readableCondition('cycles')}`
      return all(`SELECT * FROM cycles WHERE ${condition} ORDER BY n DESC LIMIT ?`, kernelId, limit).map(cycleFromRow)
    },
    async countCycles(kernelId, since) {
      const [row] = all(COUNT_CYCLES, kernelId, since)
      return { ended: Number(row?.ended ?? 0), quiet: Number(row?.quiet ?? 0) }
    },
    async schedules() {
      return all(`SELECT * FROM schedules WHERE ${readableCondition('schedules')} ORDER BY n`).map(scheduleFromRow)
    },
    async marks() {
      return all(`SELECT * FROM marks WHERE ${readableCondition('marks')} ORDER BY schedule_id`).map(markFromRow)
    },
    async leader(name) {
      const row = readOne('settings', 'SELECT * FROM settings WHERE name = ?', leaderSetting(name))
      return parseLeader(row?.value)
    },
    async setting(name) {
      const row = readOne('settings', 'SELECT * FROM settings WHERE name = ?', name)
      return row ? (JSON.parse(String(row.value)) as Json) : null
    },
  }
}
