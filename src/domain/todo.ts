/**
 * Todo: one item of a session's plan, and the rules by which its status changes. Pure. The store applies the rules
 * (`todo-delta.ts`), so that no caller can get around them.
 */

export const TODO_TYPES = ['Task', 'Bench'] as const
/** `Bench`: a test of the whole result, decided only in CHECK, after every Task is DONE. */
export type TodoType = (typeof TODO_TYPES)[number]

export const TODO_STATUSES = ['WAIT', 'IN_PROGRESS', 'COMPLETE', 'FAILED', 'CHECK_FAILED', 'DONE'] as const
/** `COMPLETE`: its worker says that it is finished. `DONE`: it passed its check; this is final. */
export type TodoStatus = (typeof TODO_STATUSES)[number]

export const TODO_VERBS = ['start', 'done', 'fail', 'pass', 'reject', 'note'] as const
export type TodoVerb = (typeof TODO_VERBS)[number]

/** The status that a verb leads to; null: none, the status stays. */
export const VERB_STATUS = {
  start: 'IN_PROGRESS',
  done: 'COMPLETE',
  fail: 'FAILED',
  pass: 'DONE',
  reject: 'CHECK_FAILED',
  note: null,
} as const satisfies Record<TodoVerb, TodoStatus | null>

/** Verbs that need a reason, which is stored on the todo. */
const VERBS_WITH_REASON: ReadonlySet<TodoVerb> = new Set<TodoVerb>(['done', 'fail', 'reject', 'note'])
export const needsReason = (verb: TodoVerb): boolean => VERBS_WITH_REASON.has(verb)

/** A test of a todo's result. The runtime executes it on a copy of the workspace, which it throws away afterwards. */
export type TodoCheck =
  | { readonly kind: 'command'; readonly run: string; readonly expect_exit?: number | undefined }
  | {
      readonly kind: 'file'
      readonly path: string
      readonly exists?: boolean | undefined
      readonly contains?: string | undefined
      readonly sha256?: string | undefined
    }
  | { readonly kind: 'http'; readonly url: string; readonly status?: number | undefined }

/** What the runtime saw when it executed a check. */
export interface CheckResult {
  readonly check: TodoCheck
  readonly ok: boolean
  /** Exit code of a command; null if it has none, because it was killed or never started. */
  readonly exit?: number | null | undefined
  readonly observed: string
  /** The end of the output. */
  readonly output: string
  readonly at: string
  /** Digest of the copy of the workspace before the check; empty if there was no copy. */
  readonly digest: string
}

export interface TodoNote {
  readonly at: string
  readonly verb: TodoVerb
  /** Who wrote the note: `root`, `user`, `system`, or the id of a sub-agent. */
  readonly by: string
  readonly text: string
}

/** `proved`: a check that failed before the work began passed after it, and no check failed. `asserted`: otherwise. */
export const TODO_PROOFS = ['proved', 'asserted'] as const
type TodoProof = (typeof TODO_PROOFS)[number]

export interface Todo {
  /** `T001`, `T002`, …: unique in its session, never used again. */
  readonly code: string
  readonly session_id: string
  readonly title: string
  readonly type: TodoType
  readonly status: TodoStatus
  /** Codes of the todos that must be COMPLETE or DONE first. */
  readonly deps: readonly string[]
  /** Id of the sub-agent that works on it; null: the session's own agent. */
  readonly assignee: string | null
  readonly parallel: boolean
  readonly skills: readonly string[]
  readonly checks: readonly TodoCheck[]
  /** How often it became FAILED. */
  readonly attempts: number
  readonly notes: readonly TodoNote[]
  readonly last_error: string | null
  /** Results of its checks before the work on it began; null: not executed then. */
  readonly baseline: readonly CheckResult[] | null
  /** Results of its checks since it last became COMPLETE; null: not executed since then. */
  readonly evidence: readonly CheckResult[] | null
  /** Set when it becomes DONE. */
  readonly proof: TodoProof | null
  readonly created_at: string
  readonly updated_at: string
}

/** A todo as the session's journal keeps it after every change (`facts.todos`). */
export type TodoSummary = Pick<
  Todo,
  'code' | 'title' | 'type' | 'status' | 'deps' | 'assignee' | 'parallel' | 'attempts' | 'proof'
>

export function summarizeTodo(todo: TodoSummary): TodoSummary {
  const { code, title, type, status, deps, assignee, parallel, attempts, proof } = todo
  return { code, title, type, status, deps, assignee, parallel, attempts, proof }
}

/** A todo that failed this often is not started again: another plan or the owner's help is needed. */
export const MAX_TODO_ATTEMPTS = 3
export const MAX_TODOS = 500
export const MAX_TODO_TITLE = 500
export const MAX_TODO_TEXT = 2000
export const MAX_TODO_CHECKS = 10
export const MAX_TODO_DEPS = 50
/** Beyond it, the oldest notes of a todo are dropped. */
export const MAX_TODO_NOTES = 50

const MOVES: Readonly<Record<TodoStatus, readonly TodoStatus[]>> = {
  WAIT: ['IN_PROGRESS', 'COMPLETE', 'FAILED'],
  /** Back to WAIT when the run that works on it ends. */
  IN_PROGRESS: ['COMPLETE', 'FAILED', 'WAIT'],
  COMPLETE: ['DONE', 'CHECK_FAILED', 'IN_PROGRESS'],
  FAILED: ['IN_PROGRESS', 'COMPLETE'],
  CHECK_FAILED: ['IN_PROGRESS', 'COMPLETE', 'FAILED'],
  DONE: [],
}
const BENCH_MOVES_FROM_WAIT: readonly TodoStatus[] = ['DONE', 'CHECK_FAILED']

/** Contract: whether the table allows the move; a move to the same status is allowed and changes nothing. */
export function isMoveAllowed(type: TodoType, from: TodoStatus, to: TodoStatus): boolean {
  if (from === to || MOVES[from].includes(to)) return true
  return type === 'Bench' && from === 'WAIT' && BENCH_MOVES_FROM_WAIT.includes(to)
}

/** Who changes a todo. `root`: the session's own agent. */
export type TodoCaller =
  | { readonly kind: 'root'; readonly behaviour: string }
  | { readonly kind: 'sub_agent'; readonly agent_id: string; readonly behaviour: string }
  | { readonly kind: 'user' }
  | { readonly kind: 'system' }

type TodoRight = TodoVerb | 'add'

const RIGHTS_OF_SOLO: readonly TodoRight[] = ['add', 'start', 'done', 'fail', 'note']
/** What the agent may do to todos in each behaviour; other behaviours have the rights of solo. */
const RIGHTS: ReadonlyMap<string, readonly TodoRight[]> = new Map<string, readonly TodoRight[]>([
  ['plan', ['add', 'note']],
  ['do', RIGHTS_OF_SOLO],
  ['check', ['pass', 'reject', 'note']],
  ['adjust', ['add', 'note']],
  ['router', []],
  ['resolve_router', []],
])

/** Contract: whether the behaviour has that right; `type`: of the todo, because DO does not work on a Bench. */
export function hasTodoRight(behaviour: string, right: TodoRight, type: TodoType = 'Task'): boolean {
  if (!(RIGHTS.get(behaviour) ?? RIGHTS_OF_SOLO).includes(right)) return false
  return type === 'Task' || right === 'add' || right === 'note' || right === 'pass' || right === 'reject'
}

/** The person and the runtime are bound by the table only; a sub-agent changes only todos assigned to it. */
export function mayChange(caller: TodoCaller, verb: TodoVerb, todo: Pick<Todo, 'type' | 'assignee'>): boolean {
  if (caller.kind === 'user' || caller.kind === 'system') return true
  return ownsTodo(caller, todo) && hasTodoRight(caller.behaviour, verb, todo.type)
}

export function ownsTodo(caller: TodoCaller, { assignee }: Pick<Todo, 'assignee'>): boolean {
  return caller.kind !== 'sub_agent' || assignee === caller.agent_id
}

const isFinished = ({ status }: Pick<Todo, 'status'>): boolean => status === 'COMPLETE' || status === 'DONE'

/** Codes of the todos that this one waits for. */
export function openDependencies(todos: readonly TodoSummary[], { deps }: Pick<Todo, 'deps'>): readonly string[] {
  return deps.filter((code) => !todos.some((other) => other.code === code && isFinished(other)))
}

/** A Bench is decided after everything else is DONE; these are the todos that it still waits for. */
export function openBeforeBench(todos: readonly TodoSummary[]): readonly string[] {
  return todos.filter(({ type, status }) => type !== 'Bench' && status !== 'DONE').map(({ code }) => code)
}

/**
 * Contract: the oldest todo, in the order of the plan, that the agent can work on now: in CHECK a Bench, in any other
 * behaviour a Task of the session's own agent. Todos of sub-agents are never returned.
 */
export function nextReady<T extends TodoSummary>(todos: readonly T[], behaviour: string): T | undefined {
  if (behaviour === 'check')
    return openBeforeBench(todos).length > 0
      ? undefined
      : todos.find(({ type, status }) => type === 'Bench' && status !== 'DONE')
  return todos.find((todo) => todo.assignee === null && isReady(todos, todo))
}

/** Whether a Task can be worked on now. */
function isReady(todos: readonly TodoSummary[], todo: TodoSummary): boolean {
  return (
    todo.type === 'Task' &&
    !isFinished(todo) &&
    !(todo.status === 'FAILED' && todo.attempts >= MAX_TODO_ATTEMPTS) &&
    openDependencies(todos, todo).length === 0
  )
}

/** Contract: as they are after the end of the run that worked on them: none is in progress. */
export const releasedTodos = (todos: readonly TodoSummary[]): readonly TodoSummary[] =>
  todos.map((todo) => (todo.status === 'IN_PROGRESS' ? { ...todo, status: 'WAIT' } : todo))

/** Todos that sub-agents work on now. */
export const delegatedTodos = <T extends TodoSummary>(todos: readonly T[]): readonly T[] =>
  todos.filter(({ assignee, status }) => assignee !== null && status === 'IN_PROGRESS')

/**
 * Contract: the todos that sub-agents can start now, at most `limit` with those at work: every parallel one that is
 * ready; or the one whose turn it is, if it is the oldest that is ready and no other is worked on.
 */
export function readyForAgents<T extends TodoSummary>(todos: readonly T[], limit: number): readonly T[] {
  const atWork = delegatedTodos(todos)
  // One that is not parallel works alone.
  if (atWork.some(({ parallel }) => !parallel)) return []
  const ready = todos.filter((todo) => todo.status !== 'IN_PROGRESS' && isReady(todos, todo))
  // One that failed is looked at before it is tried again.
  const fresh = ready.filter(({ assignee, status }) => assignee !== null && status === 'WAIT')
  const parallel = fresh.filter((todo) => todo.parallel)
  if (parallel.length > 0) return parallel.slice(0, Math.max(0, limit - atWork.length))
  return fresh.length > 0 && fresh[0] === ready[0] && atWork.length === 0 ? fresh.slice(0, 1) : []
}

export const formatTodoCode = (n: number): string => `T${String(n).padStart(3, '0')}`

/** Contract: the number in a code; undefined if the text is no code. */
export function parseTodoCode(text: string): number | undefined {
  const [, digits] = /^T(\d{3,6})$/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** Contract: pure; what the results of a todo's checks prove (see `TodoProof`). */
export function judgeProof({ checks, baseline, evidence }: Pick<Todo, 'checks' | 'baseline' | 'evidence'>): TodoProof {
  if (checks.length === 0 || evidence === null || baseline === null) return 'asserted'
  const passes = (results: readonly CheckResult[], at: number): boolean => results[at]?.ok === true
  const isProved = checks.some((_, at) => baseline[at]?.ok === false && passes(evidence, at))
  return isProved && checks.every((_, at) => passes(evidence, at)) ? 'proved' : 'asserted'
}

/** The status as every list shows it. */
export const describeTodoStatus = ({ status, proof }: Pick<Todo, 'status' | 'proof'>): string =>
  status === 'DONE' && proof === 'asserted' ? 'DONE (asserted)' : status
