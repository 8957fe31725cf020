/** Store conformance: the queue. */

import assert from 'node:assert/strict'
import { commitOne } from '../ports/store.ts'
import {
  type ConformanceCase,
  claim,
  dispatchOf,
  enqueue,
  forMessage,
  join,
  NOW,
  refused,
  running,
  settleAs,
  statusOf,
} from './store-cases.ts'

export const queueConformance: readonly ConformanceCase[] = [
  {
    name: 'E6: claims take high priority first, then the oldest, and never the same dispatch twice',
    async run(store) {
      const epoch = await join(store)
      await enqueue(
        store,
        dispatchOf('a'),
        dispatchOf('b', { priority: 5 }),
        dispatchOf('c'),
        dispatchOf('d', { priority: 5 }),
      )
      const first = await claim(store, epoch, 3)
      const second = await claim(store, epoch, 3)
      assert.deepEqual(
        [...first, ...second].map(({ dispatch_id }) => dispatch_id),
        ['b', 'd', 'a', 'c'],
      )
      assert.deepEqual(await claim(store, epoch, 3), [])
    },
  },
  {
    name: 'E6: `only` claims only the named dispatches',
    async run(store) {
      const epoch = await join(store)
      await enqueue(store, dispatchOf('a'), dispatchOf('b'))
      const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: 5, now: NOW, only: ['b'] }])
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['b'],
      )
      assert.equal(await statusOf(store, 'a'), 'pending')
    },
  },
  {
    name: 'E6: `except` skips the named dispatches',
    async run(store) {
      const epoch = await join(store)
      await enqueue(store, dispatchOf('a'), dispatchOf('b'), dispatchOf('c'))
      const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: 5, now: NOW, except: ['b', 'x'] }])
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['a', 'c'],
      )
      assert.equal(await statusOf(store, 'b'), 'pending')
    },
  },
  {
    name: 'enqueue: exactly once per (source, key), also inside one call',
    async run(store) {
      const [[first, twin]] = await commitOne(store, [
        { op: 'enqueue', now: NOW, dispatches: [dispatchOf('a', { key: 'k' }), dispatchOf('b', { key: 'k' })] },
      ])
      const [[again]] = await commitOne(store, [
        { op: 'enqueue', now: NOW, dispatches: [dispatchOf('c', { key: 'k' })] },
      ])
      const [[other]] = await commitOne(store, [
        { op: 'enqueue', now: NOW, dispatches: [dispatchOf('d', { key: 'k', source: 'elsewhere' })] },
      ])
      assert.deepEqual(
        [first?.duplicate, twin?.duplicate, again?.duplicate, other?.duplicate],
        [false, true, true, false],
      )
      assert.deepEqual([first?.dispatch_id, twin?.dispatch_id, again?.dispatch_id], ['a', 'a', 'a'])
      assert.equal((await store.dispatches({ limit: 10 })).length, 2)
    },
  },
  {
    name: 'E6: enqueue adds all dispatches or none',
    async run(store) {
      await enqueue(store, dispatchOf('a', { session_id: 'busy' }))
      await refused(
        'conflict',
        commitOne(store, [
          { op: 'enqueue', now: NOW, dispatches: [dispatchOf('b'), dispatchOf('c', { session_id: 'busy' })] },
        ]),
      )
      assert.equal(await store.dispatch('b'), undefined)
      assert.equal(await store.session('session-b'), undefined)
    },
  },
  {
    name: 'a dispatch with a later start waits and becomes pending when it is due',
    async run(store) {
      const epoch = await join(store)
      await enqueue(store, dispatchOf('later', { at: NOW + 1000 }))
      assert.equal(await statusOf(store, 'later'), 'waiting')
      assert.equal(await store.nextTimer(), NOW + 1000)
      await commitOne(store, [{ op: 'promote', now: NOW + 999 }])
      assert.deepEqual(await claim(store, epoch), [])
      await commitOne(store, [{ op: 'promote', now: NOW + 1000 }])
      assert.equal((await claim(store, epoch)).length, 1)
      assert.equal(await store.nextTimer(), undefined)
      assert.deepEqual(await store.inbox('session-later'), [], 'a start is not an observation')
    },
  },
  {
    name: 'settle: status and reason are stored, and the fence ends',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(store, [settleAs('failed')], fence)
      const dispatch = await store.dispatch('one')
      assert.deepEqual(
        [dispatch?.status, dispatch?.error, dispatch?.failure_class, dispatch?.lease_owner],
        ['failed', 'broken', 'infra', null],
      )
      await refused('store_fenced', commitOne(store, [settleAs('done')], fence))
    },
  },
  {
    name: 'case 52: a cancel request is stored, can only become stronger, and wakes a parked dispatch',
    async run(store) {
      const { epoch, fence } = await running(store)
      const cancelWith = async (how: 'after_step' | 'immediate') => {
        const [members] = await commitOne(store, [{ op: 'cancel', dispatch_id: 'one', how, now: NOW }])
        return [members, (await store.dispatch('one'))?.cancel]
      }
      const members = [{ dispatch_id: 'one', status: 'running' }]
      assert.deepEqual(await cancelWith('after_step'), [members, 'after_step'])
      assert.deepEqual(await cancelWith('immediate'), [members, 'immediate'])
      assert.deepEqual(await cancelWith('after_step'), [members, 'immediate'])
      await commitOne(store, [{ op: 'park', wait: forMessage, now: NOW }], fence)
      assert.equal(await statusOf(store, 'one'), 'pending')
      const [again] = await claim(store, epoch)
      assert.equal(again?.dispatch_id, 'one')
    },
  },
  {
    name: 'case 53: cancel ends an unclaimed dispatch at once, wakes a waiting one, and ignores an ended one',
    async run(store) {
      const { epoch, fence } = await running(store, 'over')
      await enqueue(store, dispatchOf('waits'), dispatchOf('new'))
      const [waits] = await claim(store, epoch)
      await commitOne(store, [{ op: 'park', wait: forMessage, now: NOW }], waits)
      await commitOne(store, [settleAs('done')], fence)
      for (const dispatch_id of ['over', 'waits', 'new'])
        await commitOne(store, [{ op: 'cancel', dispatch_id, how: 'immediate', now: NOW }])
      const statuses = ['over', 'waits', 'new'].map((id) => statusOf(store, id))
      assert.deepEqual(await Promise.all(statuses), ['done', 'pending', 'cancelled'])
      await enqueue(store, dispatchOf('unwanted'))
      const reason = 'not needed'
      await commitOne(store, [{ op: 'cancel', dispatch_id: 'unwanted', how: 'immediate', now: NOW, reason }])
      assert.equal((await store.dispatch('unwanted'))?.error, reason)
      await refused('not_found', commitOne(store, [{ op: 'cancel', dispatch_id: 'x', how: 'immediate', now: NOW }]))
    },
  },
  {
    name: 'case 56: children of a paused dispatch start paused and resume with it',
    async run(store) {
      const { epoch, fence } = await running(store)
      const pause = (paused: boolean) => commitOne(store, [{ op: 'pause', dispatch_id: 'one', paused, now: NOW }])
      await pause(true)
      await enqueue(store, dispatchOf('child', { parent_id: 'one' }), dispatchOf('alone'))
      await enqueue(store, dispatchOf('grandchild', { parent_id: 'child' }))
      await commitOne(store, [{ op: 'release', now: NOW }], fence)
      const claimed = async () => (await claim(store, epoch, 9)).map(({ dispatch_id }) => dispatch_id)
      assert.deepEqual(await claimed(), ['alone'])
      await pause(false)
      assert.deepEqual(await claimed(), ['one', 'child', 'grandchild'])
      await enqueue(store, dispatchOf('later', { parent_id: 'one' }))
      assert.deepEqual(await claimed(), ['later'])
    },
  },
  {
    name: 'case 56: a paused dispatch and its descendants are not claimed until resumed',
    async run(store) {
      const epoch = await join(store)
      await enqueue(store, dispatchOf('one'))
      await enqueue(store, dispatchOf('child', { parent_id: 'one' }))
      await enqueue(store, dispatchOf('grandchild', { parent_id: 'child' }))
      const pause = async (dispatch_id: string, paused: boolean) => {
        const [members] = await commitOne(store, [{ op: 'pause', dispatch_id, paused, now: NOW }])
        return members.map((member) => member.dispatch_id)
      }
      assert.deepEqual(await pause('one', true), ['one', 'child', 'grandchild'])
      assert.deepEqual(await claim(store, epoch, 9), [])
      const [byName] = await commitOne(store, [{ op: 'claim', epoch, limit: 9, only: ['one', 'child'], now: NOW }])
      assert.deepEqual(byName, [])
      assert.deepEqual(await pause('child', false), ['child', 'grandchild'])
      const claimed = await claim(store, epoch, 9)
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['child', 'grandchild'],
      )
    },
  },
  {
    name: 'counts and session statuses follow the queue',
    async run(store) {
      const { epoch, fence } = await running(store)
      await enqueue(store, dispatchOf('two'), dispatchOf('three', { at: NOW + 9999 }))
      const sessions = async () =>
        Object.fromEntries((await store.sessions({ limit: 9 })).map((session) => [session.session_id, session.status]))
      assert.deepEqual(await sessions(), {
        'session-one': 'active',
        'session-two': 'active',
        'session-three': 'waiting',
      })
      await commitOne(store, [settleAs('done')], fence)
      await claim(store, epoch)
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
      const { fence } = await running(store, 'a')
      const retry = (dispatch_id = 'a') => commitOne(store, [{ op: 'retry', dispatch_id, now: NOW }])
      await refused('conflict', retry())
      await commitOne(store, [settleAs('failed')], fence)
      await retry()
      const { status, error, failure_class, crashes } = (await store.dispatch('a')) ?? {}
      assert.deepEqual([status, error, failure_class, crashes], ['pending', null, null, 0])
      await refused('conflict', retry())
      await refused('not_found', retry('x'))
    },
  },
  {
    name: 'E6: a retry is refused while another dispatch of the session is in flight',
    async run(store) {
      const { fence } = await running(store, 'a')
      await commitOne(store, [settleAs('failed')], fence)
      const observation = { id: 'm', type: 'user_message', text: 'and now?', ts: NOW } as const
      await commitOne(store, [{ op: 'publish', session_id: 'session-a', observation, successor_id: 'b', now: NOW }])
      await refused('conflict', commitOne(store, [{ op: 'retry', dispatch_id: 'a', now: NOW }]))
      assert.deepEqual([await statusOf(store, 'a'), await statusOf(store, 'b')], ['failed', 'pending'])
    },
  },
  {
    name: 'case 52: a cancel makes a paused, started dispatch claimable, so that it can end',
    async run(store) {
      const { epoch, fence } = await running(store)
      await commitOne(store, [{ op: 'pause', dispatch_id: 'one', paused: true, now: NOW }])
      await commitOne(store, [{ op: 'release', now: NOW }], fence)
      assert.deepEqual(await claim(store, epoch), [])
      await commitOne(store, [{ op: 'cancel', dispatch_id: 'one', how: 'after_step', now: NOW }])
      assert.equal((await claim(store, epoch)).length, 1)
    },
  },
  {
    name: 'an archived session is kept but not listed; archive needs an idle session; a message undoes it',
    async run(store) {
      const { fence } = await running(store, 'a')
      const { session_id } = (await store.dispatch('a')) ?? { session_id: '' }
      const archive = (archived: boolean) => commitOne(store, [{ op: 'archive', session_id, archived, now: NOW }])
      const listed = async () => (await store.sessions({ limit: 10 })).length
      await refused('conflict', archive(true))
      await commitOne(store, [settleAs('done')], fence)
      await archive(true)
      assert.deepEqual([await listed(), (await store.session(session_id))?.status], [0, 'archived'])
      assert.equal((await store.sessions({ limit: 10, archived: true })).length, 1)
      await archive(false)
      assert.equal(await listed(), 1)
      await archive(true)
      const observation = { id: 'm', type: 'user_message', text: 'still there?', ts: NOW } as const
      await commitOne(store, [{ op: 'publish', session_id, observation, successor_id: 'b', now: NOW }])
      assert.deepEqual([await listed(), await statusOf(store, 'b')], [1, 'pending'])
    },
  },
]
