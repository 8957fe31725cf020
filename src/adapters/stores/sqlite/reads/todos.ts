/** Reads todos and the receipts of their changes. */

import type { TodoFilter, TodoReads } from '../../../../ports/store/todos.ts'
import { receiptFromRow, todoFromRow } from '../rows.ts'
import { readableCondition } from '../unreadable-rows.ts'
import { conditionsOf } from './page-query.ts'
import type { RowReader } from './row-reader.ts'

const OF_SESSION = 'session = (SELECT n FROM sessions WHERE session_id = ?1)'

const TODOS = 'todos t JOIN sessions s ON s.n = t.session'

const todoConditions = ({ workspace, session_id, status }: TodoFilter) =>
  conditionsOf(['s.workspace = ?', workspace], ['s.session_id = ?', session_id], ['t.status = ?', status])

export function todoReads({ all, readOne }: RowReader): TodoReads {
  return {
    async todos(sessionId) {
      const condition = `${OF_SESSION} AND ${readableCondition('todos')}`
      return all(`SELECT * FROM todos WHERE ${condition} ORDER BY n`, sessionId).map(todoFromRow)
    },
    async allTodos({ offset = 0, limit, ...filter }) {
      const { text, values } = todoConditions(filter)
      return all(
        `SELECT t.* FROM ${TODOS} WHERE ${text} AND ${readableCondition('todos', 't')}
         ORDER BY t.session DESC, t.n LIMIT ?${values.length + 1} OFFSET ?${values.length + 2}`,
        ...values,
        ...[limit, offset],
      ).map(todoFromRow)
    },
    async todoCount(filter) {
      const { text, values } = todoConditions(filter)
      return Number(all(`SELECT count(*) AS n FROM ${TODOS} WHERE ${text}`, ...values)[0]?.n)
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
