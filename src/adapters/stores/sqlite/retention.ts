/** What is old and over is taken away: whole sessions with all that belongs to them, cycles, messages that were sent. */

import type { Apply } from './apply.ts'
import type { Sql } from './refused.ts'

/** Sessions in which nothing has happened since, and nothing is open. */
export const PRUNABLE = `SELECT s.n, s.last FROM sessions s WHERE s.created_at < ?1
  AND NOT EXISTS (SELECT 1 FROM dispatches d WHERE d.session = s.n AND (d.updated_at >= ?1 OR d.status IN ('pending', 'running', 'waiting')))
  AND NOT EXISTS (SELECT 1 FROM inbox i WHERE i.session = s.n AND i.read_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM approvals a WHERE a.session = s.n AND a.status = 'open')
  AND NOT EXISTS (SELECT 1 FROM unknowns u WHERE u.session = s.n AND u.status = 'open')
  ORDER BY s.created_at LIMIT ?2`

export const prune: Apply<'prune'> = (sql, { before, limit }) => {
  const runs = sql(PRUNABLE)
    .all(before, limit)
    .flatMap(({ n, last }) => takeAway(sql, Number(n), last === null ? null : Number(last)))
  // Among the oldest ones only: a table need not be walked through to find that there is nothing to do.
  sql(
    `DELETE FROM cycles WHERE n IN (SELECT n FROM (SELECT n, ended_at FROM cycles ORDER BY n LIMIT ?2) WHERE ended_at < ?1)`,
  ).run(before, 10 * limit)
  sql(
    `DELETE FROM outbox WHERE n IN
       (SELECT n FROM (SELECT n, status, created_at FROM outbox ORDER BY n LIMIT ?2) WHERE status <> 'pending' AND created_at < ?1)`,
  ).run(before, 10 * limit)
  return { runs }
}

/** The runs that were its. */
function takeAway(sql: Sql, session: number, last: number | null): readonly string[] {
  const entries = sql(
    `WITH RECURSIVE entry (n, prev) AS (SELECT n, prev FROM journal WHERE n = ?
       UNION ALL SELECT j.n, j.prev FROM journal j JOIN entry e ON j.n = e.prev) SELECT n FROM entry`,
  ).all(last)
  const runs = sql('SELECT n, dispatch_id FROM dispatches WHERE session = ?').all(session)
  for (const { n } of runs) sql('UPDATE dispatches SET parent = NULL WHERE parent = ?').run(Number(n))
  for (const table of ['approvals', 'unknowns', 'inbox', 'dispatches'])
    sql(`DELETE FROM ${table} WHERE session = ?`).run(session)
  sql('DELETE FROM grants WHERE session_id = (SELECT session_id FROM sessions WHERE n = ?)').run(session)
  sql('DELETE FROM sessions WHERE n = ?').run(session)
  for (const { n } of entries) sql('DELETE FROM journal WHERE n = ?').run(Number(n))
  return runs.map(({ dispatch_id }) => String(dispatch_id))
}
