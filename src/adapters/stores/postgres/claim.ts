/** Claims dispatches in PostgreSQL, in batches, while other processes do the same. */

import type { Dispatch } from '../../../domain/dispatch.ts'
import type { WorkerAbout } from '../../../ports/store/queue.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { dispatchFromRow, type SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, isReadable, tryWorkspaceLock } from './op-context.ts'
import { IS_FREE, pinToHome } from './pins.ts'

type ClaimOp = Parameters<ApplyPgOp<'claim'>>[1]

/** Where a session's files are if this worker runs it; `$4`: the path of the worker's home. */
const WORKSPACE = `CASE WHEN ${IS_FREE} AND $4::text IS NOT NULL THEN $4::text || '/' || s.folder ELSE s.workspace END`

/** Dispatches of some homes that can be claimed, next one first; rows that another process is claiming are skipped. */
const candidatesIn = (homes: string, condition: string, order: string): string =>
  `SELECT d.*, ${WORKSPACE} AS workspace, s.folder, (${IS_FREE})::int AS is_unpinned
   FROM dispatches d JOIN sessions s ON s.n = d.session
   WHERE d.status = 'pending' AND d.paused = 0 AND ${homes} AND d.n <> ALL ($1::bigint[])
     AND NOT EXISTS (SELECT 1 FROM dispatches r JOIN sessions used ON used.n = r.session
       WHERE r.status = 'running' AND used.workspace = ${WORKSPACE}
         AND (used.home IN ('', $3) OR (s.home = '' AND s.folder IS NULL)))
     ${condition}
   ORDER BY d.priority DESC, ${order} LIMIT $2 FOR NO KEY UPDATE OF d SKIP LOCKED`

/**
 * Dispatches that can be claimed, next one first. At most one dispatch runs in a workspace: one whose folder is in use
 * stays pending and keeps its place (case 74). Those of the worker's home (`$3`) and those of no home are searched
 * apart, so that those of other homes are not read. `$1`: numbers of dispatches that were looked at before. `is_free`:
 * no other transaction claims in this workspace now, or for this folder of a home.
 */
const candidates = (condition: string, order: string, place = 'n'): string =>
  `SELECT c.*, ${tryWorkspaceLock('CASE c.is_unpinned WHEN 1 THEN c.folder ELSE c.workspace END')} AS is_free
   FROM (SELECT * FROM (${candidatesIn("d.home = ''", condition, order)}) AS of_all
     UNION ALL SELECT * FROM (${candidatesIn("d.home = $3 AND $3 <> ''", condition, order)}) AS of_home) AS c
   ORDER BY c.priority DESC, ${place} LIMIT $2`

/** Named, or started by a named one: a run that waits for its sub-agents goes on only if they run. */
const IS_OF_NAMED_FAMILY = `AND d.n IN (WITH RECURSIVE member (n) AS (
    SELECT n FROM dispatches WHERE dispatch_id = ANY ($5::text[])
    UNION SELECT c.n FROM dispatches c JOIN member m ON c.parent = m.n) SELECT n FROM member)`

const placeIn = (row: string): string => `array_position($5::text[], ${row}.dispatch_id)`

const OF_ALL = candidates('', 'd.n')
const OF_OTHERS = candidates('AND d.dispatch_id <> ALL ($5::text[])', 'd.n')
const OF_NAMED = candidates('AND d.dispatch_id = ANY ($5::text[])', placeIn('d'), placeIn('c'))
const OF_FAMILY = candidates(IS_OF_NAMED_FAMILY, 'd.n')

export const claimDue: ApplyPgOp<'claim'> = async (db, op) => {
  // The lock makes `recover` of another process wait, so that nothing is claimed for a worker that it ends.
  const worker = await db.get('SELECT about FROM workers WHERE epoch = $1 AND left_at IS NULL FOR SHARE', op.epoch)
  if (!worker) throw new RefusedBatch('store_fenced', `worker epoch ${op.epoch} has ended and cannot claim dispatches`)
  const about = worker.about === null ? undefined : (JSON.parse(String(worker.about)) as WorkerAbout)
  const claimed: Dispatch[] = []
  const seen: number[] = []
  while (claimed.length < op.limit) {
    const wanted = op.limit - claimed.length
    const found = await findCandidates(db, op, [seen, wanted, about?.home ?? '', about?.root ?? null])
    seen.push(...found.map(({ n }) => Number(n)))
    claimed.push(...(await claimFree(db, op, about, found.slice(0, wanted))))
    if (found.length < wanted) break
  }
  return claimed
}

type Search = readonly [seen: readonly number[], limit: number, home: string, root: string | null]

/** The list `last` is searched on its own, because most claims have none, and the others can use an index. */
async function findCandidates(db: Queries, op: ClaimOp, search: Search): Promise<SqlRow[]> {
  const { only, except = [], last = [] } = op
  if (only) return db.all(OF_FAMILY, ...search, only)
  const leftOut = [...except, ...last]
  const others = leftOut.length > 0 ? await db.all(OF_OTHERS, ...search, leftOut) : await db.all(OF_ALL, ...search)
  if (last.length === 0) return others
  const lastOnes = await db.all(
    OF_NAMED,
    ...search,
    [...last].filter((id) => !except.includes(id)),
  )
  // Sorting is stable: among those of one priority, `last` ones come last, in their order.
  return [...others, ...lastOnes].toSorted((a, b) => Number(b.priority) - Number(a.priority)).slice(0, search[1])
}

/** Claims the first candidate of each workspace. Those with an unreadable row are left, so they do not block others. */
async function claimFree(
  db: Queries,
  { epoch, now }: ClaimOp,
  about: WorkerAbout | undefined,
  found: readonly SqlRow[],
): Promise<Dispatch[]> {
  const readable = found.filter((row) => row.is_free === 1 && isReadable('dispatches', row))
  const firstIn = new Map<string, SqlRow>()
  for (const row of readable) if (!firstIn.has(String(row.workspace))) firstIn.set(String(row.workspace), row)
  const pinned = await pinToHome(db, [...firstIn.values()], about)
  const numbers = pinned.map(({ n }) => Number(n))
  if (numbers.length === 0) return []
  const rows = await db.all(CLAIM, numbers, epoch, now)
  return rows.map(dispatchFromRow)
}

/** The workspaces are checked again: a run may have started there before this transaction got their locks. */
const CLAIM = `WITH claimed AS (
    UPDATE dispatches d SET status = 'running', epoch = $2, token = d.token + 1, attempts = d.attempts + 1, wait = NULL,
      due = NULL, crashes = CASE WHEN s.head > d.head_at_claim THEN 0 ELSE d.crashes END, head_at_claim = s.head,
      updated_at = $3
    FROM sessions s WHERE s.n = d.session AND d.n = ANY ($1::bigint[]) AND d.status = 'pending' AND d.paused = 0
      AND NOT EXISTS (SELECT 1 FROM dispatches r JOIN sessions used ON used.n = r.session
        WHERE r.status = 'running' AND used.workspace = s.workspace
          AND (used.home IN ('', s.home) OR s.home = ''))
    RETURNING d.*)
  SELECT c.*, s.session_id, w.lease_until, p.dispatch_id AS parent_id
  FROM claimed c JOIN sessions s ON s.n = c.session LEFT JOIN workers w ON w.epoch = c.epoch
  LEFT JOIN dispatches p ON p.n = c.parent ORDER BY array_position($1::bigint[], c.n)`
