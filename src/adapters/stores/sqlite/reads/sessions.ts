/** Reads sessions, their journals and their inboxes. */

import type { Observation } from '../../../../domain/observation.ts'
import type { SessionFilter, SessionReads } from '../../../../ports/store/sessions.ts'
import { readJournal } from '../read-journal.ts'
import { PRUNABLE_SESSIONS } from '../retention.ts'
import { SESSION_COLUMNS, SESSIONS, sessionFromRow } from '../rows.ts'
import { readableCondition } from '../unreadable-rows.ts'
import { conditionsOf, likePattern, pageQuery } from './page-query.ts'
import type { RowReader } from './row-reader.ts'

export function sessionReads({ all, readOne }: RowReader): SessionReads {
  return {
    async session(id) {
      const row = readOne('sessions', `SELECT ${SESSION_COLUMNS} WHERE s.session_id = ?`, id)
      return row && sessionFromRow(row)
    },
    async prunable(before) {
      return all(PRUNABLE_SESSIONS, before, 1).length > 0
    },
    async sessions(filter) {
      return all(...pageQuery(LISTED, sessionConditions(filter), filter)).map(sessionFromRow)
    },
    async sessionCount(filter) {
      const { text, values } = sessionConditions(filter)
      return Number(all(`SELECT count(*) AS n FROM ${SESSIONS} WHERE ${text}`, ...values)[0]?.n)
    },
    async journal(sessionId, from = 1) {
      return readJournal(all, sessionId, from)
    },
    async inbox(sessionId) {
      const unread = `session = (SELECT n FROM sessions WHERE session_id = ?) AND read_at IS NULL
        AND ${readableCondition('inbox')}`
      const rows = all(`SELECT body FROM inbox WHERE ${unread} ORDER BY n`, sessionId)
      return rows.map(({ body }) => JSON.parse(String(body)) as Observation)
    },
  }
}

const LISTED = {
  ...{ select: SESSION_COLUMNS, from: SESSIONS, key: 's.n' },
  readable: readableCondition('sessions', 's'),
}

/** As `sessionStatus` says it. */
const OF_STATUS = {
  archived: 's.archived_at IS NOT NULL',
  idle: 's.archived_at IS NULL AND d.n IS NULL',
  active: "s.archived_at IS NULL AND d.status IN ('pending', 'running')",
  waiting: "s.archived_at IS NULL AND d.status = 'waiting'",
} as const

const SEARCHED = `s.session_id LIKE ? ESCAPE '\\' OR s.agent_id LIKE ? ESCAPE '\\' OR EXISTS
  (SELECT 1 FROM dispatches x WHERE x.session = s.n AND x.prompt LIKE ? ESCAPE '\\')`

function sessionConditions({ archived = false, status, agent_id, search }: SessionFilter) {
  return conditionsOf(
    ['s.archived_at IS NULL', archived || status !== undefined ? undefined : true],
    [OF_STATUS[status ?? 'idle'], status === undefined ? undefined : true],
    ['s.agent_id = ?', agent_id],
    [SEARCHED, likePattern(search)],
  )
}
