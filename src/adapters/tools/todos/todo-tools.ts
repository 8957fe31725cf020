/**
 * The tools for the todos of a session. Each call sends one delta under the key of the call, so that a call repeated
 * after a crash changes nothing. The store applies the rules; a refusal says what is possible instead.
 */

import { z } from 'zod'
import { LABEL_OF_OWN_OUTPUT, LABEL_OF_WORKSPACE } from '../../../domain/label.ts'
import { placeholdersIn } from '../../../domain/placeholder.ts'
import {
  MAX_TODO_CHECKS,
  MAX_TODO_DEPS,
  MAX_TODO_TEXT,
  MAX_TODO_TITLE,
  TODO_TYPES,
  type TodoVerb,
} from '../../../domain/todo.ts'
import { defineToolWithText } from '../../../ports/define-tool.ts'
import type { Store } from '../../../ports/store.ts'
import type { AnyTool, Tool } from '../../../ports/tool.ts'
import { loadPrompt, loadToolText } from '../../../prompts/load-prompt.ts'
import { refuseCheckHost } from './run-checks.ts'
import { callerIn, changedText, sendTodoDelta, type TodoToolOptions } from './send-todo-delta.ts'
import { startTodo } from './start-todo.ts'
import { receiptText, todoListText, todoResult } from './todo-text.ts'
import { verifyTodos } from './verify-todos.ts'

const todo = z.string().trim().min(1).max(20)
const reason = z.string().trim().min(1).max(MAX_TODO_TEXT)
const byReason = z.strictObject({ todo, reason })
const byTodo = z.strictObject({ todo, reason: reason.optional() })

const text = z.string().min(1).max(MAX_TODO_TEXT)
const check = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('command'), run: text, expect_exit: z.int().min(0).max(255).optional() }),
  z.strictObject({
    ...{ kind: z.literal('file'), path: text, exists: z.boolean().optional(), contains: text.optional() },
    sha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/)
      .optional(),
  }),
  z.strictObject({ kind: z.literal('http'), url: text, status: z.int().min(100).max(599).optional() }),
])

const added = z.strictObject({
  title: z.string().trim().min(1).max(MAX_TODO_TITLE),
  type: z.enum(TODO_TYPES).default('Task'),
  deps: z.array(todo).max(MAX_TODO_DEPS).default([]),
  assignee: z.string().trim().min(1).max(200).optional(),
  parallel: z.boolean().default(false),
  skills: z.array(z.string().min(1).max(200)).max(20).default([]),
  checks: z.array(check).max(MAX_TODO_CHECKS).default([]),
})

const CHANGES_TODOS = { recovery: 'idempotent', reach: 'none' } as const

export function todoTools(options: TodoToolOptions): AnyTool[] {
  return [
    listTool(options.store),
    addTool(options),
    checkingTool<z.infer<typeof byTodo>>({
      ...{ name: 'todo_start', args: byTodo, loadText: () => loadToolText('todo_start') },
      ...{ gives: () => options.outputLabel, run: (wanted, context) => startTodo(options, wanted, context) },
    }),
    verbTool(options.store, 'done', byReason, () => loadToolText('todo_done')),
    verbTool(options.store, 'fail', byReason, () => loadToolText('todo_fail')),
    verbTool(options.store, 'pass', byTodo, () => loadToolText('todo_pass')),
    verbTool(options.store, 'reject', byReason, () => loadToolText('todo_reject')),
    verbTool(options.store, 'note', byReason, () => loadToolText('todo_note')),
    checkingTool({
      ...{ name: 'todo_verify', args: z.strictObject({}), loadText: () => loadToolText('todo_verify') },
      ...{ gives: () => options.outputLabel, run: (_, context) => verifyTodos(options, context) },
    }),
  ]
}

const listTool = (store: Store): AnyTool =>
  defineToolWithText({
    name: 'todo_list',
    loadText: () => loadToolText('todo_list'),
    args: z.strictObject({}),
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    // It shows what checks printed.
    gives: () => LABEL_OF_WORKSPACE,
    run: async (_, context) => {
      const todos = await store.todos(context.origin.session_id)
      return todoResult(store, context, { status: 'ok', content: todoListText(todos, callerIn(context)) })
    },
  })

const addTool = ({ store, egress }: TodoToolOptions): AnyTool =>
  defineToolWithText<z.infer<typeof added>>({
    name: 'todo_add',
    loadText: () => loadToolText('todo_add'),
    args: added,
    effect: () => CHANGES_TODOS,
    gives: () => LABEL_OF_OWN_OUTPUT,
    refuses: ({ checks }) =>
      checks
        .flatMap((each) => [
          ...placeholdersIn(Object.values(each).join('\n')).map(refusePlaceholder),
          ...(each.kind === 'http' ? [refuseCheckHost(egress, each.url)] : []),
        ])
        .find((refusal) => refusal !== undefined),
    run: async ({ assignee = null, ...wanted }, context) => {
      const receipt = await sendTodoDelta(store, context, [
        { kind: 'add', by: callerIn(context), todo: { ...wanted, assignee } },
      ])
      const code = receipt.changed[0] ?? ''
      const part = wanted.checks.length === 0 ? 'results/todos.md#added_without_checks' : 'results/todos.md#added'
      const said = receiptText(receipt, loadPrompt(part, { todo: code, title: wanted.title }))
      return todoResult(store, context, said)
    },
  })

const refusePlaceholder = (placeholder: string): string =>
  loadPrompt('results/placeholders.md#in_check', { placeholder })

type VerbArgs = z.infer<typeof byReason> | z.infer<typeof byTodo>

const verbTool = (
  store: Store,
  verb: TodoVerb,
  args: typeof byReason | typeof byTodo,
  loadText: () => ToolText,
): AnyTool =>
  defineToolWithText<VerbArgs>({
    name: `todo_${verb}`,
    loadText,
    args: args as z.ZodType<VerbArgs>,
    effect: () => CHANGES_TODOS,
    gives: () => LABEL_OF_OWN_OUTPUT,
    run: async ({ todo: code, reason: why = '' }, context) => {
      const action = { kind: 'change', by: callerIn(context), code, verb, reason: why } as const
      const receipt = await sendTodoDelta(store, context, [action])
      return todoResult(store, context, await changedText(store, context, receipt, code))
    },
  })

/** Checks may run for long: each has a time limit, and this is that of all together. */
const MAX_VERIFY_MS = 3_600_000

type ToolText = ReturnType<typeof loadToolText>

interface CheckingTool<Args> extends Pick<Tool<Args>, 'name' | 'args' | 'gives' | 'run'> {
  loadText(): ToolText
}

/** A tool that executes checks. */
const checkingTool = <Args>(tool: CheckingTool<Args>): AnyTool =>
  defineToolWithText<Args>({ ...tool, timeoutMs: MAX_VERIFY_MS, effect: () => CHANGES_TODOS })
