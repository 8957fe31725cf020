import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CheckResult,
  describeTodoStatus,
  formatTodoCode,
  hasTodoRight,
  isMoveAllowed,
  judgeProof,
  nextReady,
  parseTodoCode,
  TODO_STATUSES,
  TODO_VERBS,
  type TodoCheck,
  type TodoStatus,
  type TodoSummary,
  type TodoType,
} from './todo.ts'

/** Rows: from; columns: to; both in the order of TODO_STATUSES. `=`: no change, `+`: allowed, `b`: only for a Bench. */
const TABLE: Readonly<Record<TodoStatus, string>> = {
  WAIT: '=++' + '+bb',
  IN_PROGRESS: '+=+' + '+..',
  COMPLETE: '.+=' + '.++',
  FAILED: '.++' + '=..',
  CHECK_FAILED: '.++' + '+=.',
  DONE: '...' + '..=',
}

test('case 83: of the 36 moves of a todo, exactly those of the table are allowed, for Task and Bench', () => {
  for (const from of TODO_STATUSES)
    for (const [at, to] of TODO_STATUSES.entries()) {
      const cell = TABLE[from][at]
      assert.equal(isMoveAllowed('Task', from, to), cell === '=' || cell === '+', `Task ${from} to ${to}`)
      assert.equal(isMoveAllowed('Bench', from, to), cell !== '.', `Bench ${from} to ${to}`)
    }
})

const RIGHTS: readonly (readonly [behaviour: string, rights: string, bench: string])[] = [
  ['plan', 'note add', 'note add'],
  ['do', 'start done fail note add', 'note add'],
  ['check', 'pass reject note', 'pass reject note'],
  ['adjust', 'note add', 'note add'],
  ['router', '', ''],
  ['resolve_router', '', ''],
  ['solo', 'start done fail note add', 'note add'],
  ['a behaviour of the user', 'start done fail note add', 'note add'],
]

test('case 84: DO cannot pass or reject, CHECK cannot start or finish, ADJUST and PLAN change no status', () => {
  const rightsIn = (behaviour: string, type: TodoType): string =>
    [...TODO_VERBS, 'add' as const].filter((right) => hasTodoRight(behaviour, right, type)).join(' ')
  for (const [behaviour, task, bench] of RIGHTS) {
    assert.equal(rightsIn(behaviour, 'Task'), task, behaviour)
    assert.equal(rightsIn(behaviour, 'Bench'), bench, `Bench in ${behaviour}`)
  }
})

const todo = (code: string, more: Partial<TodoSummary> = {}): TodoSummary => ({
  ...{
    code,
    title: code,
    type: 'Task',
    status: 'WAIT',
    deps: [],
    assignee: null,
    parallel: false,
    attempts: 0,
    proof: null,
    ...more,
  },
})

test('case 87: the next todo is the oldest one whose dependencies are COMPLETE or DONE', () => {
  const codeOf = (todos: readonly TodoSummary[]): string | undefined => nextReady(todos, 'do')?.code
  assert.equal(codeOf([todo('T001'), todo('T002')]), 'T001')
  assert.equal(codeOf([todo('T001', { status: 'COMPLETE' }), todo('T002', { deps: ['T001'] })]), 'T002')
  assert.equal(codeOf([todo('T001', { status: 'DONE' }), todo('T002', { deps: ['T001'] })]), 'T002')
  for (const status of ['WAIT', 'IN_PROGRESS', 'FAILED', 'CHECK_FAILED'] as const)
    assert.equal(codeOf([todo('T001', { status, assignee: 'helper' }), todo('T002', { deps: ['T001'] })]), undefined)
  assert.equal(codeOf([todo('T001', { status: 'CHECK_FAILED' }), todo('T002')]), 'T001', 'the order of the plan')
  assert.equal(codeOf([todo('T001', { status: 'FAILED', attempts: 3 }), todo('T002')]), 'T002', 'no fourth attempt')
  assert.equal(codeOf([todo('T001', { deps: ['T009'] })]), undefined, 'a missing dependency is not finished')
})

test('case 90: a Bench comes after everything else is DONE, and only in CHECK', () => {
  const bench = todo('T002', { type: 'Bench' })
  for (const status of TODO_STATUSES) {
    const todos = [todo('T001', { status }), bench]
    assert.equal(nextReady(todos, 'check')?.code, status === 'DONE' ? 'T002' : undefined, status)
    assert.notEqual(nextReady(todos, 'do')?.code, 'T002', status)
  }
  assert.equal(nextReady([todo('T001', { type: 'Bench', status: 'DONE' })], 'check'), undefined)
})

test('codes count up from T001', () => {
  assert.deepEqual([1, 42, 1000].map(formatTodoCode), ['T001', 'T042', 'T1000'])
  assert.deepEqual(['T001', 't001', 'T1', 'T1000', 'x'].map(parseTodoCode), [1, undefined, undefined, 1000, undefined])
})

const check: TodoCheck = { kind: 'command', run: 'test -f out' }
const result = (ok: boolean): CheckResult => ({ check, ok, observed: '', output: '', at: '', digest: '' })
const results = (all: string): readonly CheckResult[] => [...all].map((each) => result(each === '+'))

test('O4: a check is proof only if it failed before the work and passes after it', () => {
  const proofOf = (baseline: string | null, evidence: string | null, checks: number) =>
    judgeProof({
      checks: Array.from({ length: checks }, () => check),
      baseline: baseline === null ? null : results(baseline),
      evidence: evidence === null ? null : results(evidence),
    })
  assert.equal(proofOf('-', '+', 1), 'proved')
  assert.equal(proofOf('+-', '++', 2), 'proved', 'one such check is enough')
  assert.equal(proofOf('+', '+', 1), 'asserted', 'it passed before')
  assert.equal(proofOf('--', '+-', 2), 'asserted', 'another check fails')
  assert.equal(proofOf('-', '+', 2), 'asserted', 'another check was not executed')
  assert.equal(proofOf(null, '+', 1), 'asserted', 'not executed before')
  assert.equal(proofOf('-', null, 1), 'asserted', 'not executed after')
  assert.equal(proofOf('', '', 0), 'asserted', 'no check')
})

test('O4: a todo that is only asserted says so wherever its status is shown', () => {
  assert.equal(describeTodoStatus({ status: 'DONE', proof: 'asserted' }), 'DONE (asserted)')
  assert.equal(describeTodoStatus({ status: 'DONE', proof: 'proved' }), 'DONE')
  assert.equal(describeTodoStatus({ status: 'WAIT', proof: null }), 'WAIT')
})
