/** Store conformance: lists are read part by part, filtered, and counted. */

import assert from 'node:assert/strict'
import type { NewTodo, TodoAction } from '../domain/todo-delta.ts'
import { commitOne, type Store } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  newTestDispatch,
  settleOp,
  startDispatch,
  TEST_NOW,
} from './store-test-helpers.ts'

type SessionFilter = Parameters<Store['sessionWindow']>[0]

const sessionsOf = async (store: Store, filter: Partial<SessionFilter>): Promise<string> => {
  const { items, total } = await store.sessionWindow({ offset: 0, limit: 9, ...filter })
  return `${items.map(({ session_id }) => session_id.slice('session-'.length)).join(' ')} of ${total}`
}

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
    name: 'a dispatch with a raised priority is claimed first; one that has ended keeps its own',
    async run(store) {
      const { epoch, fence } = await startDispatch(store, 'a')
      await enqueueInStore(store, newTestDispatch('b'), newTestDispatch('c'))
      const prioritize = (dispatch_id: string) =>
        commitOne(store, [{ op: 'prioritize', dispatch_id, priority: 7, now: TEST_NOW }])
      await prioritize('c')
      const [claimed] = await claimInStore(store, epoch)
      assert.equal(claimed?.dispatch_id, 'c')
      await commitOne(store, [settleOp('done')], fence)
      await assertRefusedWith('conflict', prioritize('a'))
      await assertRefusedWith('not_found', prioritize('x'))
      assert.equal((await store.dispatch('a'))?.priority, 0)
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
      assert.equal(await sessionsOf(store, { offset: 1, limit: 1 }), 'b of 3')
      const filters: readonly (readonly [Partial<SessionFilter>, string])[] = [
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
        const expected = `${names} of ${names.split(' ').length}`
        assert.equal(await sessionsOf(store, filter), expected, JSON.stringify(filter))
      }
    },
  },
  {
    name: 'the folders of sessions are listed, that of the newest session first, with their agents and sessions',
    async run(store) {
      const [one, two] = ['/nowhere/one', '/nowhere/two']
      await enqueueInStore(store, newTestDispatch('a', { workspace: one }), newTestDispatch('b', { workspace: two }))
      await enqueueInStore(store, newTestDispatch('c', { workspace: one, agent_id: 'other' }))
      assert.deepEqual(await store.workspaces(), [
        { workspace: one, agents: ['other', 'agent'], last_session_id: 'session-c', sessions: 2 },
        { workspace: two, agents: ['agent'], last_session_id: 'session-b', sessions: 1 },
      ])
      const found = await store.sessionsIn([one, two, '/none'], { limit: 1 })
      assert.deepEqual(
        [...found],
        [
          [one, ['session-c']],
          [two, ['session-b']],
        ],
      )
      assert.deepEqual((await store.sessionsIn([one], { limit: 9 })).get(one), ['session-c', 'session-a'])
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
      const titles = async (filter: Partial<Parameters<Store['todoWindow']>[0]>): Promise<string> => {
        const { items, total } = await store.todoWindow({ offset: 0, limit: 9, ...filter })
        return `${items.map(({ title }) => title).join('')} of ${total}`
      }
      assert.equal(await titles({}), 'zxy of 3')
      assert.equal(await titles({ offset: 1 }), 'xy of 3')
      assert.equal(await titles({ status: 'WAIT' }), 'zx of 2')
      assert.equal(await titles({ status: 'WAIT', session_id: 'session-one' }), 'x of 1')
      assert.equal(await titles({ workspace: '/nowhere/one' }), 'xy of 2')
      assert.equal(await titles({ status: 'DONE' }), ' of 0')
    },
  },
]
