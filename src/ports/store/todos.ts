/** Todos of sessions, and the receipts of their changes. */

import type { Todo, TodoStatus } from '../../domain/todo.ts'
import type { TodoDelta, TodoReceipt } from '../../domain/todo-delta.ts'
import type { PageLimit, PageWindow } from './page-limit.ts'

export type TodoOp =
  /**
   * Applies a delta to the todos of a session by the rules of `applyTodoDelta`, once per `op_id`: later ones get the
   * first receipt. A refused delta changes nothing and has a receipt, too.
   */
  {
    readonly op: 'todos'
    readonly op_id: string
    readonly session_id: string
    readonly actions: TodoDelta['actions']
    readonly now: number
  }

export interface TodoResults {
  todos: TodoReceipt
}

export interface TodoFilter {
  readonly workspace?: string | undefined
  readonly session_id?: string | undefined
  readonly status?: TodoStatus | undefined
}

export interface TodoReads {
  /** Contract: all todos of a session, in the order of the plan. */
  todos(sessionId: string): Promise<readonly Todo[]>
  /** Contract: todos of all sessions: of the newest session first, then in plan order. */
  allTodos(filter: TodoFilter & PageWindow): Promise<readonly Todo[]>
  /** Contract: how many there are; unreadable ones count, too. */
  todoCount(filter: TodoFilter): Promise<number>
  todo(sessionId: string, code: string): Promise<Todo | undefined>
  todoReceipt(opId: string): Promise<TodoReceipt | undefined>
  /** Contract: receipts of a session that changed or refused the todo with that code, newest first. */
  todoReceipts(
    filter: { readonly session_id: string; readonly code: string } & PageLimit,
  ): Promise<readonly TodoReceipt[]>
}
