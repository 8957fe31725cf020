/** Deletes old data: finished sessions with all their rows, ended cycles, undos and needs, sent messages. */

import { approvalObservationId } from '../../../domain/approval.ts'
import { agentResultId } from '../../../domain/sub-agent.ts'
import { THREAD_SETTING, threadBinding } from '../../../domain/thread-binding.ts'
import type { ApplyOp } from './op-context.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

/**
 * Sessions without activity since ?1 and without open work. An unread notice that an approval expired or was denied,
 * and the late result of a sub-agent, do not count as open. Sessions with unreadable rows are kept.
 */
export const PRUNABLE_SESSIONS = `SELECT s.n, s.last FROM sessions s
  WHERE s.created_at < ?1 AND ${readableCondition('sessions', 's')}
  AND NOT EXISTS (SELECT 1 FROM dispatches d WHERE d.session = s.n
    AND (d.updated_at >= ?1 OR d.status IN ('pending', 'running', 'waiting')
      OR NOT ${readableCondition('dispatches', 'd')}))
  AND NOT EXISTS (SELECT 1 FROM inbox i WHERE i.session = s.n AND i.read_at IS NULL
    AND i.id NOT GLOB '${agentResultId('*')}' AND NOT EXISTS (
    SELECT 1 FROM approvals a WHERE a.session = s.n AND a.status IN ('expired', 'denied') AND a.answered_at < ?1
    AND i.id = '${approvalObservationId('')}' || a.id))
  AND NOT EXISTS (SELECT 1 FROM approvals a WHERE a.session = s.n AND a.status NOT IN ('allowed', 'denied', 'expired'))
  AND NOT EXISTS (SELECT 1 FROM unknowns u WHERE u.session = s.n AND u.status NOT IN ('told_model', 'resolved'))
  ORDER BY s.created_at LIMIT ?2`

export const pruneOldRows: ApplyOp<'prune'> = (sql, { before, limit }) => {
  const runs = sql(PRUNABLE_SESSIONS)
    .all(before, limit)
    .flatMap(({ n, last }) => deleteSession(sql, Number(n), last === null ? null : Number(last)))
  // Checks only the oldest rows, so that a call with nothing to delete does not scan the table.
  sql(
    `DELETE FROM cycles WHERE n IN (SELECT n FROM (SELECT * FROM cycles ORDER BY n LIMIT ?2) AS c
       WHERE ended_at < ?1 AND ${readableCondition('cycles', 'c')})`,
  ).run(before, 10 * limit)
  sql(
    `DELETE FROM outbox WHERE n IN
       (SELECT n FROM (SELECT * FROM outbox ORDER BY n LIMIT ?2) AS o
        WHERE status <> 'pending' AND created_at < ?1 AND ${readableCondition('outbox', 'o')})`,
  ).run(before, 10 * limit)
  sql(
    `DELETE FROM needs WHERE n IN (SELECT n FROM needs
       WHERE ended_at < ?1 AND ${readableCondition('needs')} ORDER BY ended_at LIMIT ?2)`,
  ).run(before, 10 * limit)
  return { runs: [...runs, ...deleteUndos(sql, before, limit)] }
}

/** Contract: deletes ended undos, oldest first; returns their ids, under which snapshots are kept. */
function deleteUndos(sql: Sql, before: number, limit: number): readonly string[] {
  const oldest = sql(
    `SELECT id FROM (SELECT * FROM undos ORDER BY n LIMIT ?2) AS u
     WHERE ended_at < ?1 AND ${readableCondition('undos', 'u')}`,
  ).all(before, limit)
  for (const { id } of oldest) sql('DELETE FROM undos WHERE id = ?').run(String(id))
  return oldest.map(({ id }) => String(id))
}

/** Contract: deletes the session with all its rows; returns the ids of its runs. */
function deleteSession(sql: Sql, session: number, last: number | null): readonly string[] {
  const entries = sql(
    `WITH RECURSIVE entry (n, prev) AS (SELECT n, prev FROM journal WHERE n = ?
       UNION ALL SELECT j.n, j.prev FROM journal j JOIN entry e ON j.n = e.prev AND j.n < e.n) SELECT n FROM entry`,
  ).all(last)
  const runs = sql('SELECT n, dispatch_id FROM dispatches WHERE session = ?').all(session)
  for (const { n } of runs) sql('UPDATE dispatches SET parent = NULL WHERE parent = ?').run(Number(n))
  for (const table of ['approvals', 'unknowns', 'inbox', 'todos', 'todo_receipts', 'dispatches'])
    sql(`DELETE FROM ${table} WHERE session = ?`).run(session)
  sql('DELETE FROM grants WHERE session_id = (SELECT session_id FROM sessions WHERE n = ?)').run(session)
  unbindThreads(sql, session)
  sql('DELETE FROM sessions WHERE n = ?').run(session)
  for (const { n } of entries) sql('DELETE FROM journal WHERE n = ?').run(Number(n))
  return runs.map(({ dispatch_id }) => String(dispatch_id))
}

/** The threads of chats whose messages went to this session. */
function unbindThreads(sql: Sql, session: number): void {
  const row = sql('SELECT session_id FROM sessions WHERE n = ?').get(session)
  const value = JSON.stringify(threadBinding(String(row?.session_id)))
  sql(`DELETE FROM settings WHERE name GLOB '${THREAD_SETTING}*' AND value = ?`).run(value)
}
