/**
 * Todo delta: several changes of a session's todos that take effect together or not at all. Pure. A delta that changes
 * nothing (every todo already has the status asked for) succeeds.
 */

import { assertNever } from './error.ts'
import {
  type CheckResult,
  formatTodoCode,
  hasTodoRight,
  isMoveAllowed,
  judgeProof,
  MAX_TODO_ATTEMPTS,
  MAX_TODO_NOTES,
  MAX_TODOS,
  mayChange,
  needsReason,
  openBeforeBench,
  openDependencies,
  ownsTodo,
  parseTodoCode,
  TODO_VERBS,
  type Todo,
  type TodoCaller,
  type TodoStatus,
  type TodoVerb,
  VERB_STATUS,
} from './todo.ts'

export type NewTodo = Pick<Todo, 'title' | 'type' | 'deps' | 'assignee' | 'parallel' | 'skills' | 'checks'>

export type TodoAction = { readonly by: TodoCaller } & (
  | { readonly kind: 'add'; readonly todo: NewTodo }
  | { readonly kind: 'change'; readonly code: string; readonly verb: TodoVerb; readonly reason: string }
  /** Stores what the checks gave before the work began. Only the first baseline of a todo counts. */
  | { readonly kind: 'baseline'; readonly code: string; readonly results: readonly CheckResult[] }
  | { readonly kind: 'evidence'; readonly code: string; readonly results: readonly CheckResult[] }
  /** Removes the todos that are not DONE. */
  | { readonly kind: 'clear' }
  /** The run has ended: what is IN_PROGRESS is to be done again. */
  | { readonly kind: 'release'; readonly by: { readonly kind: 'system' }; readonly reason: string }
)

/** Why a delta was refused. `legal`: the verbs that this caller can use on that todo now. */
export type TodoRefusal =
  | { readonly kind: 'unknown_todo'; readonly code: string; readonly known: readonly string[] }
  | { readonly kind: 'add_not_allowed'; readonly behaviour: string }
  | { readonly kind: 'too_many'; readonly limit: number }
  | { readonly kind: 'cycle'; readonly code: string; readonly deps: readonly string[] }
  | RefusedVerb

interface RefusedVerb {
  readonly kind:
    | 'illegal_move'
    | 'not_in_behaviour'
    | 'not_yours'
    | 'reason_missing'
    | 'no_evidence'
    | 'failed_check'
    | 'attempts_exhausted'
    | 'waits_for'
  readonly code: string
  readonly verb: TodoVerb
  readonly status: TodoStatus
  readonly legal: readonly TodoVerb[]
  /** The todos that it waits for; empty for other kinds. */
  readonly open: readonly string[]
}

export type TodoOutcome =
  | { readonly ok: true; readonly todos: readonly Todo[]; readonly changed: readonly string[] }
  | { readonly ok: false; readonly refusal: TodoRefusal }

export interface TodoDelta {
  readonly session_id: string
  readonly actions: readonly TodoAction[]
  readonly at: string
  /** The highest number of a todo that was removed; codes are never used again. */
  readonly used?: number | undefined
}

/** A receipt of a delta. A delta that is sent again gets the first receipt and changes nothing. */
export interface TodoReceipt {
  /** The key of the call that sent the delta. */
  readonly op_id: string
  readonly session_id: string
  readonly at: string
  /** What was asked for, such as `start T001`. */
  readonly actions: readonly string[]
  /** Codes of the todos that were added or changed. */
  readonly changed: readonly string[]
  /** Why nothing was changed; null if the delta was applied. */
  readonly refusal: TodoRefusal | null
}

export function writeReceipt(op_id: string, { session_id, at, actions }: TodoDelta, outcome: TodoOutcome): TodoReceipt {
  return {
    ...{ op_id, session_id, at, actions: actions.map(describeAction) },
    changed: outcome.ok ? outcome.changed : [],
    refusal: outcome.ok ? null : outcome.refusal,
  }
}

function describeAction(action: TodoAction): string {
  if (action.kind === 'add' || action.kind === 'clear' || action.kind === 'release') return action.kind
  return `${action.kind === 'change' ? action.verb : action.kind} ${action.code}`
}

/** Contract: `todos` are all todos of the session in the order of the plan; so are those of the outcome. */
export function applyTodoDelta(todos: readonly Todo[], delta: TodoDelta): TodoOutcome {
  let list = todos
  const used = Math.max(delta.used ?? 0, ...todos.map(({ code }) => parseTodoCode(code) ?? 0))
  const changed = new Set<string>()
  for (const action of delta.actions) {
    const applied = applyAction(list, action, { ...delta, used })
    if ('kind' in applied) return { ok: false, refusal: applied }
    for (const todo of applied) if (!list.includes(todo)) changed.add(todo.code)
    if (action.kind === 'clear') for (const todo of list) if (!applied.includes(todo)) changed.add(todo.code)
    list = applied
  }
  return { ok: true, todos: list, changed: [...changed].sort() }
}

function applyAction(todos: readonly Todo[], action: TodoAction, delta: TodoDelta): readonly Todo[] | TodoRefusal {
  if (action.kind === 'add') return addTodo(todos, action, delta)
  if (action.kind === 'clear') return clearTodos(todos, action.by)
  if (action.kind === 'release') return todos.map((todo) => releaseTodo(todo, action, delta.at))
  const todo = todos.find(({ code }) => code === action.code)
  if (!todo) return { kind: 'unknown_todo', code: action.code, known: todos.map(({ code }) => code) }
  const next = changeTodo(todos, todo, action, delta.at)
  if (isRefusal(next)) return next
  return next === todo ? todos : todos.map((other) => (other === todo ? next : other))
}

const isRefusal = (next: Todo | RefusedVerb): next is RefusedVerb => 'kind' in next

function addTodo(
  todos: readonly Todo[],
  { by, todo }: Extract<TodoAction, { kind: 'add' }>,
  { session_id, at, used = 0 }: TodoDelta,
): readonly Todo[] | TodoRefusal {
  if (by.kind === 'sub_agent') return { kind: 'add_not_allowed', behaviour: by.behaviour }
  if (by.kind === 'root' && !hasTodoRight(by.behaviour, 'add'))
    return { kind: 'add_not_allowed', behaviour: by.behaviour }
  if (todos.length >= MAX_TODOS) return { kind: 'too_many', limit: MAX_TODOS }
  const code = formatTodoCode(Math.max(used, ...todos.map((other) => parseTodoCode(other.code) ?? 0)) + 1)
  const known = todos.map((other) => other.code)
  if (todo.deps.includes(code)) return { kind: 'cycle', code, deps: todo.deps }
  const missing = todo.deps.find((dep) => !known.includes(dep))
  if (missing !== undefined) return { kind: 'unknown_todo', code: missing, known }
  return [
    ...todos,
    { ...todo, deps: [...new Set(todo.deps)], code, session_id, ...NEW_TODO, created_at: at, updated_at: at },
  ]
}

/** What is DONE stays: it is final. Only who may make the plan may drop it. */
function clearTodos(todos: readonly Todo[], by: TodoCaller): readonly Todo[] | TodoRefusal {
  const isAllowed =
    by.kind === 'user' || by.kind === 'system' || (by.kind === 'root' && hasTodoRight(by.behaviour, 'add'))
  if (!isAllowed) return { kind: 'add_not_allowed', behaviour: 'behaviour' in by ? by.behaviour : '' }
  return todos.filter(({ status }) => status === 'DONE')
}

function releaseTodo(todo: Todo, { by, reason }: Extract<TodoAction, { kind: 'release' }>, at: string): Todo {
  if (todo.status !== 'IN_PROGRESS') return todo
  return enterStatus(withNote(todo, { by, verb: 'note', reason }, at), 'WAIT', reason, at)
}

const NEW_TODO = {
  status: 'WAIT',
  attempts: 0,
  notes: [],
  last_error: null,
  baseline: null,
  evidence: null,
  proof: null,
} as const satisfies Partial<Todo>

function changeTodo(
  todos: readonly Todo[],
  todo: Todo,
  action: Exclude<TodoAction, { kind: 'add' | 'clear' | 'release' }>,
  at: string,
): Todo | RefusedVerb {
  switch (action.kind) {
    case 'baseline':
      return todo.baseline === null && todo.status === 'WAIT'
        ? { ...todo, baseline: action.results, updated_at: at }
        : todo
    case 'evidence':
      return { ...todo, evidence: action.results, updated_at: at }
    case 'change':
      return applyVerb(todos, todo, action, at)
    default:
      return assertNever(action)
  }
}

interface VerbCall {
  readonly by: TodoCaller
  readonly verb: TodoVerb
  readonly reason: string
}

function applyVerb(todos: readonly Todo[], todo: Todo, call: VerbCall, at: string): Todo | RefusedVerb {
  const refused = refuseVerb(todos, todo, call)
  if (refused) {
    const open = refused === 'waits_for' ? waitsFor(todos, todo, call.verb) : []
    const { code, status } = todo
    return { kind: refused, code, status, verb: call.verb, legal: legalVerbs(todos, todo, call.by), open }
  }
  const status = VERB_STATUS[call.verb]
  if (status === todo.status) return todo
  return enterStatus(withNote(todo, call, at), status ?? todo.status, call.reason, at)
}

/** Contract: the verbs that would change this todo now, for that caller. */
export function legalVerbs(todos: readonly Todo[], todo: Todo, by: TodoCaller): readonly TodoVerb[] {
  return TODO_VERBS.filter(
    (verb) => VERB_STATUS[verb] !== todo.status && refuseVerb(todos, todo, { by, verb, reason: 'any' }) === undefined,
  )
}

function refuseVerb(
  todos: readonly Todo[],
  todo: Todo,
  { by, verb, reason }: VerbCall,
): RefusedVerb['kind'] | undefined {
  if (!ownsTodo(by, todo)) return 'not_yours'
  if (!mayChange(by, verb, todo)) return 'not_in_behaviour'
  const to = VERB_STATUS[verb]
  if (to !== null && !isMoveAllowed(todo.type, todo.status, to)) return 'illegal_move'
  if (to === todo.status) return undefined
  if (needsReason(verb) && reason.trim() === '') return 'reason_missing'
  if (waitsFor(todos, todo, verb).length > 0) return 'waits_for'
  if (isExhausted(todo, verb) && by.kind !== 'user' && by.kind !== 'system') return 'attempts_exhausted'
  if (verb !== 'pass' || by.kind === 'user') return undefined
  if (todo.evidence === null) return 'no_evidence'
  return todo.evidence.every(({ ok }) => ok) ? undefined : 'failed_check'
}

const isExhausted = ({ status, attempts }: Todo, verb: TodoVerb): boolean =>
  attempts >= MAX_TODO_ATTEMPTS &&
  (status === 'FAILED' || status === 'CHECK_FAILED') &&
  (verb === 'start' || verb === 'done')

/** A todo is worked on after its dependencies; a Bench is decided after everything else. */
function waitsFor(todos: readonly Todo[], todo: Todo, verb: TodoVerb): readonly string[] {
  if (todo.type === 'Bench' && (verb === 'pass' || verb === 'reject')) return openBeforeBench(todos)
  return verb === 'start' || verb === 'done' ? openDependencies(todos, todo) : []
}

function withNote(todo: Todo, { by, verb, reason }: VerbCall, at: string): Todo {
  const text = reason.trim()
  if (text === '') return todo
  const note = { at, verb, by: by.kind === 'sub_agent' ? by.agent_id : by.kind, text }
  return { ...todo, notes: [...todo.notes, note].slice(-MAX_TODO_NOTES) }
}

function enterStatus(todo: Todo, status: TodoStatus, reason: string, updated_at: string): Todo {
  const next = { ...todo, status, updated_at }
  if (status === todo.status) return next
  switch (status) {
    case 'COMPLETE':
    case 'IN_PROGRESS':
      // The work changed, so what was seen of it before proves nothing.
      return { ...next, evidence: null }
    case 'FAILED':
      return { ...next, attempts: todo.attempts + 1, last_error: reason.trim() }
    case 'CHECK_FAILED':
      return { ...next, last_error: reason.trim() }
    case 'DONE':
      return { ...next, last_error: null, proof: judgeProof(todo) }
    case 'WAIT':
      return next
    default:
      return assertNever(status)
  }
}
