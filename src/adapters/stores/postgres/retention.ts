/** Deletes old data in PostgreSQL: finished sessions with their rows, ended cycles, undos and needs, sent messages. */

import { approvalObservationId } from '../../../domain/approval.ts'
import { agentResultId } from '../../../domain/sub-agent.ts'
import { THREAD_SETTING, threadBinding } from '../../../domain/thread-binding.ts'
import type { TableName } from '../rows/columns.ts'
import type { SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, IN_FLIGHT, isReadable, takeWideLock } from './op-context.ts'

/**
 * Sessions without activity since $1 and without open work. An unread notice that an approval expired or was denied,
 * and the late result of a sub-agent, do not count as open.
 */
const PRUNABLE = `SELECT s.* FROM sessions s WHERE s.created_at < $1
  AND NOT EXISTS (SELECT 1 FROM dispatches d WHERE d.session = s.n AND (d.updated_at >= $1 OR d.status IN ${IN_FLIGHT}))
  AND NOT EXISTS (SELECT 1 FROM inbox i WHERE i.session = s.n AND i.read_at IS NULL
    AND NOT starts_with(i.id, '${agentResultId('')}') AND NOT EXISTS (
    SELECT 1 FROM approvals a WHERE a.session = s.n AND a.status IN ('expired', 'denied') AND a.answered_at < $1
    AND i.id = '${approvalObservationId('')}' || a.id))
  AND NOT EXISTS (SELECT 1 FROM approvals a WHERE a.session = s.n AND a.status NOT IN ('allowed', 'denied', 'expired'))
  AND NOT EXISTS (SELECT 1 FROM unknowns u WHERE u.session = s.n AND u.status NOT IN ('told_model', 'resolved'))
  ORDER BY s.created_at, s.n LIMIT $2 OFFSET $3`

/** Contract: up to `limit` sessions that may be deleted, oldest first. Sessions with unreadable rows are kept. */
export async function findPrunable(db: Queries, before: number, limit: number): Promise<readonly SqlRow[]> {
  const found: SqlRow[] = []
  for (let offset = 0; found.length < limit; offset += limit) {
    const page = await db.all(PRUNABLE, toInstant(before), limit, offset)
    const sound = page.filter((row) => isReadable('sessions', row))
    const runs = await db.all(
      'SELECT * FROM dispatches WHERE session = ANY ($1::bigint[])',
      sound.map(({ n }) => Number(n)),
    )
    const kept = new Set(runs.filter((row) => !isReadable('dispatches', row)).map(({ session }) => session))
    found.push(...sound.filter(({ n }) => !kept.has(n as number)))
    if (page.length < limit) break
  }
  return found.slice(0, limit)
}

/** A limit may be infinite; columns of instants are whole numbers. */
export const toInstant = (value: number): number =>
  Math.ceil(Math.max(Math.min(value, Number.MAX_SAFE_INTEGER), -Number.MAX_SAFE_INTEGER))

const prune: ApplyPgOp<'prune'> = async (db, { before, limit }) => {
  await takeWideLock(db)
  const runs: string[] = []
  for (const session of await findPrunable(db, before, limit)) runs.push(...(await deleteSession(db, session)))
  // Checks only the oldest rows, so that a call with nothing to delete does not scan the table.
  await deleteOldest(db, 'cycles', 10 * limit, ({ ended_at }) => ended_at !== null && Number(ended_at) < before)
  await deleteOldest(
    db,
    'outbox',
    10 * limit,
    ({ status, created_at }) => status !== 'pending' && Number(created_at) < before,
  )
  const needs = await db.all(
    'SELECT * FROM needs WHERE ended_at < $1 ORDER BY ended_at LIMIT $2',
    toInstant(before),
    10 * limit,
  )
  await db.run(
    'DELETE FROM needs WHERE n = ANY ($1::bigint[])',
    needs.filter((row) => isReadable('needs', row)).map(({ n }) => Number(n)),
  )
  const undos = await deleteOldest(db, 'undos', limit, ({ ended_at }) => ended_at !== null && Number(ended_at) < before)
  return { runs: [...runs, ...undos.map(({ id }) => String(id))] }
}

export const retentionOps = { prune }

/** Contract: deletes and returns the readable ones of the oldest rows that are over. */
async function deleteOldest(
  db: Queries,
  table: TableName & ('cycles' | 'outbox' | 'undos'),
  among: number,
  isOver: (row: SqlRow) => boolean,
): Promise<readonly SqlRow[]> {
  const oldest = await db.all(`SELECT * FROM ${table} ORDER BY n LIMIT $1`, among)
  const over = oldest.filter((row) => isReadable(table, row) && isOver(row))
  if (over.length > 0)
    await db.run(
      `DELETE FROM ${table} WHERE n = ANY ($1::bigint[])`,
      over.map(({ n }) => Number(n)),
    )
  return over
}

/** SQL for the numbers of a session's entries, from the last one backwards; a loop ends. */
export const ENTRIES_OF = `WITH RECURSIVE entry (n, prev) AS (SELECT n, prev FROM journal WHERE n = $1
  UNION ALL SELECT j.n, j.prev FROM journal j JOIN entry e ON j.n = e.prev AND j.n < e.n) SELECT n FROM entry`

/** Contract: deletes the session with all its rows; returns the ids of its runs. */
async function deleteSession(db: Queries, { n, session_id, last }: SqlRow): Promise<readonly string[]> {
  const session = Number(n)
  const entries = last === null ? [] : await db.all(ENTRIES_OF, Number(last))
  const runs = await db.all('SELECT n, dispatch_id FROM dispatches WHERE session = $1 ORDER BY n', session)
  await db.run(
    'UPDATE dispatches SET parent = NULL WHERE parent = ANY ($1::bigint[])',
    runs.map((run) => Number(run.n)),
  )
  for (const table of ['approvals', 'unknowns', 'inbox', 'todos', 'todo_receipts', 'dispatches'])
    await db.run(`DELETE FROM ${table} WHERE session = $1`, session)
  await db.run('DELETE FROM grants WHERE session_id = $1', String(session_id))
  // The threads of chats whose messages went to this session.
  await db.run(
    `DELETE FROM settings WHERE starts_with(name, '${THREAD_SETTING}') AND value = $1`,
    JSON.stringify(threadBinding(String(session_id))),
  )
  await db.run('DELETE FROM sessions WHERE n = $1', session)
  await db.run(
    'DELETE FROM journal WHERE n = ANY ($1::bigint[])',
    entries.map((entry) => Number(entry.n)),
  )
  return runs.map(({ dispatch_id }) => String(dispatch_id))
}
