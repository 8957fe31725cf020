/** The todos of all sessions, by their plans: what is open, what failed, what was proved. */

import type { JournalRecord } from '../domain/journal-record.ts'
import type { Label } from '../domain/label.ts'
import { UNTRUSTED_LABEL } from '../domain/label.ts'
import { shortId } from '../domain/short-id.ts'
import { titleOfRun } from '../domain/title.ts'
import { openBeforeBench, openDependencies, type Todo } from '../domain/todo.ts'
import { labelOfRun, searchWords, sessionReader } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'
import type { Period } from './period.ts'

export const TODO_CHOICES = ['open', 'failed', 'done', 'proved', 'all'] as const
/** `done`: also those that nothing proved. `proved`: what was proved, and what is only asserted. */
export type TodoChoice = (typeof TODO_CHOICES)[number]

export interface ListedTodo extends Pick<Todo, 'code' | 'title' | 'status' | 'proof' | 'attempts' | 'last_error'> {
  readonly waits_for: readonly string[]
}

/** The todos of one session. */
export interface TodoPlan {
  readonly session_id: string
  readonly agent_id: string
  /** The task of the session. */
  readonly title: string
  /** The last part of its path. */
  readonly folder: string
  readonly label: Label
  /** Those that were asked for, in the order of the plan. */
  readonly todos: readonly ListedTodo[]
}

export interface PastTodos {
  /** The newest session first; only plans with todos that were asked for. */
  readonly plans: readonly TodoPlan[]
  /** Of all the plans that were looked at, whatever was asked for. */
  readonly counts: { readonly all: number; readonly open: number; readonly failed: number; readonly proved: number }
  readonly choice: TodoChoice
  /** Todos that are not listed. */
  readonly left_out: number
  /** True: there may be more todos than were searched. */
  readonly is_cut: boolean
  /** The place that was asked for, if no plan has such a name. */
  readonly unknown_place: string | null
  /** Names of all plans, for a place that is not known. */
  readonly places: readonly string[]
}

interface TodoFilter {
  readonly choice: TodoChoice
  /** Words of the task, the folder, the agent or the session; without a plan that has one of them, all count. */
  readonly words?: string | undefined
  /** A name that has to be a plan's. */
  readonly place?: string | undefined
  /** When todos got the status that they have; not for open ones, which are open now. */
  readonly period?: Period | undefined
}

/** Todos that are read; of more, only those of the newest sessions. */
const MAX_READ = 1000
const MAX_LISTED = 40

const isFailed = ({ status }: Pick<Todo, 'status'>): boolean => status === 'FAILED' || status === 'CHECK_FAILED'

const CHOOSE: Readonly<Record<TodoChoice, (todo: Todo) => boolean>> = {
  open: ({ status }) => status !== 'DONE',
  failed: isFailed,
  done: ({ status }) => status === 'DONE',
  proved: ({ status }) => status === 'DONE',
  all: () => true,
}

export async function findPastTodos(sources: PastSources, filter: TodoFilter): Promise<PastTodos> {
  const { choice, period } = filter
  const newest = await sources.store.allTodos({ limit: MAX_READ })
  const bySession = Map.groupBy(newest, ({ session_id }) => session_id)
  const readSession = sessionReader(sources)
  const plans = await Promise.all(
    [...bySession].map(async ([id, todos]) => ({ ...(await readPlan(sources, id, await readSession(id))), todos })),
  )
  const asked = selectPlans(plans, filter)
  const isAsked = (todo: Todo): boolean =>
    CHOOSE[choice](todo) && (choice === 'open' || period === undefined || isIn(period, Date.parse(todo.updated_at)))
  const wanted = asked.plans.map((plan) => ({ ...plan, todos: plan.todos.filter(isAsked).map(listed(plan.todos)) }))
  const all = asked.plans.flatMap(({ todos }) => todos)
  return {
    ...cutPlans(wanted.filter(({ todos }) => todos.length > 0)),
    ...{ choice, unknown_place: asked.unknown, places: [...new Set(plans.map(nameOf))], counts: countTodos(all) },
    is_cut: newest.length === MAX_READ,
  }
}

const countTodos = (todos: readonly Todo[]): PastTodos['counts'] => ({
  all: todos.length,
  open: todos.filter(CHOOSE.open).length,
  failed: todos.filter(isFailed).length,
  proved: todos.filter(({ proof }) => proof === 'proved').length,
})

/** How many todos are open, and how many of them failed. */
export const countOpenTodos = async ({ store }: Pick<PastSources, 'store'>): Promise<PastTodos['counts']> =>
  countTodos(await store.allTodos({ limit: MAX_READ }))

const isIn = ({ from, to }: Period, instant: number): boolean => instant >= from && instant < to

type WholePlan = Omit<TodoPlan, 'todos'> & { readonly todos: readonly Todo[] }

async function readPlan(
  { store }: PastSources,
  session_id: string,
  journal: readonly JournalRecord[] | undefined,
): Promise<Omit<TodoPlan, 'todos'>> {
  const session = await store.session(session_id)
  const started = journal?.find((record) => record.kind === 'run_started')
  const first = started?.kind === 'run_started' ? await store.dispatch(started.run_id) : undefined
  return {
    ...{ session_id, agent_id: session?.agent_id ?? '' },
    title: first ? titleOfRun(first.prompt, first.metadata.behaviour) : '',
    folder: session?.workspace.split(/[/\\]/).at(-1) ?? '',
    label: first ? labelOfRun(first, journal) : UNTRUSTED_LABEL,
  }
}

const listed =
  (plan: readonly Todo[]) =>
  (todo: Todo): ListedTodo => {
    const { code, title, status, proof, attempts, last_error, type } = todo
    const isStarted = status === 'DONE' || status === 'COMPLETE'
    const waits_for = isStarted ? [] : type === 'Bench' ? openBeforeBench(plan) : openDependencies(plan, todo)
    return { code, title, status, proof, attempts, last_error, waits_for }
  }

/** People name a plan by its folder, else by its task. */
export const nameOf = ({ folder, title, session_id }: Pick<TodoPlan, 'folder' | 'title' | 'session_id'>): string =>
  folder === session_id || folder === '' ? title || shortId(session_id) : folder

/** Words of questions about todos, which name no plan. */
const OF_QUESTION = new Set([
  ...['todo', 'todos', 'open', 'left', 'done', 'still', 'proved', 'proven', 'check', 'checks', 'list', 'show'],
  ...['remain', 'finish', 'verifi', 'project', 'folder', 'workspace', 'session', 'plan', 'been', 'there', 'all'],
])

/** Contract: pure; the plans with most of the words; if a place is named and none has it, none. */
function selectPlans(
  plans: readonly WholePlan[],
  { words = '', place }: TodoFilter,
): { readonly plans: readonly WholePlan[]; readonly unknown: string | null } {
  const score = (plan: WholePlan, text: string): number => {
    const names = `${plan.agent_id} ${plan.folder} ${plan.title} ${shortId(plan.session_id)}`
    const has = new Set(searchWords(names))
    const asked = new Set(searchWords(text).filter((word) => !OF_QUESTION.has(word)))
    const isId = text.includes(plan.session_id) || text.includes(shortId(plan.session_id))
    return has.intersection(asked).size + (isId ? 100 : 0)
  }
  const scores = plans.map((plan) => score(plan, `${words} ${place ?? ''}`))
  const best = Math.max(0, ...scores)
  if (best > 0) return { plans: plans.filter((_, at) => scores[at] === best), unknown: null }
  return place === undefined || plans.length === 0 ? { plans, unknown: null } : { plans: [], unknown: place }
}

function cutPlans(plans: readonly TodoPlan[]): Pick<PastTodos, 'plans' | 'left_out'> {
  let free = MAX_LISTED
  const shown = plans.map((plan) => {
    const todos = plan.todos.slice(0, Math.max(0, free))
    free -= todos.length
    return { ...plan, todos }
  })
  const all = plans.reduce((sum, { todos }) => sum + todos.length, 0)
  return { plans: shown.filter(({ todos }) => todos.length > 0), left_out: Math.max(0, all - MAX_LISTED) }
}
