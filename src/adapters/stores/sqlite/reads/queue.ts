/** Reads dispatches, workers and the next timer. */

import { DISPATCH_STATUSES, type DispatchStatus } from '../../../../domain/dispatch.ts'
import { iso } from '../../../../ports/clock.ts'
import type { DispatchCounts, QueueReads } from '../../../../ports/store/queue.ts'
import { DISPATCH_COLUMNS, dispatchFromRow } from '../../rows/rows.ts'
import { readableCondition } from '../readable-functions.ts'
import { readDispatchesIn, readDispatchWindow } from './dispatch-window.ts'
import type { RowReader } from './row-reader.ts'

const IS_CHILD = `d.parent = (SELECT n FROM dispatches WHERE dispatch_id = ?)
  AND ${readableCondition('dispatches', 'd')}`

export function queueReads({ all, readOne }: RowReader): QueueReads {
  return {
    async dispatch(id) {
      const row = readOne('dispatches', `SELECT ${DISPATCH_COLUMNS} WHERE d.dispatch_id = ?`, id)
      return row && dispatchFromRow(row)
    },
    async dispatches({ status, agent_id, active, limit }) {
      const condition = `(?1 IS NULL OR d.status = ?1) AND (?2 IS NULL OR d.agent_id = ?2)
        AND (?3 IS NULL OR d.updated_at >= ?3) AND (?4 IS NULL OR d.created_at < ?4)
        AND ${readableCondition('dispatches', 'd')}`
      return all(
        `SELECT ${DISPATCH_COLUMNS} WHERE ${condition} ORDER BY d.n DESC LIMIT ?5`,
        status ?? null,
        agent_id ?? null,
        active?.from ?? null,
        active?.to ?? null,
        limit,
      ).map(dispatchFromRow)
    },
    dispatchWindow: (filter) => readDispatchWindow(all, filter),
    dispatchesIn: async (sessionId, page) => readDispatchesIn(all, sessionId, page),
    counts: async () => countDispatches(all),
    async recent(kernelId, agentId, limit) {
      return all(
        `SELECT ${DISPATCH_COLUMNS} WHERE d.kernel_id = ? AND d.agent_id = ? AND ${readableCondition('dispatches', 'd')}
         ORDER BY d.n DESC LIMIT ?`,
        kernelId,
        agentId,
        limit,
      ).map(dispatchFromRow)
    },
    async dispatchesOf(cycleId) {
      const condition = `d.cycle_id = ? AND ${readableCondition('dispatches', 'd')}`
      return all(`SELECT ${DISPATCH_COLUMNS} WHERE ${condition} ORDER BY d.n`, cycleId).map(dispatchFromRow)
    },
    async childrenOf(dispatchId) {
      return all(`SELECT ${DISPATCH_COLUMNS} WHERE ${IS_CHILD} ORDER BY d.n`, dispatchId).map(dispatchFromRow)
    },
    async workers(now) {
      const alive = `left_at IS NULL AND lease_until > ? AND ${readableCondition('workers')}`
      return all(`SELECT * FROM workers WHERE ${alive} ORDER BY epoch`, now).map(
        ({ epoch, name, joined_at, lease_until }) => ({
          ...{ epoch: Number(epoch), name: String(name), joined_at: iso(Number(joined_at)), about: null },
          ...{ lease_until: iso(Number(lease_until)), lease_left_ms: Number(lease_until) - now },
        }),
      )
    },
    homes: async () => [],
    async nextTimer() {
      // ORDER BY with LIMIT uses the index; min() would read every row.
      const waiting = `status = 'waiting' AND due IS NOT NULL AND ${readableCondition('dispatches')}`
      const [first] = all(`SELECT due FROM dispatches WHERE ${waiting} ORDER BY due LIMIT 1`)
      return first && Number(first.due)
    },
    async nextExpiry() {
      const open = `status = 'open' AND ${readableCondition('approvals')}`
      const [first] = all(`SELECT expires_at FROM approvals WHERE ${open} ORDER BY expires_at LIMIT 1`)
      return first && Number(first.expires_at)
    },
  }
}

function countDispatches(all: RowReader['all']): DispatchCounts {
  const counted = new Map(
    all(`SELECT status, n FROM tally WHERE ${readableCondition('tally')}`).map(({ status, n }) => [status, Number(n)]),
  )
  const isComplete = counted.size === Number(all('SELECT count(*) AS n FROM tally')[0]?.n)
  // Dispatches are claimed only if the count of pending ones is above 0; a wrong count must not stop the queue.
  const [pending] = all("SELECT 1 FROM dispatches WHERE status = 'pending' AND paused = 0 LIMIT 1")
  const isWrong = (status: DispatchStatus): boolean =>
    counted.has(status) ? status === 'pending' && pending !== undefined && counted.get(status) === 0 : !isComplete
  const countOf = (status: DispatchStatus): number =>
    isWrong(status)
      ? Number(all('SELECT count(*) AS n FROM dispatches WHERE status = ?', status)[0]?.n)
      : (counted.get(status) ?? 0)
  return Object.fromEntries(DISPATCH_STATUSES.map((status) => [status, countOf(status)])) as DispatchCounts
}
