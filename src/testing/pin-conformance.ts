/** Conformance of a store that several homes share: sessions run in the home that has their files. */

import assert from 'node:assert/strict'
import { commitOne, type Store } from '../ports/store.ts'
import {
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  newTestDispatch,
  newTestMessage,
  settleOp,
  TEST_LEASE_MS,
  TEST_NOW,
} from './store-test-helpers.ts'

/** A worker of a home, whose id and path follow from its name. */
async function joinHomeOf(store: Store, home: string): Promise<number> {
  const lease_until = TEST_NOW + 10 * TEST_LEASE_MS
  const about = { role: 'worker', host: `host-${home}`, home, root: `/homes/${home}` } as const
  const join = { op: 'join', name: `worker in ${home}`, now: TEST_NOW, lease_until, alone: false, about } as const
  return (await commitOne(store, [join]))[0].epoch
}

const pinnedTo = (home: string, id: string, priority = 0) =>
  newTestDispatch(id, { workspace: `/homes/${home}/code`, pin: { home, folder: null }, priority })
const unpinned = (id: string, folder = `workspaces/${id}`) =>
  newTestDispatch(id, { workspace: `/homes/maker/${folder}`, pin: { home: null, folder } })

const claimIds = async (store: Store, epoch: number, limit = 9): Promise<readonly string[]> =>
  (await claimInStore(store, epoch, limit)).map(({ dispatch_id }) => dispatch_id)

const GRACE = 60_000
/** The leases of the workers have not ended yet. */
const LATE = TEST_NOW + GRACE

const takeOver = async (store: Store, now: number) =>
  (await commitOne(store, [{ op: 'take_over', grace: GRACE, now }]))[0]

const placeOf = async (store: Store, id: string): Promise<unknown> => {
  const { home, workspace } = (await store.session(`session-${id}`)) ?? {}
  return { home, workspace }
}

export const pinConformance: readonly ConformanceCase[] = [
  {
    name: 'E15: a pinned session is claimed only by workers of its home, also after that home was started again',
    async run(store) {
      const [a, b] = [await joinHomeOf(store, 'a'), await joinHomeOf(store, 'b')]
      await enqueueInStore(store, pinnedTo('a', 'one'), newTestDispatch('anywhere'))
      assert.equal((await store.dispatch('one'))?.home, 'a')
      assert.equal((await store.dispatch('anywhere'))?.home, undefined)
      assert.deepEqual(await claimIds(store, b), ['anywhere'])
      const byName = { op: 'claim', epoch: b, limit: 9, only: ['one'], now: TEST_NOW } as const
      assert.deepEqual((await commitOne(store, [byName]))[0], [])
      assert.deepEqual(await claimIds(store, a), ['one'])
      await commitOne(store, [{ op: 'leave', epoch: a, now: TEST_NOW }])
      assert.deepEqual(await claimIds(store, b), [])
      assert.deepEqual(await claimIds(store, await joinHomeOf(store, 'a')), ['one'])
    },
  },
  {
    name: 'E15: a home that is started again goes on at once with the work of its process that died; others do not',
    async run(store) {
      const [a, b] = [await joinHomeOf(store, 'a'), await joinHomeOf(store, 'b')]
      await enqueueInStore(store, pinnedTo('a', 'one'), newTestDispatch('two'))
      assert.deepEqual([await claimIds(store, a, 1), await claimIds(store, b)], [['one'], ['two']])
      await commitOne(store, [{ op: 'lead', name: 'k', epoch: a, now: TEST_NOW }])
      const again = await joinHomeOf(store, 'a')
      const [recovered, led] = await commitOne(store, [
        { op: 'recover', now: TEST_NOW },
        { op: 'lead', name: 'k', epoch: again, now: TEST_NOW },
      ])
      assert.deepEqual(recovered, { lost: 1, recovered: ['one'], dead: [] })
      assert.equal(led.leading, true)
      assert.deepEqual(await claimIds(store, again), ['one'])
      const elsewhere = { role: 'worker', host: 'another', home: 'b', root: '/homes/b' } as const
      const join = { op: 'join', name: 'a copy', now: TEST_NOW, lease_until: TEST_NOW + 1, alone: false } as const
      await commitOne(store, [{ ...join, about: elsewhere }])
      assert.deepEqual((await commitOne(store, [{ op: 'recover', now: TEST_NOW }]))[0].recovered, [])
    },
  },
  {
    name: 'E15: a session without files is pinned by the first claim, and its workspace is below that home',
    async run(store) {
      const [a, b] = [await joinHomeOf(store, 'a'), await joinHomeOf(store, 'b')]
      await enqueueInStore(store, unpinned('one'))
      const [fence] = await claimInStore(store, b)
      assert.equal((await store.dispatch('one'))?.home, 'b')
      assert.deepEqual(await placeOf(store, 'one'), { home: 'b', workspace: '/homes/b/workspaces/one' })
      await commitOne(store, [{ op: 'release', now: TEST_NOW }], fence)
      assert.deepEqual(await claimIds(store, a), [])
      assert.deepEqual(await claimIds(store, b), ['one'])
    },
  },
  {
    name: 'E15: later runs of a session stay in the home of the first',
    async run(store) {
      const [a, b] = [await joinHomeOf(store, 'a'), await joinHomeOf(store, 'b')]
      await enqueueInStore(store, unpinned('one'))
      const [first] = await claimInStore(store, b)
      await commitOne(store, [settleOp('done')], first)
      const [observation, session_id] = [newTestMessage('m'), 'session-one']
      await commitOne(store, [{ op: 'publish', session_id, observation, successor_id: 'second', now: TEST_NOW }])
      assert.deepEqual(await claimIds(store, a), [])
      const [second] = await claimInStore(store, b)
      assert.equal(second?.dispatch_id, 'second')
      await commitOne(store, [settleOp('done', 'third')], second)
      assert.deepEqual(await claimIds(store, a), [])
      assert.deepEqual(await claimIds(store, b), ['third'])
    },
  },
  {
    name: 'E15: sessions in one folder of a home follow the one that was there first',
    async run(store) {
      const [a, b] = [await joinHomeOf(store, 'a'), await joinHomeOf(store, 'b')]
      await enqueueInStore(store, unpinned('one', 'workspaces/notes'), unpinned('two', 'workspaces/notes'))
      const [first] = await claimInStore(store, b)
      assert.equal(first?.dispatch_id, 'one')
      const pin = { home: 'a', folder: 'workspaces/notes' }
      await enqueueInStore(store, newTestDispatch('three', { workspace: '/homes/a/workspaces/notes', pin }))
      assert.deepEqual(await claimIds(store, a), [])
      const notes = { home: 'b', workspace: '/homes/b/workspaces/notes' }
      assert.deepEqual([await placeOf(store, 'two'), await placeOf(store, 'three')], [notes, notes])
      assert.deepEqual(await claimIds(store, b), [], 'one run at a time in the folder')
      await commitOne(store, [settleOp('done')], first)
      assert.deepEqual(await claimIds(store, b), ['two'])
    },
  },
  {
    name: 'E15: the same path in two homes is two folders; dispatches of no home keep their place among the others',
    async run(store) {
      const [a, b] = [await joinHomeOf(store, 'a'), await joinHomeOf(store, 'b')]
      const code = (home: string) => newTestDispatch(home, { workspace: '/code', pin: { home, folder: null } })
      await enqueueInStore(store, code('a'), code('b'))
      assert.deepEqual([await claimIds(store, a), await claimIds(store, b)], [['a'], ['b']])
      await enqueueInStore(store, pinnedTo('a', 'low', 1), newTestDispatch('high', { priority: 2 }))
      await enqueueInStore(store, newTestDispatch('lower'), { ...pinnedTo('b', 'other', 3), workspace: '/other' })
      assert.deepEqual(await claimIds(store, a, 2), ['high', 'low'])
      assert.deepEqual(await claimIds(store, a, 2), ['lower'])
    },
  },
  {
    name: 'E15: after the grace, work of a home without a worker goes on elsewhere, and the session is told',
    async run(store) {
      const [a, b] = [await joinHomeOf(store, 'a'), await joinHomeOf(store, 'b')]
      await enqueueInStore(store, unpinned('one'))
      const [fence] = await claimInStore(store, a)
      await commitOne(store, [{ op: 'release', now: TEST_NOW }], fence)
      assert.deepEqual(await takeOver(store, LATE), [], 'its worker lives')
      await commitOne(store, [{ op: 'leave', epoch: a, now: TEST_NOW }])
      assert.deepEqual(await takeOver(store, TEST_NOW + GRACE - 1), [])
      assert.deepEqual(await claimIds(store, b), [])
      const [taken] = await takeOver(store, LATE)
      const { home, ...of } = taken ?? {}
      assert.deepEqual(of, {
        ...{ dispatch_id: 'one', session_id: 'session-one', workspace: '/homes/a/workspaces/one', became: 'moved' },
      })
      const seen = { home: 'a', host: 'host-a', last_seen: new Date(TEST_NOW).toISOString(), is_alive: false }
      assert.deepEqual(home, seen)
      const [told] = await store.inbox('session-one')
      assert.match(JSON.stringify(told), /workspace_moved.*host-a.*\/homes\/a\/workspaces\/one/)
      assert.deepEqual(await claimIds(store, b), ['one'])
      assert.deepEqual(await placeOf(store, 'one'), { home: 'b', workspace: '/homes/b/workspaces/one' })
      await commitOne(store, [{ op: 'leave', epoch: b, now: TEST_NOW }])
      assert.deepEqual(await claimIds(store, await joinHomeOf(store, 'a')), [], 'it does not go back')
    },
  },
  {
    name: 'E15: work that has just come for a home that was lost long ago waits for the grace, too',
    async run(store) {
      const a = await joinHomeOf(store, 'a')
      await commitOne(store, [{ op: 'leave', epoch: a, now: TEST_NOW }])
      const pin = { home: 'a', folder: 'workspaces/one' }
      const late = newTestDispatch('one', { workspace: '/homes/a/workspaces/one', pin })
      await commitOne(store, [{ op: 'enqueue', dispatches: [late], now: LATE }])
      assert.deepEqual(await takeOver(store, LATE + GRACE - 1), [])
      const taken = await takeOver(store, LATE + GRACE)
      assert.deepEqual(
        taken.map(({ became }) => became),
        ['moved'],
      )
    },
  },
  {
    name: 'E15: old work waits for the grace after its worker was seen last, and is not taken from a living one',
    async run(store) {
      const a = await joinHomeOf(store, 'a')
      const pin = { home: 'a', folder: 'workspaces/one' }
      await enqueueInStore(store, newTestDispatch('one', { workspace: '/homes/a/workspaces/one', pin }))
      const [taken] = await commitOne(store, [{ op: 'take_over', grace: 0, now: LATE }])
      assert.deepEqual(taken, [])
      await commitOne(store, [{ op: 'leave', epoch: a, now: LATE }])
      assert.deepEqual(await takeOver(store, LATE + GRACE - 1), [])
      assert.equal((await takeOver(store, LATE + GRACE)).length, 1)
    },
  },
  {
    name: 'E15: work in a folder outside of a home waits for it; a sub-agent of a lost home is cancelled',
    async run(store) {
      const b = await joinHomeOf(store, 'b')
      const pin = { home: 'a', folder: 'workspaces/.sub-agents/child' }
      const metadata = { spawned_by: { run: 'parent', depth: 1, agents: [], tools: [], read_only: false } }
      await enqueueInStore(store, pinnedTo('a', 'named'), newTestDispatch('parent', { workspace: '/p' }))
      await claimInStore(store, b)
      await enqueueInStore(store, newTestDispatch('child', { parent_id: 'parent', pin, metadata }))
      const became = (await takeOver(store, LATE)).map(({ dispatch_id, became: what }) => [dispatch_id, what])
      assert.deepEqual(became, [
        ['named', 'waits'],
        ['child', 'cancelled'],
      ])
      assert.match(String((await store.dispatch('child'))?.error), /its files are on/)
      assert.match(JSON.stringify(await store.inbox('session-parent')), /agent_result.*child/)
      assert.equal((await store.dispatch('named'))?.status, 'pending')
      const [seen] = await store.homes(['a'], LATE)
      assert.deepEqual([seen?.home, seen?.is_alive], ['a', false])
    },
  },
  {
    name: 'E15: a run that waits for a lost home can be cancelled',
    async run(store) {
      const a = await joinHomeOf(store, 'a')
      await enqueueInStore(store, pinnedTo('a', 'one'))
      await claimInStore(store, a)
      await commitOne(store, [{ op: 'leave', epoch: a, now: TEST_NOW }])
      await commitOne(store, [{ op: 'cancel', dispatch_id: 'one', how: 'immediate', now: TEST_NOW }])
      assert.equal((await store.dispatch('one'))?.status, 'cancelled')
    },
  },
  {
    name: 'E15: sessions below a home that were stored without one belong to it when it joins',
    async run(store) {
      const b = await joinHomeOf(store, 'b')
      await enqueueInStore(store, newTestDispatch('one', { workspace: '/homes/a/workspaces/one' }))
      await enqueueInStore(store, newTestDispatch('two', { workspace: '/homes/another/workspaces/two' }))
      const a = await joinHomeOf(store, 'a')
      assert.equal((await store.dispatch('one'))?.home, 'a')
      assert.deepEqual([await claimIds(store, b), await claimIds(store, a)], [['two'], ['one']])
    },
  },
]
