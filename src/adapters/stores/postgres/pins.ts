/** Homes of sessions in PostgreSQL: which worker may run a session, because its home has the files. */

import { iso } from '../../../ports/clock.ts'
import { type HomeSeen, homeSetting, type WorkerAbout } from '../../../ports/store/queue.ts'
import type { SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'

/** SQL: home and workspace of the newest session of a kernel that is pinned in the same folder; `of`: a row. */
export const pinOfFolder = (of: string): string =>
  `SELECT k.home, k.workspace FROM sessions k
   WHERE k.folder = ${of}.folder AND k.kernel_id = ${of}.kernel_id AND k.home <> '' ORDER BY k.n DESC LIMIT 1`

/** SQL: whether the home of a session is chosen by the claim; `s`: the session. */
export const IS_FREE = "s.home = '' AND s.folder IS NOT NULL"

/**
 * Pins sessions whose home is not chosen yet, to that of their folder, or else to the worker's. Contract: the rows
 * that the worker may still claim. Sessions that another transaction uses now are left for the next claim.
 */
export async function pinToHome(
  db: Queries,
  rows: readonly SqlRow[],
  about: WorkerAbout | undefined,
): Promise<readonly SqlRow[]> {
  const free = rows.filter(({ is_unpinned }) => is_unpinned === 1)
  if (free.length === 0 || about?.root === undefined) return rows
  const locked = await db.all(
    `SELECT s.n, s.folder, known.home, known.workspace FROM sessions s LEFT JOIN LATERAL (${pinOfFolder('s')}) AS known
     ON TRUE WHERE s.n = ANY ($1::bigint[]) AND ${IS_FREE} FOR NO KEY UPDATE OF s SKIP LOCKED`,
    free.map(({ session }) => Number(session)),
  )
  const pins = locked.map(({ n, folder, home, workspace }) => ({
    ...{ session: Number(n), home: String(home ?? about.home) },
    workspace: String(workspace ?? `${about.root}/${folder}`),
  }))
  const columns = [
    ...[pins.map(({ session }) => session), pins.map(({ home }) => home)],
    pins.map(({ workspace }) => workspace),
  ] as const
  await db.run(PIN_SESSIONS, ...columns)
  await db.run(PIN_DISPATCHES, columns[0], columns[1])
  const homes = new Map(pins.map(({ session, home }) => [session, home]))
  return rows.filter((row) => row.is_unpinned === 0 || homes.get(Number(row.session)) === about.home)
}

const PIN_SESSIONS = `UPDATE sessions s SET home = u.home, workspace = u.workspace
  FROM unnest($1::bigint[], $2::text[], $3::text[]) AS u (n, home, workspace) WHERE s.n = u.n`
const PIN_DISPATCHES = `UPDATE dispatches d SET home = u.home FROM unnest($1::bigint[], $2::text[]) AS u (n, home)
  WHERE d.session = u.n AND d.status = 'pending'`

/**
 * Sessions below the path of a home that were stored without a home are its own: they were moved from its own database,
 * or come from a version that did not know of homes. In the order of bytes, the character after a slash is 0.
 */
export async function adoptSessions(db: Queries, { home, root }: Pick<WorkerAbout, 'home' | 'root'>): Promise<void> {
  if (root === undefined) return
  const adopted = await db.all(
    `UPDATE sessions SET home = $1, folder = substr(workspace, length($2) + 2)
     WHERE home = '' AND folder IS NULL AND workspace >= $2 || '/' AND workspace < $2 || '0' RETURNING n`,
    ...[home, root],
  )
  if (adopted.length === 0) return
  await db.run(
    "UPDATE dispatches SET home = $1 WHERE session = ANY ($2::bigint[]) AND status IN ('pending', 'waiting')",
    ...[home, adopted.map(({ n }) => Number(n))],
  )
}

/** Contract: each of the homes, also one of which nothing is known any more. A server runs no dispatches. */
export async function findHomes(
  db: Pick<Queries, 'all'>,
  homes: readonly string[],
  now: number,
): Promise<readonly HomeSeen[]> {
  const found = await db.all(
    `SELECT home, max(coalesce(left_at, lease_until)) AS seen, (array_agg(about ORDER BY epoch DESC))[1] AS about,
       bool_or(left_at IS NULL AND lease_until > $2 AND about::json ->> 'role' IN ('all', 'worker'))::int AS is_alive
     FROM workers WHERE home = ANY ($1::text[]) GROUP BY home`,
    ...[homes, now],
  )
  const byHome = new Map(found.map((row) => [String(row.home), row]))
  return Promise.all(
    homes.map(async (home) => {
      const row = byHome.get(home)
      if (!row) return { home, host: await findHost(db, home), last_seen: null, is_alive: false }
      const { host } = JSON.parse(String(row.about)) as WorkerAbout
      return { home, host, last_seen: iso(Math.min(Number(row.seen), now)), is_alive: row.is_alive === 1 }
    }),
  )
}

/** The machine of a home without a worker so far: a command has added a session for it. */
async function findHost(db: Pick<Queries, 'all'>, home: string): Promise<string> {
  const [row] = await db.all('SELECT value FROM settings WHERE name = $1', homeSetting(home))
  return row ? String(JSON.parse(String(row.value))) : 'unknown'
}
