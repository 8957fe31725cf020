/** Todos of sessions, and the receipts of their changes. */

import type { Todo, TodoStatus } from '../../domain/todo.ts'
import type { TodoDelta, TodoReceipt } from '../../domain/todo-delta.ts'
import type { PageLimit } from './page-limit.ts'

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

/** What todos have to match; what is absent matches all. */
interface TodoFilter {
  readonly workspace?: string | undefined
  readonly session_id?: string | undefined
  readonly status?: TodoStatus | undefined
}

export interface TodoReads {
  /** Contract: all todos of a session, in the order of the plan. */
  todos(sessionId: string): Promise<readonly Todo[]>
  /** Contract: todos of all sessions, or of those in a workspace: of the newest session first, then in plan order. */
  allTodos(filter: { readonly workspace?: string | undefined } & PageLimit): Promise<readonly Todo[]>
  /** Contract: in the order of `allTodos`, from the given place on, with the number of all that match. */
  todoWindow(
    filter: TodoFilter & { readonly offset: number } & PageLimit,
  ): Promise<{ readonly items: readonly Todo[]; readonly total: number }>
  todo(sessionId: string, code: string): Promise<Todo | undefined>
  todoReceipt(opId: string): Promise<TodoReceipt | undefined>
  /** Contract: receipts of a session that changed or refused the todo with that code, newest first. */
  todoReceipts(
    filter: { readonly session_id: string; readonly code: string } & PageLimit,
  ): Promise<readonly TodoReceipt[]>
}
