/**
 * todo_verify: executes the checks of everything that is COMPLETE, and of each Bench once everything else is DONE. The
 * results are stored as evidence. A todo whose checks fail becomes CHECK_FAILED here, whatever the model says.
 */

import type { CallResult } from '../../../domain/decision.ts'
import { hasTodoRight, MAX_TODO_TEXT, openBeforeBench, type Todo } from '../../../domain/todo.ts'
import type { TodoAction } from '../../../domain/todo-delta.ts'
import type { ToolContext } from '../../../ports/tool.ts'
import { loadPrompt } from '../../../prompts/load-prompt.ts'
import { CheckRunner, type ChecksOutcome } from './run-checks.ts'
import { callerIn, sendTodoDelta, type TodoToolOptions } from './send-todo-delta.ts'
import { checkResultsText, receiptText, todoListText, todoResult } from './todo-text.ts'

export async function verifyTodos({ store, egress }: TodoToolOptions, context: ToolContext): Promise<CallResult> {
  const { session_id } = context.origin
  const { behaviour, call } = context
  if (!hasTodoRight(behaviour, 'pass'))
    return todoResult(store, context, {
      ...{ status: 'error', content: loadPrompt('results/todos.md#not_in_check', { behaviour }) },
    })
  const todos = await store.todos(session_id)
  if (await store.todoReceipt(call))
    return todoResult(store, context, { status: 'ok', content: todoListText(todos, callerIn(context)) })
  const due = findDue(todos)
  if (due.length === 0)
    return todoResult(store, context, { status: 'ok', content: loadPrompt('results/todos.md#nothing_to_verify') })
  const runner = new CheckRunner(egress, context)
  try {
    const actions: TodoAction[] = []
    const lines: string[] = []
    for (const todo of due) {
      const outcome = await runner.run(todo)
      actions.push(...actionsFor(todo, outcome))
      lines.push(describeOutcome(todo, outcome))
    }
    const receipt = await sendTodoDelta(store, context, actions)
    return await todoResult(store, context, receiptText(receipt, lines.join('\n\n')))
  } finally {
    await runner.close()
  }
}

function findDue(todos: readonly Todo[]): readonly Todo[] {
  const benchIsDue = openBeforeBench(todos).length === 0
  return todos.filter(({ type, status }) =>
    type === 'Task'
      ? status === 'COMPLETE'
      : benchIsDue && (status === 'WAIT' || status === 'COMPLETE' || status === 'CHECK_FAILED'),
  )
}

const by = { kind: 'system' } as const

function actionsFor({ code, type, status }: Todo, outcome: ChecksOutcome): readonly TodoAction[] {
  if (outcome.kind === 'not_executed') return []
  const { results } = outcome
  const evidence: TodoAction = { kind: 'evidence', by, code, results }
  const failed = results.filter(({ ok }) => !ok)
  if (failed.length > 0) {
    const reason = checkResultsText(failed).slice(0, MAX_TODO_TEXT)
    return [evidence, { kind: 'change', by, code, verb: 'reject', reason }]
  }
  // A Bench that failed before can be passed now; no behaviour could complete it.
  const reopened = type === 'Bench' && status === 'CHECK_FAILED'
  const reason = loadPrompt('results/todos.md#bench_passes_now')
  return [...(reopened ? [{ kind: 'change', by, code, verb: 'done', reason } as const] : []), evidence]
}

function describeOutcome({ code, title, checks }: Todo, outcome: ChecksOutcome): string {
  if (outcome.kind === 'not_executed')
    return loadPrompt('results/todos.md#not_executed', { todo: code, title, error: outcome.why })
  if (checks.length === 0) return loadPrompt('results/todos.md#no_checks', { todo: code, title })
  const isPassing = outcome.results.every(({ ok }) => ok)
  const part = isPassing ? 'results/todos.md#checks_pass' : 'results/todos.md#checks_fail'
  return loadPrompt(part, { todo: code, title, results: checkResultsText(outcome.results) })
}
