/** Sends a delta of todos to the store under the key of the call, and says what became of it. */

import type { CallResult } from '../../../domain/decision.ts'
import type { ResultLabel } from '../../../domain/label.ts'
import type { Todo, TodoCaller } from '../../../domain/todo.ts'
import type { TodoAction, TodoReceipt } from '../../../domain/todo-delta.ts'
import type { Egress } from '../../../ports/egress.ts'
import { commitOne, type Store } from '../../../ports/store.ts'
import type { ToolContext } from '../../../ports/tool.ts'
import { loadPrompt } from '../../../prompts/load-prompt.ts'
import { receiptText } from './todo-text.ts'

export interface TodoToolOptions {
  readonly store: Store
  readonly egress: Egress
  /** The label of what checks print. */
  readonly outputLabel: ResultLabel
}

/** The session's own agent, in its current behaviour. */
export const callerIn = ({ behaviour }: ToolContext): TodoCaller => ({ kind: 'root', behaviour })

/** Contract: sends the delta once per call; returns the first receipt. */
export async function sendTodoDelta(
  store: Store,
  { call, origin, clock }: ToolContext,
  actions: readonly TodoAction[],
): Promise<TodoReceipt> {
  const op = { op: 'todos', op_id: call, session_id: origin.session_id, actions, now: clock.now() } as const
  const [receipt] = await commitOne(store, [op])
  return receipt
}

/** What the model reads after a change: the new status, with its proof. */
export async function changedText(
  store: Store,
  { origin }: ToolContext,
  receipt: TodoReceipt,
  code: string,
): Promise<Pick<CallResult, 'status' | 'content'>> {
  const now = await store.todo(origin.session_id, code)
  const values = { todo: code, status: now?.status ?? 'WAIT' }
  return receiptText(receipt, loadPrompt(statusText(now), values))
}

function statusText(todo: Todo | undefined): string {
  if (todo?.status !== 'DONE') return 'results/todos.md#changed'
  return todo.proof === 'proved' ? 'results/todos.md#proved' : 'results/todos.md#asserted'
}
