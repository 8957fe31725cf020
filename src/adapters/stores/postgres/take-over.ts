/** Work that waits for a home without a worker, in PostgreSQL: it goes on elsewhere, or is reported. */

import { isSubAgentFolder } from '../../../domain/sub-agent.ts'
import { movedObservation } from '../../../domain/workspace-moved.ts'
import type { HomeSeen } from '../../../ports/store/queue.ts'
import type { OpResults } from '../../../ports/store.ts'
import type { SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'
import { deliverToInbox } from './inbox.ts'
import { type ApplyPgOp, isReadable, lockDispatches, takeWideLock } from './op-context.ts'
import { findHomes } from './pins.ts'
import { abandon } from './queue.ts'

type TakeOverOp = Parameters<ApplyPgOp<'take_over'>>[1]
type TakenOver = OpResults['take_over'][number]

/** Maximum number of dispatches of a home that one op takes over; the next one takes over more. */
const MAX_TAKEN = 100

/** The homes that pending dispatches wait for: one look at the index for each. */
const AWAITED_HOMES = `WITH RECURSIVE awaited (home) AS (
    (SELECT home FROM dispatches WHERE status = 'pending' AND paused = 0 AND home > '' ORDER BY home LIMIT 1)
    UNION ALL SELECT (SELECT d.home FROM dispatches d WHERE d.status = 'pending' AND d.paused = 0
      AND d.home > awaited.home ORDER BY d.home LIMIT 1) FROM awaited WHERE awaited.home IS NOT NULL)
  SELECT home FROM awaited WHERE home IS NOT NULL`

export const takeOver: ApplyPgOp<'take_over'> = async (db, op) => {
  const homes = (await db.all(AWAITED_HOMES)).map(({ home }) => String(home))
  if (homes.length === 0) return []
  const now = await db.leaseNow(op.now)
  const seen = await findHomes(db, homes, now)
  const lost = seen.filter(({ is_alive, last_seen }) => !is_alive && Date.parse(last_seen ?? '1970') <= now - op.grace)
  if (lost.length === 0) return []
  await takeWideLock(db)
  const taken: TakenOver[] = []
  for (const home of lost) taken.push(...(await takeOverFrom(db, home, op)))
  return taken
}

/** The dispatches that wait longest. What is in a folder outside of the homes waits for its home. */
async function takeOverFrom(db: Queries, home: HomeSeen, op: TakeOverOp): Promise<readonly TakenOver[]> {
  const found = await db.all(
    `SELECT d.n FROM dispatches d JOIN sessions s ON s.n = d.session WHERE d.status = 'pending' AND d.paused = 0
       AND d.home = $1 AND d.created_at <= $2 ORDER BY s.folder IS NULL, d.n LIMIT ${MAX_TAKEN}`,
    ...[home.home, op.now - op.grace],
  )
  const rows = await lockDispatches(
    db,
    found.map(({ n }) => Number(n)),
  )
  const taken: TakenOver[] = []
  for (const row of rows.filter(({ status }) => status === 'pending'))
    if (isReadable('dispatches', row)) taken.push(await takeOverOne(db, home, row, op.now))
  return taken
}

async function takeOverOne(db: Queries, home: HomeSeen, row: SqlRow, now: number): Promise<TakenOver> {
  const session = await db.get(
    'SELECT session_id, kernel_id, folder, workspace FROM sessions WHERE n = $1',
    Number(row.session),
  )
  const { folder, workspace } = { folder: session?.folder, workspace: String(session?.workspace) }
  const of = { dispatch_id: String(row.dispatch_id), session_id: String(session?.session_id), workspace, home }
  if (folder === null || folder === undefined) return { ...of, became: 'waits' }
  if (isSubAgentFolder(String(folder))) {
    await abandon(db, row, `its files are on the machine ${home.host}, which is away`, now)
    return { ...of, became: 'cancelled' }
  }
  await unpin(db, [home.home, String(folder), String(session?.kernel_id)], movedObservation(home, workspace, now))
  return { ...of, became: 'moved' }
}

/** All sessions in the folder move: the next worker that claims one of them gets all. */
async function unpin(
  db: Queries,
  folder: readonly [home: string, folder: string, kernel: string],
  told: ReturnType<typeof movedObservation>,
): Promise<void> {
  const sessions = await db.all(
    `UPDATE sessions SET home = '' WHERE home = $1 AND folder = $2 AND kernel_id = $3 RETURNING n, archived_at`,
    ...folder,
  )
  const numbers = sessions.map(({ n }) => Number(n))
  await db.run(
    "UPDATE dispatches SET home = '' WHERE session = ANY ($1::bigint[]) AND status IN ('pending', 'waiting')",
    numbers,
  )
  for (const { n, archived_at } of sessions)
    if (archived_at === null) await deliverToInbox(db, Number(n), told, null, told.ts)
}
