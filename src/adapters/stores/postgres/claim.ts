/** Claims dispatches in PostgreSQL, in batches, while other processes do the same. */

import type { Dispatch } from '../../../domain/dispatch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { dispatchFromRow, type SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, isReadable, tryWorkspaceLock } from './op-context.ts'

type ClaimOp = Parameters<ApplyPgOp<'claim'>>[1]

/**
 * Dispatches that can be claimed, next one first. At most one dispatch runs in a workspace: one whose folder is in use
 * stays pending and keeps its place (case 74). Rows that another process is claiming are skipped. `$1`: numbers of
 * dispatches that were looked at before. `is_free`: no other transaction claims in this workspace now.
 */
const candidates = (
  condition: string,
  order: string,
): string => `SELECT c.*, ${tryWorkspaceLock('c.workspace')} AS is_free
  FROM (SELECT d.*, s.workspace FROM dispatches d JOIN sessions s ON s.n = d.session
    WHERE d.status = 'pending' AND d.paused = 0 AND d.n <> ALL ($1::bigint[])
      AND NOT EXISTS (SELECT 1 FROM dispatches r JOIN sessions used ON used.n = r.session
        WHERE r.status = 'running' AND used.workspace = s.workspace)
      ${condition}
    ORDER BY d.priority DESC, ${order} LIMIT $2 FOR NO KEY UPDATE OF d SKIP LOCKED) AS c`

/** Named, or started by a named one: a run that waits for its sub-agents goes on only if they run. */
const IS_OF_NAMED_FAMILY = `AND d.n IN (WITH RECURSIVE member (n) AS (
    SELECT n FROM dispatches WHERE dispatch_id = ANY ($3::text[])
    UNION SELECT c.n FROM dispatches c JOIN member m ON c.parent = m.n) SELECT n FROM member)`

const OF_ALL = candidates('', 'd.n')
const OF_OTHERS = candidates('AND d.dispatch_id <> ALL ($3::text[])', 'd.n')
const OF_NAMED = candidates('AND d.dispatch_id = ANY ($3::text[])', 'array_position($3::text[], d.dispatch_id)')
const OF_FAMILY = candidates(IS_OF_NAMED_FAMILY, 'd.n')

export const claimDue: ApplyPgOp<'claim'> = async (db, op) => {
  // The lock makes `recover` of another process wait, so that nothing is claimed for a worker that it ends.
  const worker = await db.get('SELECT 1 FROM workers WHERE epoch = $1 AND left_at IS NULL FOR SHARE', op.epoch)
  if (!worker) throw new RefusedBatch('store_fenced', `worker epoch ${op.epoch} has ended and cannot claim dispatches`)
  const claimed: Dispatch[] = []
  const seen: number[] = []
  while (claimed.length < op.limit) {
    const wanted = op.limit - claimed.length
    const found = await findCandidates(db, op, seen, wanted)
    seen.push(...found.map(({ n }) => Number(n)))
    claimed.push(...(await claimFree(db, op, found.slice(0, wanted))))
    if (found.length < wanted) break
  }
  return claimed
}

/** The list `last` is searched on its own, because most claims have none, and the others can use an index. */
async function findCandidates(db: Queries, op: ClaimOp, seen: readonly number[], limit: number): Promise<SqlRow[]> {
  const { only, except = [], last = [] } = op
  if (only) return db.all(OF_FAMILY, seen, limit, only)
  const leftOut = [...except, ...last]
  const others = leftOut.length > 0 ? await db.all(OF_OTHERS, seen, limit, leftOut) : await db.all(OF_ALL, seen, limit)
  if (last.length === 0) return others
  const lastOnes = await db.all(
    OF_NAMED,
    seen,
    limit,
    last.filter((id) => !except.includes(id)),
  )
  // Sorting is stable: among those of one priority, `last` ones come last, in their order.
  return [...others, ...lastOnes].toSorted((a, b) => Number(b.priority) - Number(a.priority)).slice(0, limit)
}

/** Claims the first candidate of each workspace. Those with an unreadable row are left, so they do not block others. */
async function claimFree(db: Queries, { epoch, now }: ClaimOp, found: readonly SqlRow[]): Promise<Dispatch[]> {
  const readable = found.filter((row) => row.is_free === 1 && isReadable('dispatches', row))
  const firstIn = new Map<string, SqlRow>()
  for (const row of readable) if (!firstIn.has(String(row.workspace))) firstIn.set(String(row.workspace), row)
  const numbers = [...firstIn.values()].map(({ n }) => Number(n))
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
        WHERE r.status = 'running' AND used.workspace = s.workspace)
    RETURNING d.*)
  SELECT c.*, s.session_id, w.lease_until, p.dispatch_id AS parent_id
  FROM claimed c JOIN sessions s ON s.n = c.session LEFT JOIN workers w ON w.epoch = c.epoch
  LEFT JOIN dispatches p ON p.n = c.parent ORDER BY array_position($1::bigint[], c.n)`
