/** Ends the runs of many dispatches in PostgreSQL with few statements. */

import type { OpResults } from '../../../ports/store.ts'
import type { EncodedBatch } from '../encode-batch.ts'
import type { SqlRow } from '../rows/rows.ts'
import type { OpContext } from './op-context.ts'
import { finishSettle, LEFT_OPEN_COLUMNS, type SettleOp } from './queue.ts'

export interface FencedSettle {
  readonly fence: NonNullable<EncodedBatch['fence']>
  readonly settle: SettleOp
}

/**
 * Settles each dispatch whose token is the latest; nothing is written for the others. Contract: the results, by the ids
 * of the dispatches. Each dispatch comes once. The second statement looks at what the sessions left open only when all
 * of them are locked.
 */
export async function settleAllFenced(
  db: OpContext,
  settles: readonly FencedSettle[],
): Promise<ReadonlyMap<string, OpResults['settle']>> {
  if (settles.length === 0) return new Map()
  const ids = settles.map(({ fence }) => fence.dispatch_id)
  const column = <T>(pick: (settle: SettleOp) => T): T[] => settles.map(({ settle }) => pick(settle))
  const [settled, open] = await Promise.all([
    db.all(
      SETTLE_FENCED,
      ...[ids, settles.map(({ fence }) => fence.token), column(({ status }) => status)],
      ...[column(({ result }) => result), column(({ error }) => error), column((op) => op.failure_class)],
      column(({ now }) => now),
    ),
    db.all(LEFT_OPEN_BY_ID, ids),
  ])
  const done = new Set(settled.map(({ dispatch_id }) => String(dispatch_id)))
  const openById = new Map(open.map((row) => [String(row.dispatch_id), row]))
  const results = new Map<string, OpResults['settle']>()
  for (const { fence, settle } of settles) {
    const row: SqlRow | undefined = openById.get(fence.dispatch_id)
    if (row && done.has(fence.dispatch_id)) results.set(fence.dispatch_id, await finishSettle(db, settle, row))
  }
  return results
}

const SETTLE_FENCED = `WITH held AS (
    SELECT d.n, u.* FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
      AS u (dispatch_id, token, status, result, error, failure_class, now)
    JOIN dispatches d ON d.dispatch_id = u.dispatch_id AND d.token = u.token AND d.status = 'running'
    JOIN sessions s ON s.n = d.session
    FOR NO KEY UPDATE OF s, d)
  UPDATE dispatches SET status = held.status, epoch = NULL, wait = NULL, due = NULL, cancel = NULL, paused = 0,
    result = held.result, error = held.error, failure_class = held.failure_class, updated_at = held.now
  FROM held WHERE dispatches.n = held.n RETURNING held.dispatch_id`

const LEFT_OPEN_BY_ID = `SELECT d.dispatch_id, ${LEFT_OPEN_COLUMNS}
  FROM dispatches d WHERE d.dispatch_id = ANY ($1::text[])`
