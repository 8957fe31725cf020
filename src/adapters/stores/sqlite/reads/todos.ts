/** Reads todos and the receipts of their changes. */

import type { TodoReads } from '../../../../ports/store/todos.ts'
import { receiptFromRow, todoFromRow } from '../../rows/rows.ts'
import { readableCondition } from '../readable-functions.ts'
import { conditionsOf } from './list-conditions.ts'
import type { RowReader } from './row-reader.ts'

const OF_SESSION = 'session = (SELECT n FROM sessions WHERE session_id = ?1)'

export function todoReads({ all, readOne }: RowReader): TodoReads {
  return {
    async todos(sessionId) {
      const condition = `${OF_SESSION} AND ${readableCondition('todos')}`
      return all(`SELECT * FROM todos WHERE ${condition} ORDER BY n`, sessionId).map(todoFromRow)
    },
    async allTodos({ workspace, limit }) {
      return all(
        `SELECT t.* FROM todos t JOIN sessions s ON s.n = t.session
         WHERE (?1 IS NULL OR s.workspace = ?1) AND ${readableCondition('todos', 't')}
         ORDER BY t.session DESC, t.n LIMIT ?2`,
        workspace ?? null,
        limit,
      ).map(todoFromRow)
    },
    async todoWindow({ workspace, session_id, status, offset, limit }) {
      const { text, values } = conditionsOf(
        ['s.workspace = ?', workspace],
        ['s.session_id = ?', session_id],
        ['t.status = ?', status],
      )
      const matching = `FROM todos t JOIN sessions s ON s.n = t.session WHERE ${text}`
      const [counted] = all(`SELECT count(*) AS total ${matching}`, ...values)
      const page = `LIMIT ?${values.length + 1} OFFSET ?${values.length + 2}`
      const rows = all(
        `SELECT t.* ${matching} AND ${readableCondition('todos', 't')} ORDER BY t.session DESC, t.n ${page}`,
        ...[...values, limit, offset],
      )
      return { items: rows.map(todoFromRow), total: Number(counted?.total) }
    },
    async todo(sessionId, code) {
      const row = readOne('todos', `SELECT * FROM todos WHERE ${OF_SESSION} AND code = ?2`, sessionId, code)
      return row && todoFromRow(row)
    },
    async todoReceipt(opId) {
      const row = readOne('todo_receipts', 'SELECT * FROM todo_receipts WHERE op_id = ?', opId)
      return row && receiptFromRow(row)
    },
    async todoReceipts({ session_id, code, limit }) {
      const named = `(EXISTS (SELECT 1 FROM json_each(r.body, '$.changed') c WHERE c.value = ?2)
        OR json_extract(r.body, '$.refusal.code') = ?2)`
      return all(
        `SELECT * FROM todo_receipts r WHERE r.${OF_SESSION} AND ${readableCondition('todo_receipts', 'r')} AND ${named}
         ORDER BY r.n DESC LIMIT ?3`,
        session_id,
        code,
        limit,
      ).map(receiptFromRow)
    },
  }
}
