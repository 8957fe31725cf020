/** Store conformance: the queue. */

import assert from 'node:assert/strict'
import { commitOne } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  readStatus,
  settleOp,
  startDispatch,
  TEST_NOW,
} from './store-test-helpers.ts'

export const queueConformance: readonly ConformanceCase[] = [
  {
    name: 'E6: claims take high priority first, then the oldest, and never the same dispatch twice',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(
        store,
        newTestDispatch('a'),
        newTestDispatch('b', { priority: 5 }),
        newTestDispatch('c'),
        newTestDispatch('d', { priority: 5 }),
      )
      const first = await claimInStore(store, epoch, 3)
      const second = await claimInStore(store, epoch, 3)
      assert.deepEqual(
        [...first, ...second].map(({ dispatch_id }) => dispatch_id),
        ['b', 'd', 'a', 'c'],
      )
      assert.deepEqual(await claimInStore(store, epoch, 3), [])
    },
  },
  {
    name: 'E6: `only` claims only the named dispatches',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, newTestDispatch('a'), newTestDispatch('b'))
      const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: 5, now: TEST_NOW, only: ['b'] }])
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['b'],
      )
      assert.equal(await readStatus(store, 'a'), 'pending')
    },
  },
  {
    name: 'E6: `except` skips the named dispatches',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, newTestDispatch('a'), newTestDispatch('b'), newTestDispatch('c'))
      const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: 5, now: TEST_NOW, except: ['b', 'x'] }])
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['a', 'c'],
      )
      assert.equal(await readStatus(store, 'b'), 'pending')
    },
  },
  {
    name: 'case 75: `last` ones come after the others of their priority, in their own order',
    async run(store) {
      const epoch = await joinTestWorker(store)
      const low = newTestDispatch('low', { priority: -1 })
      await enqueueInStore(store, low, ...['a', 'b', 'c', 'd'].map((id) => newTestDispatch(id)))
      const claim = { op: 'claim', epoch, now: TEST_NOW, last: ['c', 'a', 'gone'] } as const
      const [first] = await commitOne(store, [{ ...claim, limit: 3, except: ['d'] }])
      const [second] = await commitOne(store, [{ ...claim, limit: 5 }])
      assert.deepEqual(
        [first, second].map((claimed) => claimed.map(({ dispatch_id }) => dispatch_id)),
        [
          ['b', 'c', 'a'],
          ['d', 'low'],
        ],
      )
    },
  },
  {
    name: 'enqueue: exactly once per (source, key), also inside one call',
    async run(store) {
      const [[first, twin]] = await commitOne(store, [
        {
          op: 'enqueue',
          now: TEST_NOW,
          dispatches: [newTestDispatch('a', { key: 'k' }), newTestDispatch('b', { key: 'k' })],
        },
      ])
      const [[again]] = await commitOne(store, [
        { op: 'enqueue', now: TEST_NOW, dispatches: [newTestDispatch('c', { key: 'k' })] },
      ])
      const [[other]] = await commitOne(store, [
        { op: 'enqueue', now: TEST_NOW, dispatches: [newTestDispatch('d', { key: 'k', source: 'elsewhere' })] },
      ])
      assert.deepEqual(
        {
          firstDuplicate: first?.duplicate,
          twinDuplicate: twin?.duplicate,
          againDuplicate: again?.duplicate,
          otherDuplicate: other?.duplicate,
        },
        { firstDuplicate: false, twinDuplicate: true, againDuplicate: true, otherDuplicate: false },
      )
      assert.deepEqual(
        { firstDispatchId: first?.dispatch_id, twinDispatchId: twin?.dispatch_id, againDispatchId: again?.dispatch_id },
        { firstDispatchId: 'a', twinDispatchId: 'a', againDispatchId: 'a' },
      )
      assert.equal((await store.dispatches({ limit: 10 })).length, 2)
    },
  },
  {
    name: 'E6: enqueue adds all dispatches or none',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('a', { session_id: 'busy' }))
      await assertRefusedWith(
        'conflict',
        commitOne(store, [
          {
            op: 'enqueue',
            now: TEST_NOW,
            dispatches: [newTestDispatch('b'), newTestDispatch('c', { session_id: 'busy' })],
          },
        ]),
      )
      assert.equal(await store.dispatch('b'), undefined)
      assert.equal(await store.session('session-b'), undefined)
    },
  },
  {
    name: 'a dispatch with a later start waits and becomes pending when it is due',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, newTestDispatch('later', { at: TEST_NOW + 1000 }))
      assert.equal(await readStatus(store, 'later'), 'waiting')
      assert.equal(await store.nextTimer(), TEST_NOW + 1000)
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 999 }])
      assert.deepEqual(await claimInStore(store, epoch), [])
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 1000 }])
      assert.equal((await claimInStore(store, epoch)).length, 1)
      assert.equal(await store.nextTimer(), undefined)
      assert.deepEqual(await store.inbox('session-later'), [], 'a start is not an observation')
    },
  },
  {
    name: 'settle: status and reason are stored, and the fence ends',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(store, [settleOp('failed')], fence)
      const dispatch = await store.dispatch('one')
      assert.deepEqual(
        {
          status: dispatch?.status,
          error: dispatch?.error,
          failure_class: dispatch?.failure_class,
          lease_owner: dispatch?.lease_owner,
        },
        { status: 'failed', error: 'broken', failure_class: 'infra', lease_owner: null },
      )
      await assertRefusedWith('store_fenced', commitOne(store, [settleOp('done')], fence))
    },
  },
  {
    name: 'counts and session statuses follow the queue',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await enqueueInStore(store, newTestDispatch('two'), newTestDispatch('three', { at: TEST_NOW + 9999 }))
      const sessions = async () =>
        Object.fromEntries((await store.sessions({ limit: 9 })).map((session) => [session.session_id, session.status]))
      assert.deepEqual(await sessions(), {
        'session-one': 'active',
        'session-two': 'active',
        'session-three': 'waiting',
      })
      await commitOne(store, [settleOp('done')], fence)
      await claimInStore(store, epoch)
      assert.deepEqual(await store.counts(), {
        pending: 0,
        running: 1,
        waiting: 1,
        done: 1,
        failed: 0,
        cancelled: 0,
        dead: 0,
      })
      assert.equal((await sessions())['session-one'], 'idle')
      assert.deepEqual(
        (await store.dispatches({ status: 'done', limit: 9 })).map(({ dispatch_id }) => dispatch_id),
        ['one'],
      )
      assert.deepEqual((await store.dispatches({ agent_id: 'nobody', limit: 9 })).length, 0)
    },
  },
  {
    name: 'E6: only a failed or dead dispatch can be retried, and it starts fresh',
    async run(store) {
      const { fence } = await startDispatch(store, 'a')
      const retry = (dispatch_id = 'a') => commitOne(store, [{ op: 'retry', dispatch_id, now: TEST_NOW }])
      await assertRefusedWith('conflict', retry())
      await commitOne(store, [settleOp('failed')], fence)
      await retry()
      const { status, error, failure_class, crashes } = (await store.dispatch('a')) ?? {}
      assert.deepEqual(
        { status, error, failure_class, crashes },
        { status: 'pending', error: null, failure_class: null, crashes: 0 },
      )
      await assertRefusedWith('conflict', retry())
      await assertRefusedWith('not_found', retry('x'))
    },
  },
  {
    name: 'E6: a retry is refused while another dispatch of the session is in flight',
    async run(store) {
      const { fence } = await startDispatch(store, 'a')
      await commitOne(store, [settleOp('failed')], fence)
      const observation = { id: 'm', type: 'user_message', text: 'and now?', ts: TEST_NOW } as const
      await commitOne(store, [
        { op: 'publish', session_id: 'session-a', observation, successor_id: 'b', now: TEST_NOW },
      ])
      await assertRefusedWith('conflict', commitOne(store, [{ op: 'retry', dispatch_id: 'a', now: TEST_NOW }]))
      assert.deepEqual(
        { a: await readStatus(store, 'a'), b: await readStatus(store, 'b') },
        { a: 'failed', b: 'pending' },
      )
    },
  },
  {
    name: '`active` lists the dispatches created before its end and last changed since its beginning, newest first',
    async run(store) {
      const enqueueAt = (id: string, now: number) =>
        commitOne(store, [{ op: 'enqueue', dispatches: [newTestDispatch(id)], now }])
      await enqueueAt('a', TEST_NOW)
      await enqueueAt('b', TEST_NOW + 1000)
      await enqueueAt('c', TEST_NOW + 2000)
      const cancel = { op: 'cancel', dispatch_id: 'a', how: 'immediate', now: TEST_NOW + 1500 } as const
      await commitOne(store, [cancel])
      const active = async (from: number, to: number): Promise<string[]> =>
        (await store.dispatches({ active: { from, to }, limit: 9 })).map(({ dispatch_id }) => dispatch_id)
      assert.deepEqual(await active(TEST_NOW, TEST_NOW + 2001), ['c', 'b', 'a'])
      assert.deepEqual(await active(TEST_NOW + 1001, TEST_NOW + 2000), ['a'])
      assert.deepEqual(await active(TEST_NOW + 1501, TEST_NOW + 2000), [])
    },
  },
  {
    name: 'an archived session is kept but not listed; archive needs an idle session; a message undoes it',
    async run(store) {
      const { fence } = await startDispatch(store, 'a')
      const { session_id } = (await store.dispatch('a')) ?? { session_id: '' }
      const archive = (archived: boolean) => commitOne(store, [{ op: 'archive', session_id, archived, now: TEST_NOW }])
      const listed = async () => (await store.sessions({ limit: 10 })).length
      await assertRefusedWith('conflict', archive(true))
      await commitOne(store, [settleOp('done')], fence)
      await archive(true)
      assert.deepEqual(
        { listedCount: await listed(), status: (await store.session(session_id))?.status },
        { listedCount: 0, status: 'archived' },
      )
      assert.equal((await store.sessions({ limit: 10, archived: true })).length, 1)
      await archive(false)
      assert.equal(await listed(), 1)
      await archive(true)
      const observation = { id: 'm', type: 'user_message', text: 'still there?', ts: TEST_NOW } as const
      await commitOne(store, [{ op: 'publish', session_id, observation, successor_id: 'b', now: TEST_NOW }])
      assert.deepEqual(
        { listedCount: await listed(), status: await readStatus(store, 'b') },
        { listedCount: 1, status: 'pending' },
      )
    },
  },
]
