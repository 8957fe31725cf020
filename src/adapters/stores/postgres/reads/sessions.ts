/** Reads sessions, their journals and their inboxes from PostgreSQL. */

import type { Observation } from '../../../../domain/observation.ts'
import type { SessionReads } from '../../../../ports/store/sessions.ts'
import { recordsFromEntries } from '../../rows/journal-entries.ts'
import { SESSION_COLUMNS, sessionFromRow } from '../../rows/rows.ts'
import { IN_FLIGHT } from '../op-context.ts'
import { findPrunable } from '../retention.ts'
import { pgEntryReads } from './journal-entries.ts'
import { conditionsFor, type PgRowReader } from './row-reader.ts'

/**
 * SQL that reads from the last entry backwards to the entry with record `$2`. Entry numbers must decrease, so a loop
 * ends.
 */
const ENTRY_CHAIN = `WITH RECURSIVE entry (n, session, seq, prev, body) AS (
  SELECT j.n, j.session, j.seq, j.prev, j.body FROM sessions s JOIN journal j ON j.n = s.last WHERE s.session_id = $1
  UNION ALL SELECT j.n, j.session, j.seq, j.prev, j.body FROM entry e JOIN journal j ON j.n = e.prev
  WHERE e.seq > $2 AND j.n < e.n
) SELECT s.n AS owner, s.head, entry.* FROM sessions s LEFT JOIN entry ON TRUE WHERE s.session_id = $1 ORDER BY entry.n`

export function pgSessionReads(rows: PgRowReader): SessionReads {
  const { all, readAll, readOne, readPage } = rows
  return {
    async session(id) {
      const row = await readOne('sessions', `SELECT ${SESSION_COLUMNS} WHERE s.session_id = $1`, id)
      return row && sessionFromRow(row)
    },
    async prunable(before) {
      const get = async (text: string, ...values: Parameters<typeof all>[1][]) => (await all(text, ...values))[0]
      return (await findPrunable({ all, get, run: async () => 0 }, before, 1)).length > 0
    },
    async sessions({ limit, archived = false }) {
      const where = archived ? '' : 'WHERE s.archived_at IS NULL'
      const text = `SELECT ${SESSION_COLUMNS} ${where} ORDER BY s.n DESC`
      return (await readPage('sessions', text, [], { limit })).map(sessionFromRow)
    },
    sessionWindow: (filter) => readWindow(rows, filter),
    workspaces: () => readWorkspaces(all),
    async sessionsIn(workspaces, { limit }) {
      const found = await all(
        `SELECT workspace, session_id FROM (
           SELECT workspace, session_id, n, row_number() OVER (PARTITION BY workspace ORDER BY n DESC) AS place
           FROM sessions WHERE workspace = ANY ($1::text[])) AS ranked
         WHERE place <= $2 ORDER BY n DESC`,
        ...[workspaces, limit],
      )
      const byFolder = Map.groupBy(found, ({ workspace }) => String(workspace))
      return new Map([...byFolder].map(([folder, parts]) => [folder, parts.map((part) => String(part.session_id))]))
    },
    ...pgEntryReads(rows),
    async journal(sessionId, from = 1) {
      // One statement, so that the entries fit to the session's head.
      const found = await all(ENTRY_CHAIN, sessionId, from)
      const [first] = found
      if (!first) return []
      const entries = found.filter(({ n }) => n !== null)
      return recordsFromEntries({ n: first.owner, session_id: sessionId, head: first.head }, entries, from)
    },
    async inbox(sessionId) {
      const unread = 'session = (SELECT n FROM sessions WHERE session_id = $1) AND read_at IS NULL'
      const found = await readAll('inbox', `SELECT * FROM inbox WHERE ${unread} ORDER BY n`, sessionId)
      return found.map(({ body }) => JSON.parse(String(body)) as Observation)
    },
  }
}

const RUN_OF_SESSION = `SELECT d.status FROM dispatches d WHERE d.session = s.n AND d.status IN ${IN_FLIGHT}`

/** As `sessionStatus` says it. */
const OF_STATUS = {
  archived: 's.archived_at IS NOT NULL',
  idle: `s.archived_at IS NULL AND NOT EXISTS (${RUN_OF_SESSION})`,
  active: `s.archived_at IS NULL AND (${RUN_OF_SESSION}) IN ('pending', 'running')`,
  waiting: `s.archived_at IS NULL AND (${RUN_OF_SESSION}) = 'waiting'`,
} as const

const HAS_TEXT = `s.session_id ILIKE ? OR s.agent_id ILIKE ?
  OR EXISTS (SELECT 1 FROM dispatches d WHERE d.session = s.n AND d.prompt ILIKE ?)`

async function readWindow(
  { all, readAll }: PgRowReader,
  filter: Parameters<SessionReads['sessionWindow']>[0],
): ReturnType<SessionReads['sessionWindow']> {
  const { archived = false, status, agent_id, search = '', offset, limit } = filter
  const { text, values } = conditionsFor(
    [OF_STATUS[status ?? 'idle'], status === undefined ? undefined : true],
    ['s.archived_at IS NULL', archived || status !== undefined ? undefined : true],
    ['s.agent_id = ?', agent_id],
    [HAS_TEXT, search === '' ? undefined : `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`],
  )
  const matching = `FROM sessions s WHERE ${text}`
  const page = `ORDER BY s.n DESC LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
  const [counted, numbers] = await Promise.all([
    all(`SELECT count(*) AS total ${matching}`, ...values),
    all(`SELECT s.n ${matching} ${page}`, ...values, limit, offset),
  ])
  const found = await readAll(
    'sessions',
    `SELECT ${SESSION_COLUMNS} WHERE s.n = ANY ($1::bigint[]) ORDER BY s.n DESC`,
    numbers.map(({ n }) => Number(n)),
  )
  return { items: found.map(sessionFromRow), total: Number(counted[0]?.total) }
}

async function readWorkspaces(all: PgRowReader['all']): ReturnType<SessionReads['workspaces']> {
  const found = await all(
    `SELECT g.*, s.session_id FROM (
       SELECT workspace, agent_id, max(n) AS newest, count(*) AS sessions FROM sessions GROUP BY 1, 2) AS g
     JOIN sessions s ON s.n = g.newest ORDER BY g.newest DESC`,
  )
  const byFolder = Map.groupBy(found, ({ workspace }) => String(workspace))
  return [...byFolder].map(([workspace, parts]) => ({
    workspace,
    agents: parts.map(({ agent_id }) => String(agent_id)),
    last_session_id: String(parts[0]?.session_id),
    sessions: parts.reduce((sum, { sessions }) => sum + Number(sessions), 0),
  }))
}
