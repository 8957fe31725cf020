/** Store conformance: lists are read part by part, filtered, and counted. */

import assert from 'node:assert/strict'
import type { NewTodo, TodoAction } from '../domain/todo-delta.ts'
import { commitOne, type Store } from '../ports/store.ts'
import {
  type ConformanceCase,
  enqueueInStore,
  newTestDispatch,
  settleOp,
  startDispatch,
  TEST_NOW,
} from './store-test-helpers.ts'

type SessionFilter = Parameters<Store['sessions']>[0]

const sessionsOf = async (store: Store, filter: Partial<SessionFilter>): Promise<string> =>
  (await store.sessions({ limit: 9, ...filter })).map(({ session_id }) => session_id.slice('session-'.length)).join(' ')

const newTodo = (title: string): NewTodo => ({
  ...{ title, type: 'Task', deps: [], assignee: null, parallel: false, skills: [], checks: [] },
})
const add = (title: string): TodoAction => ({
  ...{ kind: 'add', by: { kind: 'root', behaviour: 'plan' }, todo: newTodo(title) },
})

export const listConformance: readonly ConformanceCase[] = [
  {
    name: 'the dispatches of a session are listed part by part, newest first, with their number',
    async run(store) {
      const { fence } = await startDispatch(store, 'a')
      await commitOne(store, [settleOp('done')], fence)
      await enqueueInStore(store, newTestDispatch('other'))
      await enqueueInStore(store, newTestDispatch('b', { session_id: 'session-a' }))
      const read = async (session: string, offset = 0, limit = 9): Promise<string> => {
        const { items, total } = await store.dispatchesIn(session, { offset, limit })
        return `${items.map(({ dispatch_id }) => dispatch_id).join(' ')} of ${total}`
      }
      assert.equal(await read('session-a'), 'b a of 2')
      assert.equal(await read('session-a', 1), 'a of 2')
      assert.equal(await read('session-a', 0, 1), 'b of 2')
      assert.equal(await read('nowhere'), ' of 0')
      const open = await store.dispatchWindow({ in_flight: true, offset: 0, limit: 9 })
      assert.deepEqual([open.items.map(({ dispatch_id }) => dispatch_id), open.total], [['b', 'other'], 2])
      const named = await store.dispatchWindow({ in_flight: true, words: ['task', 'oth'], offset: 0, limit: 9 })
      assert.deepEqual([named.items.map(({ dispatch_id }) => dispatch_id), named.total], [['other'], 1])
    },
  },
  {
    name: 'sessions are listed part by part, by status, agent and what they were asked, and counted alike',
    async run(store) {
      const { fence } = await startDispatch(store, 'a')
      await commitOne(store, [settleOp('done')], fence)
      await enqueueInStore(store, newTestDispatch('b', { agent_id: 'other' }))
      await enqueueInStore(store, newTestDispatch('c', { at: TEST_NOW + 9999, prompt: 'Weigh 10_kg' }))
      const gone = newTestDispatch('d')
      await enqueueInStore(store, gone)
      await commitOne(store, [{ op: 'cancel', dispatch_id: 'd', how: 'immediate', now: TEST_NOW }])
      await commitOne(store, [{ op: 'archive', session_id: 'session-d', archived: true, now: TEST_NOW }])
      assert.equal(await sessionsOf(store, { offset: 1, limit: 1 }), 'b')
      const filters: readonly (readonly [Omit<SessionFilter, 'limit'>, string])[] = [
        [{}, 'c b a'],
        [{ archived: true }, 'd c b a'],
        [{ status: 'archived' }, 'd'],
        [{ status: 'idle' }, 'a'],
        [{ status: 'active' }, 'b'],
        [{ status: 'waiting' }, 'c'],
        [{ agent_id: 'other' }, 'b'],
        [{ search: 'weigh 10_' }, 'c'],
        [{ search: 'OTHER' }, 'b'],
        [{ search: 'session-a' }, 'a'],
      ]
      for (const [filter, names] of filters) {
        assert.equal(await sessionsOf(store, filter), names, JSON.stringify(filter))
        assert.equal(await store.sessionCount(filter), names.split(' ').length, JSON.stringify(filter))
      }
    },
  },
  {
    name: 'todos are listed part by part, by session and status, and counted alike',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('one'), newTestDispatch('two'))
      const apply = (op_id: string, session_id: string, actions: readonly TodoAction[]) =>
        commitOne(store, [{ op: 'todos', op_id, session_id, actions, now: TEST_NOW }])
      await apply('a', 'session-one', [add('x'), add('y')])
      await apply('b', 'session-two', [add('z')])
      const start = { kind: 'change', code: 'T002', verb: 'start', reason: 'go' } as const
      await apply('c', 'session-one', [{ ...start, by: { kind: 'root', behaviour: 'do' } }])
      const titles = async (filter: Omit<Parameters<Store['allTodos']>[0], 'limit'>): Promise<string> =>
        (await store.allTodos({ limit: 9, ...filter })).map(({ title }) => title).join('')
      assert.equal(await titles({}), 'zxy')
      assert.equal(await titles({ offset: 1 }), 'xy')
      for (const [filter, found] of [
        [{ status: 'WAIT' }, 'zx'],
        [{ status: 'WAIT', session_id: 'session-one' }, 'x'],
        [{ workspace: '/nowhere/one' }, 'xy'],
        [{ status: 'DONE' }, ''],
      ] as const) {
        assert.equal(await titles(filter), found, JSON.stringify(filter))
        assert.equal(await store.todoCount(filter), found.length, JSON.stringify(filter))
      }
    },
  },
]
