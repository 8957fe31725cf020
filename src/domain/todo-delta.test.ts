import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CheckResult,
  isMoveAllowed,
  MAX_TODO_ATTEMPTS,
  TODO_STATUSES,
  TODO_TYPES,
  TODO_VERBS,
  type Todo,
  type TodoCaller,
  type TodoVerb,
  VERB_STATUS,
} from './todo.ts'
import { applyTodoDelta, type NewTodo, type TodoAction, type TodoOutcome } from './todo-delta.ts'

const AT = '2030-01-01T00:00:00.000Z'
const LATER = '2030-01-01T00:01:00.000Z'

const passing: CheckResult = {
  check: { kind: 'command', run: 'true' },
  ...{ ok: true, exit: 0, observed: 'exit 0', output: '', at: AT, digest: 'd' },
}

const todo = (more: Partial<Todo> = {}): Todo => ({
  ...{ code: 'T001', session_id: 's', title: 'a task', type: 'Task', status: 'WAIT', deps: [], assignee: null },
  ...{ parallel: false, skills: [], checks: [], attempts: 0, notes: [], last_error: null, baseline: null },
  ...{ evidence: null, proof: null, created_at: AT, updated_at: AT, ...more },
})

const apply = (todos: readonly Todo[], ...actions: readonly TodoAction[]): TodoOutcome =>
  applyTodoDelta(todos, { session_id: 's', actions, at: LATER })

const use = (by: TodoCaller, verb: TodoVerb, more: { code?: string; reason?: string } = {}): TodoAction => ({
  ...{ kind: 'change', by, verb, code: 'T001', reason: 'because', ...more },
})

const root = (behaviour: string): TodoCaller => ({ kind: 'root', behaviour })

const changedTo = (outcome: TodoOutcome, code = 'T001'): Todo => {
  assert.ok(outcome.ok, JSON.stringify(outcome))
  const found = outcome.todos.find((each) => each.code === code)
  assert.ok(found)
  return found
}

const refusalOf = (outcome: TodoOutcome) => {
  assert.ok(!outcome.ok, 'it was not refused')
  return outcome.refusal
}

const ACTORS: Readonly<Record<string, (behaviour: string) => TodoCaller>> = {
  root,
  'own sub-agent': (behaviour) => ({ kind: 'sub_agent', agent_id: 'helper', behaviour }),
  'other sub-agent': (behaviour) => ({ kind: 'sub_agent', agent_id: 'stranger', behaviour }),
  user: () => ({ kind: 'user' }),
  system: () => ({ kind: 'system' }),
}

test('case 83: 36 moves × {Task, Bench} × {root, own sub-agent, other sub-agent, user, system}', () => {
  for (const [actor, callerIn] of Object.entries(ACTORS))
    for (const type of TODO_TYPES)
      for (const from of TODO_STATUSES)
        for (const verb of TODO_VERBS) {
          const to = VERB_STATUS[verb]
          // The behaviour that has the right to use the verb; so only table and actor decide.
          const caller = callerIn(verb === 'pass' || verb === 'reject' ? 'check' : 'do')
          const bound = caller.kind === 'root' || caller.kind === 'sub_agent'
          const benchInDo = bound && type === 'Bench' && ['start', 'done', 'fail'].includes(verb)
          const legal = to === null || isMoveAllowed(type, from, to)
          const before = todo({ type, status: from, assignee: 'helper', evidence: [passing] })
          const outcome = apply([before], use(caller, verb))
          const label = `${actor}: ${verb} a ${type} that is ${from}`
          assert.equal(outcome.ok, legal && !benchInDo && actor !== 'other sub-agent', label)
          if (!outcome.ok) continue
          const after = changedTo(outcome)
          assert.equal(after.status, to ?? from, label)
          if (from === to) assert.equal(after, before, `${label}: nothing changes`)
        }
})

test('case 92: no verb leads back to WAIT, and DONE is final for everyone', () => {
  assert.ok(!(Object.values(VERB_STATUS) as readonly unknown[]).includes('WAIT'))
  for (const verb of ['start', 'done', 'fail', 'reject'] as const) {
    const refusal = refusalOf(apply([todo({ status: 'DONE', proof: 'proved' })], use({ kind: 'user' }, verb)))
    assert.equal(refusal.kind, 'illegal_move')
  }
})

test('case 83: a sub-agent changes nothing that is assigned to no agent, and adds no todos', () => {
  const helper: TodoCaller = { kind: 'sub_agent', agent_id: 'helper', behaviour: 'do' }
  assert.equal(refusalOf(apply([todo()], use(helper, 'note'))).kind, 'not_yours')
  assert.equal(refusalOf(apply([], { kind: 'add', by: helper, todo: newTodo() })).kind, 'add_not_allowed')
})

test('case 85: a refusal names the status and the verbs that this caller can use now', () => {
  const refusal = refusalOf(apply([todo()], use(root('do'), 'pass')))
  assert.ok(refusal.kind === 'not_in_behaviour')
  assert.deepEqual([refusal.status, refusal.legal], ['WAIT', ['start', 'done', 'fail', 'note']])
  const inCheck = refusalOf(apply([todo({ status: 'IN_PROGRESS' })], use(root('check'), 'pass')))
  assert.ok(inCheck.kind === 'illegal_move')
  assert.deepEqual([inCheck.status, inCheck.legal], ['IN_PROGRESS', ['note']])
  const unchecked = refusalOf(apply([todo({ status: 'COMPLETE' })], use(root('check'), 'pass')))
  assert.ok(unchecked.kind === 'no_evidence')
  assert.deepEqual(unchecked.legal, ['reject', 'note'])
})

test('case 86: done, fail and reject need a reason, which is stored', () => {
  for (const [verb, behaviour, status] of [
    ['done', 'do', 'IN_PROGRESS'],
    ['fail', 'do', 'IN_PROGRESS'],
    ['reject', 'check', 'COMPLETE'],
    ['note', 'adjust', 'FAILED'],
  ] as const) {
    const before = [todo({ status })]
    assert.equal(refusalOf(apply(before, use(root(behaviour), verb, { reason: '  ' }))).kind, 'reason_missing')
    const after = changedTo(apply(before, use(root(behaviour), verb, { reason: ' the disk is full ' })))
    assert.deepEqual(after.notes, [{ at: LATER, verb, by: 'root', text: 'the disk is full' }])
    if (verb === 'fail' || verb === 'reject') assert.equal(after.last_error, 'the disk is full')
  }
})

test('case 91: attempts count exactly the moves to FAILED; after the limit the caller is told to escalate', () => {
  let list: readonly Todo[] = [todo()]
  const step = (verb: TodoVerb): void => {
    const outcome = apply(list, use(root('do'), verb))
    assert.ok(outcome.ok, verb)
    list = outcome.todos
  }
  for (let attempt = 1; attempt <= MAX_TODO_ATTEMPTS; attempt += 1) {
    for (const verb of ['start', 'start', 'fail', 'fail'] as const) step(verb)
    assert.equal(list[0]?.attempts, attempt)
  }
  for (const verb of ['start', 'done'] as const) {
    const refusal = refusalOf(apply(list, use(root('do'), verb)))
    assert.equal(refusal.kind, 'attempts_exhausted')
  }
  assert.equal(changedTo(apply(list, use({ kind: 'user' }, 'start'))).status, 'IN_PROGRESS', 'the owner may insist')
})

const newTodo = (more: Partial<NewTodo> = {}): NewTodo => ({
  ...{ title: 'another', type: 'Task', deps: [], assignee: null, parallel: false, skills: [], checks: [], ...more },
})
const add = (more: Partial<NewTodo> = {}): TodoAction => ({ kind: 'add', by: root('plan'), todo: newTodo(more) })

test('case 87: a dependency on itself or on a todo that does not exist is refused at add', () => {
  assert.equal(refusalOf(apply([todo()], add({ deps: ['T002'] }))).kind, 'cycle')
  const refusal = refusalOf(apply([todo()], add({ deps: ['T003'] })))
  assert.ok(refusal.kind === 'unknown_todo')
  assert.deepEqual([refusal.code, refusal.known], ['T003', ['T001']])
  assert.deepEqual(changedTo(apply([todo()], add({ deps: ['T001', 'T001'] })), 'T002').deps, ['T001'])
})

test('case 87: a todo is not started before its dependencies are finished', () => {
  const second = todo({ code: 'T002', deps: ['T001'] })
  for (const verb of ['start', 'done'] as const) {
    const refusal = refusalOf(apply([todo(), second], use(root('do'), verb, { code: 'T002' })))
    assert.ok(refusal.kind === 'waits_for')
    assert.deepEqual(refusal.open, ['T001'])
  }
  assert.ok(apply([todo({ status: 'COMPLETE' }), second], use(root('do'), 'start', { code: 'T002' })).ok)
})

test('case 89: a delta takes effect as a whole or not at all', () => {
  const before = [todo()]
  const outcome = apply(before, add(), use(root('do'), 'start'), use(root('do'), 'pass'))
  assert.equal(refusalOf(outcome).kind, 'not_in_behaviour')
  const good = apply(before, add(), use(root('do'), 'start'))
  assert.ok(good.ok)
  assert.deepEqual(
    [good.changed, good.todos.map(({ status }) => status)],
    [
      ['T001', 'T002'],
      ['IN_PROGRESS', 'WAIT'],
    ],
  )
  assert.equal(before[0]?.status, 'WAIT')
})

test('case 90: a Bench is decided only after everything else is DONE', () => {
  const bench = todo({ code: 'T002', type: 'Bench', evidence: [passing] })
  const pass = use(root('check'), 'pass', { code: 'T002' })
  const refusal = refusalOf(apply([todo({ status: 'COMPLETE' }), bench], pass))
  assert.ok(refusal.kind === 'waits_for')
  assert.deepEqual(refusal.open, ['T001'])
  assert.equal(changedTo(apply([todo({ status: 'DONE' }), bench], pass), 'T002').status, 'DONE')
})

test('O4: evidence from before the last COMPLETE does not count, and a failed check cannot be passed', () => {
  const system: TodoCaller = { kind: 'system' }
  const verified = apply([todo({ status: 'COMPLETE' })], {
    kind: 'evidence',
    by: system,
    code: 'T001',
    results: [passing],
  })
  assert.ok(verified.ok)
  assert.ok(apply(verified.todos, use(root('check'), 'pass')).ok)
  const again = apply(verified.todos, use(root('do'), 'start'), use(root('do'), 'done'))
  assert.ok(again.ok)
  assert.equal(refusalOf(apply(again.todos, use(root('check'), 'pass'))).kind, 'no_evidence')
  const failed = todo({ status: 'COMPLETE', evidence: [{ ...passing, ok: false }] })
  assert.equal(refusalOf(apply([failed], use(root('check'), 'pass'))).kind, 'failed_check')
})

test('O4: only the baseline from before the work counts', () => {
  const baseline: TodoAction = { kind: 'baseline', by: { kind: 'system' }, code: 'T001', results: [passing] }
  assert.deepEqual(changedTo(apply([todo()], baseline)).baseline, [passing])
  const old = todo({ baseline: [{ ...passing, ok: false }] })
  assert.equal(changedTo(apply([old], baseline)), old)
  assert.equal(changedTo(apply([todo({ status: 'CHECK_FAILED' })], baseline)).baseline, null)
})
