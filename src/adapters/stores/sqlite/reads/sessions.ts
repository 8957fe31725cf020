/** Reads sessions, their journals and their inboxes. */

import type { Observation } from '../../../../domain/observation.ts'
import type { SessionReads } from '../../../../ports/store/sessions.ts'
import { SESSION_COLUMNS, sessionFromRow } from '../../rows/rows.ts'
import { entryReads, readJournal } from '../read-journal.ts'
import { readableCondition } from '../readable-functions.ts'
import { PRUNABLE_SESSIONS } from '../retention.ts'
import type { RowReader } from './row-reader.ts'
import { readSessionsIn, readSessionWindow, readWorkspaces } from './session-window.ts'

export function sessionReads({ all, readOne }: RowReader): SessionReads {
  return {
    async session(id) {
      const row = readOne('sessions', `SELECT ${SESSION_COLUMNS} WHERE s.session_id = ?`, id)
      return row && sessionFromRow(row)
    },
    async prunable(before) {
      return all(PRUNABLE_SESSIONS, before, 1).length > 0
    },
    async sessions({ limit, archived = false }) {
      const condition = `${archived ? '' : 's.archived_at IS NULL AND '}${readableCondition('sessions', 's')}`
      return all(`SELECT ${SESSION_COLUMNS} WHERE ${condition} ORDER BY s.n DESC LIMIT ?`, limit).map(sessionFromRow)
    },
    sessionWindow: (filter) => readSessionWindow(all, filter),
    workspaces: async () => readWorkspaces(all),
    sessionsIn: async (workspaces, { limit }) => readSessionsIn(all, workspaces, limit),
    ...entryReads(all),
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
