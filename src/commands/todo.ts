/** Todos of sessions: list them, clear them, and show one with its checks, evidence and receipts. */

import { resolve } from 'node:path'
import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import {
  type CheckResult,
  describeTodoStatus,
  openBeforeBench,
  openDependencies,
  TODO_PROOFS,
  TODO_STATUSES,
  TODO_TYPES,
  type Todo,
  type TodoCheck,
  type TodoNote,
} from '../domain/todo.ts'
import type { TodoReceipt } from '../domain/todo-delta.ts'
import { commitOne, type Store } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import { offsetInput, totalShape } from './lib/list-window.ts'
import { typedAs } from './lib/output-schemas.ts'
import { titlesOf } from './lib/session-title.ts'

const todoSchema = z.object({
  code: z.string(),
  session_id: z.string(),
  title: z.string(),
  type: z.enum(TODO_TYPES),
  status: z.enum(TODO_STATUSES),
  shown: z.string().describe('the status, and whether DONE is only asserted'),
  proof: z.enum(TODO_PROOFS).nullable(),
  deps: z.array(z.string()),
  waits_for: z.array(z.string()).describe('todos that must be finished first'),
  assignee: z.string().nullable(),
  parallel: z.boolean(),
  skills: z.array(z.string()),
  checks: z.array(typedAs<TodoCheck>(z.looseObject({ kind: z.string() }))),
  checks_passed: z.number().nullable().describe('how many checks passed when they were last executed; null: never'),
  attempts: z.number().describe('how often it failed'),
  notes: z.array(typedAs<TodoNote>(z.looseObject({ at: z.string(), text: z.string() }))),
  last_error: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})

const resultSchema = typedAs<CheckResult>(z.looseObject({ ok: z.boolean(), observed: z.string() }))

const sessionInput = z.string().optional().describe('only of this session').meta({ idOf: 'session' })

export const todoList = defineCommand({
  name: 'todo list',
  summary: 'list todos, those of the newest session first',
  example: 'todo list --session writer-1a2b3c',
  runsIn: 'any_process',
  needs: ['store'],
  input: z.object({
    session: sessionInput,
    workspace: z.string().min(1).optional().describe('only of sessions in this folder'),
    status: z.enum(TODO_STATUSES).optional().describe('only with this status'),
    limit: z.int().positive().default(100).describe('maximum number of todos'),
    offset: offsetInput,
  }),
  output: z.object({
    items: z.array(
      todoSchema.extend({ session_title: z.string().nullable().describe('what its session was asked first') }),
    ),
    total: totalShape,
  }),
  async run({ store }, { session, workspace, status, limit, offset }) {
    if (session !== undefined && (await store.session(session)) === undefined) throw noSuchSession(session)
    const place = workspace === undefined ? undefined : resolve(workspace)
    const filter = { session_id: session, workspace: place, status, offset, limit }
    const { items, total } = await store.todoWindow(filter)
    const plans = await readPlans(store, items)
    const titles = await titlesOf(
      store,
      items.map(({ session_id }) => session_id),
    )
    const listed = items.map((todo) => ({
      ...toListed(plans.get(todo.session_id) ?? [], todo),
      session_title: titles.get(todo.session_id) ?? null,
    }))
    return { items: listed, total }
  },
})

export const todoShow = defineCommand({
  name: 'todo show',
  summary: 'show a todo with its checks, evidence and receipts',
  example: 'todo show T001 --session writer-1a2b3c',
  runsIn: 'any_process',
  needs: ['store'],
  positional: ['code'],
  input: z.object({
    code: z.string().trim().min(1).describe('code from todo list'),
    session: sessionInput.describe('its session; default: the newest session with that todo'),
  }),
  output: todoSchema.extend({
    baseline: z.array(resultSchema).nullable().describe('results of its checks before the work'),
    evidence: z.array(resultSchema).nullable().describe('results of its checks after the work'),
    receipts: z.array(typedAs<TodoReceipt>(z.looseObject({ op_id: z.string(), at: z.string() }))),
  }),
  async run({ store }, { code: typed, session }) {
    const code = typed.toUpperCase()
    const todo = session === undefined ? await findNewest(store, code) : await store.todo(session, code)
    if (!todo)
      throw new TirelessError('not_found', {
        ...{ what: 'no such todo', got: session === undefined ? code : `${code} in session ${session}` },
        fix: 'run tireless todo list',
      })
    const { session_id, baseline, evidence } = todo
    const receipts = await store.todoReceipts({ session_id, code, limit: MAX_RECEIPTS })
    const listed = toListed(await store.todos(session_id), todo)
    return {
      ...listed,
      baseline: baseline && [...baseline],
      evidence: evidence && [...evidence],
      receipts: [...receipts],
    }
  },
})

export const todoClear = defineCommand({
  name: 'todo clear',
  summary: 'remove the todos of a session that are not done; their codes are not used again',
  example: 'todo clear --session writer-1a2b3c',
  runsIn: 'any_process',
  needs: ['clock', 'ids', 'store'],
  input: z.object({
    session: z.string().describe('the session').meta({ idOf: 'session' }),
    yes: z.boolean().default(false).describe('do not ask').meta({ short: 'y' }),
  }),
  output: z.object({
    session_id: z.string(),
    cleared: z.array(z.string()).describe('codes of the todos that were removed'),
    kept: z.array(z.string()).describe('codes of those that are done'),
  }),
  async run({ store, clock, ids }, { session: session_id, yes }) {
    const session = await store.session(session_id)
    if (!session) throw noSuchSession(session_id)
    if (session.status === 'active')
      throw new TirelessError('conflict', {
        what: 'a run of the session is at work on its todos',
        got: session_id,
        fix: 'cancel it with tireless queue cancel, or wait for its end',
      })
    const todos = await store.todos(session_id)
    const open = todos.filter(({ status }) => status !== 'DONE').length
    if (open > 0 && !yes)
      throw new TirelessError('confirmation_needed', {
        what: `${open === 1 ? '1 todo' : `${open} todos`} of ${session_id} will be removed; what is done stays`,
        fix: `run tireless todo clear --session ${session_id} --yes`,
      })
    const [{ changed }] = await commitOne(store, [
      { op: 'todos', op_id: ids.next(), session_id, actions: [{ kind: 'clear', by: USER }], now: clock.now() },
    ])
    const kept = (await store.todos(session_id)).map(({ code }) => code)
    return { session_id, cleared: [...changed], kept }
  },
})

const USER = { kind: 'user' } as const
const MAX_RECEIPTS = 50
const MAX_SEARCHED = 5000

async function findNewest(store: Store, code: string): Promise<Todo | undefined> {
  return (await store.allTodos({ limit: MAX_SEARCHED })).find((todo) => todo.code === code)
}

/** The whole plans of the sessions: what a todo waits for may be beyond the limit of the list. */
async function readPlans(store: Store, todos: readonly Todo[]): Promise<ReadonlyMap<string, readonly Todo[]>> {
  const sessions = [...new Set(todos.map(({ session_id }) => session_id))]
  return new Map(await Promise.all(sessions.map(async (id) => [id, await store.todos(id)] as const)))
}

function toListed(plan: readonly Todo[], todo: Todo): z.output<typeof todoSchema> {
  const { baseline, evidence, deps, skills, checks, notes, ...rest } = todo
  return {
    ...{ ...rest, deps: [...deps], skills: [...skills], checks: [...checks], notes: [...notes] },
    shown: describeTodoStatus(todo),
    waits_for: [...waitsFor(plan, todo)],
    checks_passed: (evidence ?? baseline)?.filter(({ ok }) => ok).length ?? null,
  }
}

function waitsFor(plan: readonly Todo[], todo: Todo): readonly string[] {
  if (todo.status === 'DONE') return []
  return todo.type === 'Bench' ? openBeforeBench(plan) : todo.status === 'COMPLETE' ? [] : openDependencies(plan, todo)
}

const noSuchSession = (session: string): TirelessError =>
  new TirelessError('not_found', { what: 'no such session', got: session, fix: 'run tireless sessions list' })
