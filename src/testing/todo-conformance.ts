/** Store conformance: todos change by the rules of the domain, once per op id, all or none. */

import assert from 'node:assert/strict'
import type { CheckResult, TodoCaller, TodoVerb } from '../domain/todo.ts'
import type { NewTodo, TodoAction, TodoReceipt } from '../domain/todo-delta.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Store } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  settleOp,
  TEST_NOW,
} from './store-test-helpers.ts'

const SESSION = 'session-one'
const inPlan: TodoCaller = { kind: 'root', behaviour: 'plan' }
const inDo: TodoCaller = { kind: 'root', behaviour: 'do' }

const newTodo = (more: Partial<NewTodo> = {}): NewTodo => ({
  ...{ title: 'a task', type: 'Task', deps: [], assignee: null, parallel: false, skills: [], checks: [], ...more },
})
const add = (more: Partial<NewTodo> = {}): TodoAction => ({ kind: 'add', by: inPlan, todo: newTodo(more) })
const change = (code: string, verb: TodoVerb, by = inDo): TodoAction => ({
  ...{ kind: 'change', by, code, verb, reason: `${verb} it` },
})

async function apply(
  store: Store,
  op_id: string,
  actions: readonly TodoAction[],
  session_id = SESSION,
): Promise<TodoReceipt> {
  const [receipt] = await commitOne(store, [{ op: 'todos', op_id, session_id, actions, now: TEST_NOW }])
  return receipt
}

const statuses = async (store: Store, session = SESSION): Promise<readonly string[]> =>
  (await store.todos(session)).map(({ code, status }) => `${code} ${status}`)

const checked: CheckResult = {
  check: { kind: 'command', run: 'true', expect_exit: 0 },
  ...{ ok: true, exit: 0, observed: 'exit 0', output: 'ok', at: iso(TEST_NOW), digest: 'd' },
}

export const todoConformance: readonly ConformanceCase[] = [
  {
    name: 'O8: a todo is read back as it was written, in the order of the plan',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('one'))
      const checks = [checked.check, { kind: 'file', path: 'a', contains: 'b' } as const]
      await apply(store, 'a', [add({ checks, skills: ['x'], parallel: true }), add({ type: 'Bench', deps: ['T001'] })])
      await apply(store, 'b', [
        { kind: 'baseline', by: { kind: 'system' }, code: 'T001', results: [{ ...checked, ok: false, exit: null }] },
        change('T001', 'start'),
      ])
      const [first, second] = await store.todos(SESSION)
      assert.deepEqual(first, {
        ...newTodo({ checks, skills: ['x'], parallel: true }),
        ...{ code: 'T001', session_id: SESSION, status: 'IN_PROGRESS', attempts: 0, last_error: null, proof: null },
        notes: [{ at: iso(TEST_NOW), verb: 'start', by: 'root', text: 'start it' }],
        ...{ baseline: [{ ...checked, ok: false, exit: null }], evidence: null },
        ...{ created_at: iso(TEST_NOW), updated_at: iso(TEST_NOW) },
      })
      assert.deepEqual(await store.todo(SESSION, 'T002'), second)
      assert.equal(await store.todo(SESSION, 'T003'), undefined)
      assert.equal(await store.todo('session-two', 'T001'), undefined)
    },
  },
  {
    name: 'case 89: a delta with the same op id gets the first receipt and changes nothing',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('one'))
      const first = await apply(store, 'a', [add()])
      assert.deepEqual([first.changed, first.actions, first.refusal], [['T001'], ['add'], null])
      assert.deepEqual(await apply(store, 'a', [add()]), first)
      assert.deepEqual(await store.todoReceipt('a'), first)
      await apply(store, 'b', [change('T001', 'start')])
      await apply(store, 'c', [change('T001', 'fail')])
      await apply(store, 'b', [change('T001', 'start')])
      assert.deepEqual(await statuses(store), ['T001 FAILED'])
      assert.equal((await store.todo(SESSION, 'T001'))?.attempts, 1)
    },
  },
  {
    name: 'case 89: a refused delta changes nothing, and its receipt says why',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('one'))
      await apply(store, 'a', [add()])
      const refused = await apply(store, 'b', [add(), change('T001', 'start'), change('T001', 'pass')])
      assert.deepEqual([refused.changed, refused.refusal?.kind], [[], 'not_in_behaviour'])
      assert.deepEqual(await statuses(store), ['T001 WAIT'])
      assert.deepEqual(await apply(store, 'b', [change('T001', 'start')]), refused, 'also the second time')
      const receipts = await store.todoReceipts({ session_id: SESSION, code: 'T001', limit: 9 })
      assert.deepEqual(
        receipts.map(({ op_id }) => op_id),
        ['b', 'a'],
      )
      assert.deepEqual(await store.todoReceipts({ session_id: SESSION, code: 'T002', limit: 9 }), [])
    },
  },
  {
    name: 'case 88: clearing removes what is not DONE in one session, once; a code is never used again',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('one'))
      await enqueueInStore(store, newTestDispatch('two', { session_id: 'session-two' }))
      await apply(store, 'a', [add(), add(), add()])
      await apply(store, 'other', [add()], 'session-two')
      const system: TodoCaller = { kind: 'system' }
      const evidence = { kind: 'evidence', by: system, code: 'T001', results: [checked] } as const
      await apply(store, 'b', [
        change('T001', 'start'),
        change('T001', 'done'),
        evidence,
        { kind: 'change', by: system, code: 'T001', verb: 'pass', reason: '' },
      ])
      const clear = { kind: 'clear', by: { kind: 'user' } } as const
      assert.deepEqual((await apply(store, 'c', [clear])).changed, ['T002', 'T003'])
      assert.deepEqual(await statuses(store), ['T001 DONE'])
      assert.deepEqual(await statuses(store, 'session-two'), ['T001 WAIT'])
      await apply(store, 'd', [add()])
      assert.deepEqual((await apply(store, 'c', [clear])).changed, ['T002', 'T003'], 'the first receipt')
      assert.deepEqual(await statuses(store), ['T001 DONE', 'T004 WAIT'])
      await apply(store, 'e', [clear, add()])
      await apply(store, 'f', [clear])
      await apply(store, 'g', [add()])
      assert.deepEqual(await statuses(store), ['T001 DONE', 'T006 WAIT'])
      const refused = await apply(store, 'h', [{ kind: 'clear', by: inDo }])
      assert.equal(refused.refusal, null, 'DO may add, so it may clear')
      const inCheck: TodoCaller = { kind: 'root', behaviour: 'check' }
      assert.equal((await apply(store, 'i', [{ kind: 'clear', by: inCheck }])).refusal?.kind, 'add_not_allowed')
    },
  },
  {
    name: 'O8: what a run worked on is released at its end, once, and nothing else changes',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('one'))
      await apply(store, 'a', [
        add(),
        add(),
        add(),
        change('T001', 'start'),
        change('T001', 'done'),
        change('T002', 'start'),
      ])
      const release = { kind: 'release', by: { kind: 'system' }, reason: 'the run ended' } as const
      assert.deepEqual((await apply(store, 'b', [release])).changed, ['T002'])
      assert.deepEqual(await statuses(store), ['T001 COMPLETE', 'T002 WAIT', 'T003 WAIT'])
      assert.equal((await store.todo('session-one', 'T002'))?.notes.at(-1)?.text, 'the run ended')
      assert.deepEqual((await apply(store, 'c', [release])).changed, [])
    },
  },
  {
    name: 'case 88: sessions have their own todos and codes',
    async run(store) {
      const [one, two] = [newTestDispatch('one', { workspace: '/a' }), newTestDispatch('two', { workspace: '/b' })]
      await enqueueInStore(store, one, two)
      await apply(store, 'a', [add(), add()])
      await apply(store, 'b', [add()], 'session-two')
      assert.deepEqual(await statuses(store, 'session-two'), ['T001 WAIT'])
      const listed = async (workspace?: string) =>
        (await store.allTodos({ workspace, limit: 9 })).map(({ session_id, code }) => `${session_id} ${code}`)
      assert.deepEqual(await listed(), ['session-two T001', 'session-one T001', 'session-one T002'])
      assert.deepEqual(await listed('/a'), ['session-one T001', 'session-one T002'])
      assert.equal((await store.allTodos({ limit: 2 })).length, 2)
      const unknown = { op: 'todos', op_id: 'c', session_id: 'nowhere', actions: [add()], now: TEST_NOW } as const
      await assertRefusedWith('not_found', commitOne(store, [unknown]))
    },
  },
  {
    name: 'O8: a value that could not be read back is refused',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('one'))
      const bad: readonly TodoAction[] = [
        add({ type: 'Song' as never }),
        add({ checks: [{ kind: 'command', run: 'x', expect_exit: Number.NaN }] }),
        change('T001', 'sing' as never),
        { kind: 'evidence', by: { kind: 'system' }, code: 'T001', results: [{ ...checked, at: 'never' }] },
      ]
      for (const [at, action] of bad.entries())
        await assertRefusedWith('store_invalid', apply(store, `bad ${at}`, [action]))
      assert.deepEqual(await statuses(store), [])
    },
  },
  {
    name: 'O8: todos and receipts are deleted with their session',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, newTestDispatch('one'))
      const [fence] = await claimInStore(store, epoch, 1)
      await apply(store, 'a', [add()])
      await commitOne(store, [settleOp('failed')], fence)
      await commitOne(store, [{ op: 'prune', before: TEST_NOW + 1e10, limit: 10 }])
      assert.deepEqual(await store.allTodos({ limit: 9 }), [])
      assert.equal(await store.todoReceipt('a'), undefined)
      assert.deepEqual(await store.unreadable(), [])
    },
  },
]
