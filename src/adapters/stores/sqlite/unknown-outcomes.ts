/** Table operations on unknown outcomes: recorded, resolved once; resolving wakes the waiting run. */

import type { UnknownOutcome } from '../../../domain/unknown-outcome.ts'
import type { Wait } from '../../../domain/wait.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { type SqlRow, UNKNOWN_COLUMNS, unknownFromRow } from '../rows/rows.ts'
import { ensureReadableInBatch } from '../rows/unreadable-rows.ts'
import { wakeDispatch } from './create-dispatches.ts'
import { type ApplyOp, findSessionNumber } from './op-context.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

export const upsertUnknown: ApplyOp<'unknown'> = (sql, op) => {
  const { unknown } = op
  sql(
    `INSERT INTO unknowns (id, session, dispatch_id, tool, args, reach, started_at, output_so_far, status, resolution)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
       SET status = excluded.status, resolution = excluded.resolution`,
  ).run(
    unknown.id,
    findSessionNumber(sql, unknown.session_id),
    unknown.dispatch_id,
    unknown.tool,
    JSON.stringify(unknown.args),
    unknown.reach,
    unknown.started_at,
    unknown.output_so_far,
    unknown.status,
    unknown.resolution,
  )
  return null
}

export const resolveUnknown: ApplyOp<'resolve'> = (sql, op) => {
  const row = sql(`SELECT ${UNKNOWN_COLUMNS} WHERE u.id = ?`).get(op.unknown_id) as SqlRow | undefined
  if (!row) throw new RefusedBatch('not_found', `there is no unknown outcome with the id ${op.unknown_id}`)
  const unknown = unknownFromRow(ensureReadableInBatch('unknowns', row))
  if (unknown.status === 'resolved')
    throw new RefusedBatch('conflict', `${op.unknown_id} is already resolved as ${unknown.resolution}`)
  sql("UPDATE unknowns SET status = 'resolved', resolution = ? WHERE id = ?").run(op.as, op.unknown_id)
  wakeWaitingRun(sql, unknown, op.now)
  return { unknown: { ...unknown, status: 'resolved', resolution: op.as } }
}

/** Wakes the run that waits for the resolution, if any. */
export function wakeWaitingRun(
  sql: Sql,
  { id, dispatch_id }: Pick<UnknownOutcome, 'id' | 'dispatch_id'>,
  now: number,
): void {
  const waiting = sql(
    `SELECT n, wait FROM dispatches
     WHERE dispatch_id = ? AND status = 'waiting' AND ${readableCondition('dispatches')}`,
  ).get(dispatch_id)
  const wait = waiting && (JSON.parse(String(waiting.wait)) as Wait)
  if (wait?.kind === 'unknown' && wait.unknown_id === id) wakeDispatch(sql, Number(waiting?.n), now)
}
