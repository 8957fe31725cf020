/**
 * todo_start: executes the checks of a todo before the work on it begins (the baseline), then starts it. A check that
 * passes already proves nothing later.
 */

import type { CallResult } from '../../../domain/decision.ts'
import type { Todo } from '../../../domain/todo.ts'
import { legalVerbs, type TodoAction } from '../../../domain/todo-delta.ts'
import type { ToolContext } from '../../../ports/tool.ts'
import { loadPrompt } from '../../../prompts/load-prompt.ts'
import { CheckRunner } from './run-checks.ts'
import { callerIn, changedText, sendTodoDelta, type TodoToolOptions } from './send-todo-delta.ts'
import { checkResultsText, todoResult } from './todo-text.ts'

export async function startTodo(
  { store, egress }: TodoToolOptions,
  wanted: { readonly todo: string; readonly reason?: string | undefined },
  context: ToolContext,
): Promise<CallResult> {
  const by = callerIn(context)
  const todos = await store.todos(context.origin.session_id)
  const todo = todos.find(({ code }) => code === wanted.todo)
  const isRepeated = (await store.todoReceipt(context.call)) !== undefined
  const willStart = todo !== undefined && !isRepeated && legalVerbs(todos, todo, by).includes('start')
  const runner = new CheckRunner(egress, context)
  try {
    const baselines = willStart ? await takeBaselines(runner, [todo, ...benches(todos)]) : NO_BASELINES
    const start = { kind: 'change', by, code: wanted.todo, verb: 'start', reason: wanted.reason ?? '' } as const
    const receipt = await sendTodoDelta(store, context, [...baselines.actions, start])
    const { status, content } = await changedText(store, context, receipt, wanted.todo)
    const said = status === 'ok' ? [content, ...baselines.lines].join('\n') : content
    return await todoResult(store, context, { status, content: said })
  } finally {
    await runner.close()
  }
}

/** A Bench is never started; its baseline is from before the work on the first todo. */
const benches = (todos: readonly Todo[]): readonly Todo[] => todos.filter(({ type }) => type === 'Bench')

interface Baselines {
  readonly actions: readonly TodoAction[]
  readonly lines: readonly string[]
}

const NO_BASELINES: Baselines = { actions: [], lines: [] }

async function takeBaselines(runner: CheckRunner, todos: readonly Todo[]): Promise<Baselines> {
  const actions: TodoAction[] = []
  const lines: string[] = []
  for (const { code, status, baseline, checks } of todos) {
    if (status !== 'WAIT' || baseline !== null || checks.length === 0) continue
    const outcome = await runner.run({ code, checks })
    if (outcome.kind === 'not_executed') {
      lines.push(loadPrompt('results/todos.md#baseline_not_executed', { todo: code, error: outcome.why }))
      continue
    }
    actions.push({ kind: 'baseline', by: { kind: 'system' }, code, results: outcome.results })
    const isPassing = outcome.results.every(({ ok }) => ok)
    const part = isPassing ? 'results/todos.md#baseline_passes' : 'results/todos.md#baseline'
    lines.push(loadPrompt(part, { todo: code, results: checkResultsText(outcome.results) }))
  }
  return { actions, lines }
}
