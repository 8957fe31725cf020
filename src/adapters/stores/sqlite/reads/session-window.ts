/** Reads a window of the sessions that match a filter, their number, and the folders in which they work. */

import type { SessionReads } from '../../../../ports/store/sessions.ts'
import { SESSION_COLUMNS, sessionFromRow } from '../../rows/rows.ts'
import { readableCondition } from '../readable-functions.ts'
import { conditionsOf } from './list-conditions.ts'
import type { RowReader } from './row-reader.ts'

type WindowFilter = Parameters<SessionReads['sessionWindow']>[0]

/** Rows searched before yielding to the event loop, which takes some milliseconds. */
const BATCH_SIZE = 1000

const IN_FLIGHT =
  "SELECT d.status FROM dispatches d WHERE d.session = s.n AND d.status IN ('pending', 'running', 'waiting')"

/** As `sessionStatus` says it. */
const OF_STATUS = {
  archived: 's.archived_at IS NOT NULL',
  idle: `s.archived_at IS NULL AND NOT EXISTS (${IN_FLIGHT})`,
  active: `s.archived_at IS NULL AND (${IN_FLIGHT}) IN ('pending', 'running')`,
  waiting: `s.archived_at IS NULL AND (${IN_FLIGHT}) = 'waiting'`,
} as const

/** Contract: as in the port. Rows are checked for readability only if they are shown, because that is slow. */
export async function readSessionWindow(
  all: RowReader['all'],
  { archived = false, status, agent_id, search = '', offset, limit }: WindowFilter,
): ReturnType<SessionReads['sessionWindow']> {
  const found = search === '' ? undefined : JSON.stringify(await searchSessions(all, search))
  const { text, values } = conditionsOf(
    [OF_STATUS[status ?? 'idle'], status === undefined ? undefined : true],
    ['s.archived_at IS NULL', archived || status !== undefined ? undefined : true],
    ['s.agent_id = ?', agent_id],
    ['s.n IN (SELECT value FROM json_each(?))', found],
  )
  const matching = `FROM sessions s WHERE ${text}`
  const [counted] = all(`SELECT count(*) AS total ${matching}`, ...values)
  const [limitAt, offsetAt] = [values.length + 1, values.length + 2]
  const page = `SELECT s.n ${matching} ORDER BY s.n DESC LIMIT ?${limitAt} OFFSET ?${offsetAt}`
  const numbers = all(page, ...values, limit, offset).map(({ n }) => Number(n))
  const rows = all(
    `SELECT ${SESSION_COLUMNS} WHERE s.n IN (SELECT value FROM json_each(?)) AND ${readableCondition('sessions', 's')}
     ORDER BY s.n DESC`,
    JSON.stringify(numbers),
  )
  return { items: rows.map(sessionFromRow), total: Number(counted?.total) }
}

/** The numbers of the sessions with this text in their name, their agent, or a prompt of their runs. */
async function searchSessions(all: RowReader['all'], search: string): Promise<readonly number[]> {
  const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
  const named = "session_id LIKE ?1 ESCAPE '\\' OR agent_id LIKE ?1 ESCAPE '\\'"
  const found = new Set(all(`SELECT n FROM sessions WHERE ${named}`, pattern).map(({ n }) => Number(n)))
  const asked = "SELECT session FROM dispatches WHERE n > ?2 AND n <= ?3 AND prompt LIKE ?1 ESCAPE '\\'"
  const [newest] = all('SELECT max(n) AS n FROM dispatches')
  for (let last = Number(newest?.n ?? 0); last > 0; last -= BATCH_SIZE) {
    for (const { session } of all(asked, pattern, last - BATCH_SIZE, last)) found.add(Number(session))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return [...found]
}

/** Contract: as in the port. Where max() is asked for, the other columns are those of the row that has it. */
export function readWorkspaces(all: RowReader['all']): Awaited<ReturnType<SessionReads['workspaces']>> {
  const rows = all(
    `SELECT workspace, agent_id, session_id, max(n) AS newest, count(*) AS sessions FROM sessions
     GROUP BY workspace, agent_id ORDER BY newest DESC`,
  )
  const byFolder = Map.groupBy(rows, ({ workspace }) => String(workspace))
  return [...byFolder].map(([workspace, parts]) => ({
    workspace,
    agents: parts.map(({ agent_id }) => String(agent_id)),
    last_session_id: String(parts[0]?.session_id),
    sessions: parts.reduce((sum, { sessions }) => sum + Number(sessions), 0),
  }))
}

/** Contract: as in the port. */
export function readSessionsIn(
  all: RowReader['all'],
  workspaces: readonly string[],
  limit: number,
): ReadonlyMap<string, readonly string[]> {
  const rows = all(
    `SELECT workspace, session_id FROM (
       SELECT workspace, session_id, n, row_number() OVER (PARTITION BY workspace ORDER BY n DESC) AS place
       FROM sessions WHERE workspace IN (SELECT value FROM json_each(?))
     ) WHERE place <= ? ORDER BY n DESC`,
    ...[JSON.stringify(workspaces), limit],
  )
  const byFolder = Map.groupBy(rows, ({ workspace }) => String(workspace))
  return new Map([...byFolder].map(([folder, parts]) => [folder, parts.map(({ session_id }) => String(session_id))]))
}
