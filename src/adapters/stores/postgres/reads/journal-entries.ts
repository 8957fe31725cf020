/**
 * Reads the entries of all journals from a place on. Transactions end in another order than they take the numbers of
 * their entries, so numbers that are missing below the highest one are asked for again, until their transactions have
 * surely ended: a transaction has its own number before it takes one for an entry, because it locks the session first.
 */

import type { JournalPlace, SessionReads } from '../../../../ports/store/sessions.ts'
import { entriesFromRows } from '../../rows/journal-entries.ts'
import type { SqlRow } from '../../rows/rows.ts'
import type { PgRowReader } from './row-reader.ts'

/** How far back the first place looks for numbers that are missing, and how many are kept. */
const MAX_OPEN = 1000

/** No transaction with a lower number runs. */
const OLDEST = 'pg_snapshot_xmin(pg_current_snapshot())::text AS oldest'

/**
 * A new number, which is higher than that of every transaction so far. The upper end of a snapshot is not: it is only
 * higher than those that have ended.
 */
const MARK = 'SELECT pg_current_xact_id()::text AS mark'

const COLUMNS = 'n, session, seq, body'

/** One statement, so that the entries fit to the snapshot. */
const AFTER = `SELECT j.*, s.session_id, ${OLDEST} FROM (
    SELECT ${COLUMNS} FROM journal WHERE n = ANY ($2::bigint[])
    UNION ALL (SELECT ${COLUMNS} FROM journal WHERE n > $1 ORDER BY n LIMIT $3)) AS j
  LEFT JOIN sessions s ON s.n = j.session ORDER BY j.n`

export const pgEntryReads = ({ all }: Pick<PgRowReader, 'all'>): Pick<SessionReads, 'journalEnd' | 'journalAfter'> => ({
  async journalEnd() {
    const rows = await all(
      `SELECT n, ${OLDEST} FROM journal WHERE n > (SELECT max(n) FROM journal) - ${MAX_OPEN} ORDER BY n`,
    )
    const last = Number(rows.at(-1)?.n ?? 0)
    return placeBehind({ entry: Math.max(0, last - MAX_OPEN), open: [] }, rows, all)
  },
  async journalAfter(place, limit) {
    const rows = await all(
      AFTER,
      place.entry,
      place.open.map(([entry]) => entry),
      limit,
    )
    const isEnd = rows.filter(({ n }) => Number(n) > place.entry).length < limit
    const readable = rows.filter(({ session_id }) => session_id !== null)
    return { entries: await entriesFromRows(readable), place: await placeBehind(place, rows, all), isEnd }
  },
})

/** `rows`: what was read at the place, ordered by number. */
async function placeBehind(
  place: JournalPlace,
  rows: readonly SqlRow[],
  all: PgRowReader['all'],
): Promise<JournalPlace> {
  const oldest = rows[0]?.oldest ?? 0
  const found = new Set(rows.map(({ n }) => Number(n)))
  const entry = Math.max(place.entry, Number(rows.at(-1)?.n ?? 0))
  const stillOpen = place.open.filter(([n, mark]) => !found.has(n) && !(rows.length > 0 && isOver(mark, oldest)))
  const missing: number[] = []
  for (let n = Math.max(place.entry, entry - MAX_OPEN) + 1; n < entry; n += 1) if (!found.has(n)) missing.push(n)
  if (missing.length === 0) return { entry, open: stillOpen }
  const mark = String((await all(MARK))[0]?.mark)
  return { entry, open: [...stillOpen, ...missing.map((n) => [n, mark] as const)].slice(-MAX_OPEN) }
}

const isOver = (mark: string, oldest: unknown): boolean => BigInt(mark) <= BigInt(String(oldest))
