/** Reads cycles, schedules and settings. */

import type { Json } from '../../../../domain/json.ts'
import type { CycleReads } from '../../../../ports/store/cycles.ts'
import { cycleFromRow } from '../cycles.ts'
import { markFromRow, scheduleFromRow } from '../rows.ts'
import { readableCondition } from '../unreadable-rows.ts'
import type { RowReader } from './row-reader.ts'

export function cycleReads({ all, readOne }: RowReader): CycleReads {
  return {
    async cycles(kernelId, { limit }) {
      const condition = `kernel_id = ? AND ${readableCondition('cycles')}`
      return all(`SELECT * FROM cycles WHERE ${condition} ORDER BY n DESC LIMIT ?`, kernelId, limit).map(cycleFromRow)
    },
    async schedules() {
      return all(`SELECT * FROM schedules WHERE ${readableCondition('schedules')} ORDER BY n`).map(scheduleFromRow)
    },
    async marks() {
      return all(`SELECT * FROM marks WHERE ${readableCondition('marks')} ORDER BY schedule_id`).map(markFromRow)
    },
    async setting(name) {
      const row = readOne('settings', 'SELECT * FROM settings WHERE name = ?', name)
      return row ? (JSON.parse(String(row.value)) as Json) : null
    },
  }
}
