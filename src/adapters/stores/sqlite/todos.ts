/** Table operations on todos: applies deltas, once per op id. */

import { MAX_TODO_ATTEMPTS, parseTodoCode, type Todo } from '../../../domain/todo.ts'
import { applyTodoDelta, writeReceipt } from '../../../domain/todo-delta.ts'
import { iso } from '../../../ports/clock.ts'
import { receiptFromRow, type SqlRow, todoFromRow } from '../rows/rows.ts'
import { ensureReadableInBatch } from '../rows/unreadable-rows.ts'
import { type ApplyOp, findSessionNumber } from './op-context.ts'
import type { Sql } from './sql.ts'

export const applyTodos: ApplyOp<'todos'> = (sql, { op_id, session_id, actions, now }) => {
  const session = findSessionNumber(sql, session_id)
  const first = sql('SELECT * FROM todo_receipts WHERE op_id = ?').get(op_id)
  if (first) return receiptFromRow(ensureReadableInBatch('todo_receipts', first as SqlRow))
  const rows = sql('SELECT * FROM todos WHERE session = ? ORDER BY n').all(session) as SqlRow[]
  const todos = rows.map((row) => todoFromRow(ensureReadableInBatch('todos', row)))
  const adds = actions.some(({ kind }) => kind === 'add')
  const delta = { session_id, actions, at: iso(now), used: adds ? highestCleared(sql, session) : 0 }
  const outcome = applyTodoDelta(todos, delta)
  if (outcome.ok) {
    const kept = new Map(outcome.todos.map((todo) => [todo.code, todo]))
    for (const code of outcome.changed) {
      const todo = kept.get(code)
      if (todo) writeTodo(sql, session, todo)
      else sql('DELETE FROM todos WHERE session = ? AND code = ?').run(session, code)
    }
  }
  const receipt = writeReceipt(op_id, delta, outcome)
  sql('INSERT INTO todo_receipts (op_id, session, body, at) VALUES (?, ?, ?, ?)').run(
    op_id,
    session,
    JSON.stringify(receipt),
    now,
  )
  return receipt
}

/** The receipts keep the codes of todos that were removed, so that none is used again. */
function highestCleared(sql: Sql, session: number): number {
  const rows = sql(`SELECT * FROM todo_receipts WHERE session = ? AND instr(body, '"clear"') > 0`).all(session)
  const codes = (rows as SqlRow[]).flatMap((row) => receiptFromRow(ensureReadableInBatch('todo_receipts', row)).changed)
  return Math.max(0, ...codes.map((code) => parseTodoCode(code) ?? 0))
}

/** The row number is the order of the plan, so a changed todo keeps its row. */
function writeTodo(sql: Sql, session: number, todo: Todo): void {
  sql(
    `INSERT INTO todos (session, code, status, body, updated_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (session, code) DO UPDATE SET status = excluded.status, body = excluded.body,
     updated_at = excluded.updated_at`,
  ).run(session, todo.code, todo.status, JSON.stringify(todo), Date.parse(todo.updated_at))
}

/**
 * Puts a failed todo in the place of one that was set aside: its code must not be used again, and todos that depend on
 * it must not start.
 */
export function replaceUnreadableTodo(sql: Sql, row: SqlRow, now: number): void {
  const { n, session, code } = row
  const owner = sql('SELECT session_id FROM sessions WHERE n = ?').get(Number(session))
  if (parseTodoCode(String(code)) === undefined || !owner) return
  const at = iso(now)
  const todo: Todo = {
    ...{ code: String(code), session_id: String(owner.session_id), title: '(this todo could not be read)' },
    ...{ type: 'Task', status: 'FAILED', deps: [], assignee: null, parallel: false, skills: [], checks: [] },
    ...{ attempts: MAX_TODO_ATTEMPTS, notes: [], last_error: 'the stored todo could not be read; it was set aside' },
    ...{ baseline: null, evidence: null, proof: null, created_at: at, updated_at: at },
  }
  sql('INSERT INTO todos (n, session, code, status, body, updated_at) VALUES (?, ?, ?, ?, ?, ?)').run(
    Number(n),
    Number(session),
    todo.code,
    todo.status,
    JSON.stringify(todo),
    now,
  )
}
