import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TodoSummary } from '../domain/todo.ts'
import type { AfterBehaviour, BehaviourEnd } from '../ports/behaviour.ts'
import { afterFinished } from './transitions.ts'

/**
 * `T001:WAIT`, `T002:WAIT<T001` (depends on T001), `T003:WAIT#Bench`, `T004:WAIT@helper`, `T004:WAIT@@helper`
 * (parallel), `T005:FAILED*3`.
 */
function todo(text: string): TodoSummary {
  const [, code = '', status = '', dep, bench, parallel, assignee, attempts] =
    /^(T\d+):(\w+)(?:<(T\d+))?(#Bench)?(?:@(@)?(\w+))?(?:\*(\d))?$/.exec(text) ?? assert.fail(text)
  return {
    ...{ code, title: `title of ${code}`, type: bench ? 'Bench' : 'Task', status: status as TodoSummary['status'] },
    ...{
      deps: dep ? [dep] : [],
      assignee: assignee ?? null,
      parallel: parallel === '@',
      attempts: Number(attempts ?? 0),
    },
    proof: status === 'DONE' ? 'proved' : null,
  }
}

const after = (name: string, todos: string, more: Partial<BehaviourEnd> = {}): AfterBehaviour =>
  afterFinished(name, {
    ...{ why: 'finished', answer: 'the answer', params: {}, stays: 0, moves: 0, results: [] },
    todos: todos.split(' ').filter(Boolean).map(todo),
    ...more,
  })

function describeNext(next: AfterBehaviour): string {
  if (next.kind === 'become' && next.params.spawn !== undefined) return `${next.behaviour} +${next.params.spawn}`
  if (next.kind === 'become') return `${next.behaviour} ${next.params.todo ?? next.params.bench ?? ''}`.trim()
  if (next.kind === 'end') return next.error === undefined ? 'end' : 'failed'
  return next.kind
}

const T1 = { params: { todo: 'T001' } }
/** DO in which sub-agents are started, and their results taken. */
const AGENTS = { params: { spawn: '' } }

describe('O1–O5: what a behaviour did to the todos decides what follows', () => {
  for (const [name, todos, expected, more] of [
    ['router', '', 'end', {}],
    ['router', '', 'plan', { wanted: 'plan' }],
    ['router', '', 'plan:depth=2', { wanted: 'plan:depth=2' }],
    ['router', '', 'end', { wanted: 'end' }],
    ['router', '', 'stay', { wanted: 'check' }],
    ['resolve_router', '', 'end', {}],
    ['plan', '', 'end', {}],
    ['plan', 'T001:DONE', 'end', {}],
    ['plan', 'T001:WAIT T002:WAIT', 'do T001', {}],
    ['plan', 'T001:DONE T002:WAIT<T001', 'do T002', {}],
    ['plan', 'T001:WAIT@helper T002:WAIT<T001', 'do +T001', {}],
    ['plan', 'T001:WAIT T002:WAIT@@helper T003:WAIT@@helper T004:WAIT<T002@@helper', 'do +T002,T003', {}],
    ['plan', 'T001:WAIT T002:WAIT@helper', 'do T001', {}],
    ['plan', 'T001:WAIT<T009', 'stay', {}],
    ['plan', 'T001:WAIT', 'do T001', { wanted: 'check' }],
    ['do', 'T001:COMPLETE', 'check T001', T1],
    ['do', 'T001:FAILED', 'adjust T001', T1],
    ['do', 'T001:IN_PROGRESS', 'stay', T1],
    ['do', 'T001:IN_PROGRESS', 'stay', { ...T1, wanted: 'check' }],
    ['do', 'T001:DONE T002:WAIT', 'do T002', T1],
    ['do', 'T001:IN_PROGRESS@@helper T002:WAIT', 'do T002', AGENTS],
    ['do', 'T001:IN_PROGRESS@helper T002:WAIT', 'wait', AGENTS],
    ['do', 'T001:IN_PROGRESS@@helper T002:WAIT<T001', 'wait', AGENTS],
    ['do', 'T001:IN_PROGRESS@@helper T002:COMPLETE@@helper', 'check', AGENTS],
    ['do', 'T001:FAILED@@helper T002:COMPLETE@@helper', 'adjust T001', AGENTS],
    ['do', 'T001:COMPLETE@@helper T002:WAIT<T001@@helper', 'do +T002', AGENTS],
    ['do', 'T001:IN_PROGRESS@@helper', 'do +', { ...AGENTS, results: [{ todo: 'T001', isDone: true, text: 'x' }] }],
    ['check', 'T001:COMPLETE', 'stay', T1],
    ['check', 'T001:CHECK_FAILED T002:WAIT', 'adjust T001', T1],
    ['check', 'T001:DONE T002:WAIT', 'do T002', T1],
    ['check', 'T001:DONE T002:WAIT#Bench', 'check T002', T1],
    ['check', 'T001:DONE T002:WAIT#Bench', 'stay', { params: { bench: 'T002' } }],
    ['check', 'T001:DONE T002:WAIT@helper', 'do +T002', T1],
    ['check', 'T001:DONE T002:IN_PROGRESS@helper', 'do +', T1],
    ['check', 'T001:DONE T002:IN_PROGRESS@@helper T003:WAIT', 'do T003', T1],
    ['check', 'T001:DONE T002:DONE#Bench', 'end', T1],
    ['adjust', 'T001:CHECK_FAILED', 'do T001', T1],
    ['adjust', 'T001:FAILED', 'do T001', T1],
    ['adjust', 'T001:FAILED@@helper', 'do +T001', T1],
    ['adjust', 'T001:CHECK_FAILED T002:WAIT', 'failed', { ...T1, wanted: 'end' }],
    ['adjust', 'T001:CHECK_FAILED', 'failed', { params: { todo: 'T001', round: '3' } }],
    ['mine', 'T001:WAIT', 'end', {}],
  ] as const)
    test(`${name} with ${todos || 'no todos'}${'wanted' in more ? `, wants ${more.wanted}` : ''} → ${expected}`, () => {
      assert.equal(describeNext(after(name, todos, more)), expected)
    })

  test('O4: the reply says what was proved and what was only asserted, in the language of the owner', () => {
    const todos = [todo('T001:DONE'), { ...todo('T002:DONE'), proof: 'asserted' as const }]
    const reply = (answer: string) => afterFinished('check', { ...end(answer), todos })
    const end = (answer: string): BehaviourEnd => ({
      ...{ why: 'finished', answer, params: {}, stays: 0, moves: 0, todos: [], results: [] },
    })
    assert.deepEqual(reply('ready'), {
      kind: 'end',
      answer: 'ready\n\n- T001 title of T001: proved by a check\n- T002 title of T002: asserted, not proved',
    })
    const said = (answer: string, asked?: string): string => {
      const next = afterFinished('check', { ...end(answer), todos, ...(asked === undefined ? {} : { asked }) })
      return next.kind === 'end' ? next.answer : assert.fail(next.kind)
    }
    const [chinese, english] = [/T001.*检查已证明\n.*T002.*未经证明/, /T001.*proved by a check\n.*T002.*asserted/]
    assert.match(said('好了'), chinese)
    assert.match(said('Saved it as 笔记.md', 'Write my notes'), english)
    assert.match(said('Wrote the notes for 张伟 into the file'), english)
    assert.match(said('Done, the file is written', '写一个 notes.md'), chinese)
  })
})
