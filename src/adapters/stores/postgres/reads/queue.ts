/** Reads dispatches, workers and the next timer from PostgreSQL. */

import { DISPATCH_STATUSES, type DispatchStatus } from '../../../../domain/dispatch.ts'
import { iso } from '../../../../ports/clock.ts'
import type { DispatchCounts, QueueReads, WorkerAbout } from '../../../../ports/store/queue.ts'
import { DISPATCH_COLUMNS, dispatchFromRow } from '../../rows/rows.ts'
import { IN_FLIGHT } from '../op-context.ts'
import { findHomes } from '../pins.ts'
import { DATABASE_NOW } from '../transaction.ts'
import { conditionsFor, type PgRowReader } from './row-reader.ts'

const listOf = (condition: string): string => `SELECT ${DISPATCH_COLUMNS} WHERE ${condition}`

export function pgQueueReads(rows: PgRowReader, leases: 'database' | 'given'): QueueReads {
  const { readAll, readOne, readPage } = rows
  return {
    async dispatch(id) {
      const row = await readOne('dispatches', listOf('d.dispatch_id = $1'), id)
      return row && dispatchFromRow(row)
    },
    async dispatches({ status, agent_id, active, limit }) {
      const { text, values } = conditionsFor(
        ['d.status = ?', status],
        ['d.agent_id = ?', agent_id],
        ['d.updated_at >= ?', active?.from],
        ['d.created_at < ?', active?.to],
      )
      const found = await readPage('dispatches', `${listOf(text)} ORDER BY d.n DESC`, values, { limit })
      return found.map(dispatchFromRow)
    },
    dispatchWindow: (filter) => readWindow(rows, filter),
    async dispatchesIn(sessionId, page) {
      const isIn = 'd.session = (SELECT n FROM sessions WHERE session_id = $1)'
      const [counted] = await rows.all(`SELECT count(*) AS total FROM dispatches d WHERE ${isIn}`, sessionId)
      const found = await readPage('dispatches', `${listOf(isIn)} ORDER BY d.n DESC`, [sessionId], page)
      return { items: found.map(dispatchFromRow), total: Number(counted?.total) }
    },
    counts: () => countDispatches(rows.all),
    async recent(kernelId, agentId, limit) {
      const text = `${listOf('d.kernel_id = $1 AND d.agent_id = $2')} ORDER BY d.n DESC`
      return (await readPage('dispatches', text, [kernelId, agentId], { limit })).map(dispatchFromRow)
    },
    async dispatchesOf(cycleId) {
      return (await readAll('dispatches', `${listOf('d.cycle_id = $1')} ORDER BY d.n`, cycleId)).map(dispatchFromRow)
    },
    async childrenOf(dispatchId) {
      const isChild = 'd.parent = (SELECT n FROM dispatches WHERE dispatch_id = $1)'
      return (await readAll('dispatches', `${listOf(isChild)} ORDER BY d.n`, dispatchId)).map(dispatchFromRow)
    },
    workers: (now) => readWorkers(rows, leases, now),
    async homes(ids, given) {
      if (ids.length === 0) return []
      const [row] = leases === 'given' ? [] : await rows.all(`SELECT ${DATABASE_NOW} AS now`)
      return findHomes(rows, ids, row ? Number(row.now) : given)
    },
    async nextTimer() {
      const waiting = "SELECT * FROM dispatches WHERE status = 'waiting' AND due IS NOT NULL ORDER BY due"
      const [first] = await readPage('dispatches', waiting, [], { limit: 1 })
      return first && Number(first.due)
    },
    async nextExpiry() {
      const open = "SELECT * FROM approvals WHERE status = 'open' ORDER BY expires_at"
      const [first] = await readPage('approvals', open, [], { limit: 1 })
      return first && Number(first.expires_at)
    },
  }
}

/** Numbers are searched first: rows can be long, and an index has what lists filter by. */
async function readWindow(
  { all, readAll }: PgRowReader,
  filter: Parameters<QueueReads['dispatchWindow']>[0],
): ReturnType<QueueReads['dispatchWindow']> {
  const { status, in_flight, agent_id, created, words = [], offset, limit } = filter
  const { text, values } = conditionsFor(
    ['d.status = ?', status],
    [`d.status IN ${IN_FLIGHT}`, in_flight ? true : undefined],
    ['d.agent_id = ?', agent_id],
    ['d.created_at >= ?', created?.from ?? undefined],
    ['d.created_at < ?', created?.to ?? undefined],
    ...words.map((word) => [HAS_WORD, `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`] as const),
  )
  const matching = `FROM dispatches d WHERE ${text}`
  const page = `ORDER BY d.n DESC LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
  const [counted, numbers] = await Promise.all([
    all(`SELECT count(*) AS total ${matching}`, ...values),
    all(`SELECT d.n ${matching} ${page}`, ...values, limit, offset),
  ])
  const found = await readAll(
    'dispatches',
    `${listOf('d.n = ANY ($1::bigint[])')} ORDER BY d.n DESC`,
    numbers.map(({ n }) => Number(n)),
  )
  return { total: Number(counted[0]?.total), items: found.map(dispatchFromRow) }
}

const HAS_WORD = 'd.dispatch_id ILIKE ? OR d.prompt ILIKE ? OR d.result ILIKE ? OR d.error ILIKE ?'

async function countDispatches(all: PgRowReader['all']): Promise<DispatchCounts> {
  const [tally, pending] = await Promise.all([
    all('SELECT status, n FROM tally'),
    all("SELECT 1 FROM dispatches WHERE status = 'pending' AND paused = 0 LIMIT 1"),
  ])
  const counted = new Map(tally.map(({ status, n }) => [String(status), Number(n)]))
  // Dispatches are claimed only if the count of pending ones is above 0; a wrong count must not stop the queue.
  const isWrong = (status: DispatchStatus): boolean =>
    (counted.get(status) ?? 0) < (status === 'pending' && pending.length > 0 ? 1 : 0)
  const countOf = async (status: DispatchStatus): Promise<number> =>
    isWrong(status)
      ? Number((await all('SELECT count(*) AS n FROM dispatches WHERE status = $1', status))[0]?.n)
      : (counted.get(status) ?? 0)
  const counts = await Promise.all(DISPATCH_STATUSES.map(async (status) => [status, await countOf(status)] as const))
  return Object.fromEntries(counts) as DispatchCounts
}

async function readWorkers(
  { readAll }: PgRowReader,
  leases: 'database' | 'given',
  now: number,
): ReturnType<QueueReads['workers']> {
  const aliveAt = (instant: string): string =>
    `SELECT *, lease_until - ${instant} AS lease_left_ms FROM workers
     WHERE left_at IS NULL AND lease_until > ${instant} ORDER BY epoch`
  const found =
    leases === 'given'
      ? await readAll('workers', aliveAt('$1::bigint'), now)
      : await readAll('workers', aliveAt(DATABASE_NOW))
  return found.map(({ epoch, name, joined_at, lease_until, lease_left_ms, about }) => ({
    ...{ epoch: Number(epoch), name: String(name), joined_at: iso(Number(joined_at)) },
    ...{ lease_until: iso(Number(lease_until)), lease_left_ms: Number(lease_left_ms) },
    about: about === null ? null : (JSON.parse(String(about)) as WorkerAbout),
  }))
}
