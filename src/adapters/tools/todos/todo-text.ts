/** What the model reads of todos: lists, refusals and results of checks. */

import type { CallResult } from '../../../domain/decision.ts'
import { describeCheck } from '../../../domain/describe-check.ts'
import type { Json } from '../../../domain/json.ts'
import {
  type CheckResult,
  describeTodoStatus,
  MAX_TODO_ATTEMPTS,
  openDependencies,
  summarizeTodo,
  type Todo,
  type TodoCaller,
  type TodoVerb,
} from '../../../domain/todo.ts'
import { legalVerbs, type TodoReceipt, type TodoRefusal } from '../../../domain/todo-delta.ts'
import type { Store } from '../../../ports/store.ts'
import type { ToolContext } from '../../../ports/tool.ts'
import { loadPrompt } from '../../../prompts/load-prompt.ts'

/** Contract: the result of a call, with the whole list of todos as facts. */
export async function todoResult(
  store: Store,
  { origin }: Pick<ToolContext, 'origin'>,
  { status, content }: Pick<CallResult, 'status' | 'content'>,
): Promise<CallResult> {
  const todos = await store.todos(origin.session_id)
  return { status, content, facts: { todos: todos.map(summarizeTodo) as unknown as Json } }
}

/** The call of a receipt, as the model reads it. `said`: what an applied delta says. */
export function receiptText(receipt: TodoReceipt, said: string): Pick<CallResult, 'status' | 'content'> {
  return receipt.refusal === null
    ? { status: 'ok', content: said }
    : { status: 'error', content: refusalText(receipt.refusal) }
}

const REFUSALS: Readonly<Record<TodoRefusal['kind'], string>> = {
  unknown_todo: 'results/todo-refusals.md#unknown_todo',
  add_not_allowed: 'results/todo-refusals.md#add_not_allowed',
  too_many: 'results/todo-refusals.md#too_many',
  cycle: 'results/todo-refusals.md#cycle',
  illegal_move: 'results/todo-refusals.md#illegal_move',
  not_in_behaviour: 'results/todo-refusals.md#not_in_behaviour',
  not_yours: 'results/todo-refusals.md#not_yours',
  reason_missing: 'results/todo-refusals.md#reason_missing',
  no_evidence: 'results/todo-refusals.md#no_evidence',
  failed_check: 'results/todo-refusals.md#failed_check',
  attempts_exhausted: 'results/todo-refusals.md#attempts_exhausted',
  waits_for: 'results/todo-refusals.md#waits_for',
}

function refusalText(refusal: TodoRefusal): string {
  const part = REFUSALS[refusal.kind]
  switch (refusal.kind) {
    case 'unknown_todo':
      return loadPrompt(part, { todo: refusal.code, known: refusal.known.join(', ') || 'none' })
    case 'add_not_allowed':
      return loadPrompt(part, { behaviour: refusal.behaviour })
    case 'too_many':
      return loadPrompt(part, { limit: refusal.limit })
    case 'cycle':
      return loadPrompt(part, { todo: refusal.code })
    default:
      return loadPrompt(part, {
        ...{ todo: refusal.code, status: refusal.status, verb: toolOf(refusal.verb), limit: MAX_TODO_ATTEMPTS },
        ...{ open: refusal.open.join(', '), legal: verbsText(refusal.legal) },
      })
  }
}

const toolOf = (verb: TodoVerb): string => `todo_${verb}`
const verbsText = (verbs: readonly TodoVerb[]): string => verbs.map(toolOf).join(', ') || 'nothing'

/** One line per todo, with what can be done to it now. */
export function todoListText(todos: readonly Todo[], by: TodoCaller): string {
  if (todos.length === 0) return loadPrompt('results/todos.md#empty')
  return todos.map((todo) => todoLine(todos, todo, by)).join('\n')
}

function todoLine(todos: readonly Todo[], todo: Todo, by: TodoCaller): string {
  const open = todo.status === 'DONE' || todo.status === 'COMPLETE' ? [] : openDependencies(todos, todo)
  const details = [
    ...(todo.type === 'Bench' ? ['Bench'] : []),
    ...(todo.assignee === null ? [] : [`assigned to ${todo.assignee}`]),
    ...(open.length === 0 ? [] : [`waits for ${open.join(', ')}`]),
    ...(todo.attempts === 0 ? [] : [`failed ${todo.attempts} of ${MAX_TODO_ATTEMPTS} times`]),
    ...(todo.checks.length === 0 ? ['no checks'] : [`checks: ${todo.checks.map(describeCheck).join('; ')}`]),
    ...(todo.last_error === null ? [] : [`last error: ${firstLine(todo.last_error)}`]),
    ...(todo.status === 'DONE' ? [] : [`now possible: ${verbsText(legalVerbs(todos, todo, by))}`]),
  ]
  return `${todo.code} ${describeTodoStatus(todo)}: ${todo.title} (${details.join('; ')})`
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/** The results of checks, one line each; of a failed one also what it printed. */
export function checkResultsText(results: readonly CheckResult[]): string {
  return results
    .map(({ check, ok, observed, output }) => {
      const line = `${ok ? 'passed' : 'failed'}: ${describeCheck(check)}: ${observed}`
      return ok || output === '' ? line : `${line}\n${output}`
    })
    .join('\n')
}
