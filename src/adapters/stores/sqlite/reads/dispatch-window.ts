/** Reads a window of the dispatches that match a filter, and their number. */

import type { DispatchFilter, QueueReads } from '../../../../ports/store/queue.ts'
import { DISPATCH_COLUMNS, dispatchFromRow } from '../../rows/rows.ts'
import { readableCondition } from '../readable-functions.ts'
import type { RowReader } from './row-reader.ts'

/** Dispatches searched before yielding to the event loop, which takes some milliseconds. */
const BATCH_SIZE = 1000

/** Contract: as in the port. Rows are checked for readability only if they are shown, because that is slow. */
export async function readDispatchWindow(
  all: RowReader['all'],
  filter: Parameters<QueueReads['dispatchWindow']>[0],
): ReturnType<QueueReads['dispatchWindow']> {
  const { offset, limit } = filter
  const { total, numbers } = filter.words?.length
    ? await searchDispatches(all, filter, offset, limit)
    : pageDispatches(all, filter, offset, limit)
  const rows = all(
    `SELECT ${DISPATCH_COLUMNS} WHERE d.n IN (SELECT value FROM json_each(?))
      AND ${readableCondition('dispatches', 'd')} ORDER BY d.n DESC`,
    JSON.stringify(numbers),
  )
  return { total, items: rows.map(dispatchFromRow) }
}

interface Found {
  readonly total: number
  readonly numbers: readonly number[]
}

/** Conditions on columns of the index `dispatches_listed`; their values are `filterValues`. */
const FILTER = `(?1 IS NULL OR d.status = ?1) AND (?2 IS NULL OR d.agent_id = ?2)
  AND (?3 IS NULL OR d.created_at >= ?3) AND (?4 IS NULL OR d.created_at < ?4)`

const IN_FLIGHT = "d.status IN ('pending', 'running', 'waiting')"

const conditionsOn = ({ in_flight }: DispatchFilter): string => (in_flight ? `${FILTER} AND ${IN_FLIGHT}` : FILTER)

const filterValues = ({ status, agent_id, created }: DispatchFilter) =>
  [status ?? null, agent_id ?? null, created?.from ?? null, created?.to ?? null] as const

/** Rows can be long, so only the index is read; without INDEXED BY, SQLite would read the rows. */
function pageDispatches(all: RowReader['all'], filter: DispatchFilter, offset: number, limit: number): Found {
  const matching = `FROM dispatches d INDEXED BY dispatches_listed WHERE ${conditionsOn(filter)}`
  const values = filterValues(filter)
  const [count] = all(`SELECT count(*) AS total ${matching}`, ...values)
  const page = all(`SELECT d.n ${matching} ORDER BY d.n DESC LIMIT ?5 OFFSET ?6`, ...values, limit, offset)
  return { total: Number(count?.total), numbers: page.map(({ n }) => Number(n)) }
}

/** Reads all rows, newest first, in batches. */
async function searchDispatches(
  all: RowReader['all'],
  filter: DispatchFilter,
  offset: number,
  limit: number,
): Promise<Found> {
  const patterns = (filter.words ?? []).map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`)
  const hasWords = patterns.map((_, i) => {
    const like = `LIKE ?${i + 7} ESCAPE '\\'`
    return `(d.dispatch_id ${like} OR d.prompt ${like} OR d.result ${like} OR d.error ${like})`
  })
  const matches = [conditionsOn(filter), ...hasWords].join(' AND ')
  const batch = `SELECT d.n FROM dispatches d WHERE d.n > ?5 AND d.n <= ?6 AND ${matches} ORDER BY d.n DESC`
  const found: number[] = []
  for (let last = newest(all); last > 0; last -= BATCH_SIZE) {
    const rows = all(batch, ...filterValues(filter), last - BATCH_SIZE, last, ...patterns)
    for (const { n } of rows) found.push(Number(n))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { total: found.length, numbers: found.slice(offset, offset + limit) }
}

const newest = (all: RowReader['all']): number => Number(all('SELECT max(n) AS n FROM dispatches')[0]?.n ?? 0)

const IS_IN = 'd.session = (SELECT n FROM sessions WHERE session_id = ?)'

/** Contract: as in the port. */
export function readDispatchesIn(
  all: RowReader['all'],
  sessionId: string,
  { offset, limit }: Parameters<QueueReads['dispatchesIn']>[1],
): Awaited<ReturnType<QueueReads['dispatchesIn']>> {
  const [counted] = all(`SELECT count(*) AS total FROM dispatches d WHERE ${IS_IN}`, sessionId)
  const listed = `${IS_IN} AND ${readableCondition('dispatches', 'd')}`
  const query = `SELECT ${DISPATCH_COLUMNS} WHERE ${listed} ORDER BY d.n DESC LIMIT ? OFFSET ?`
  return { items: all(query, sessionId, limit, offset).map(dispatchFromRow), total: Number(counted?.total) }
}
