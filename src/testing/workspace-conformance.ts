/** Store conformance: one run per workspace. */

import assert from 'node:assert/strict'
import { commitOne, type Store } from '../ports/store.ts'
import {
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  readStatus,
  settleOp,
  TEST_LEASE_MS,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from './store-test-helpers.ts'

const shared = (id: string, priority = 0) => newTestDispatch(id, { workspace: '/shared', priority })

async function claimIds(store: Store, epoch: number): Promise<readonly string[]> {
  return (await claimInStore(store, epoch, 9)).map(({ dispatch_id }) => dispatch_id)
}

export const workspaceConformance: readonly ConformanceCase[] = [
  {
    name: 'case 74: of two sessions in one workspace only one is running; the other follows when it ends',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, shared('a'), shared('b'), newTestDispatch('elsewhere'))
      const [holder, ...others] = await claimInStore(store, epoch, 9)
      assert.deepEqual([holder?.dispatch_id, others.map(({ dispatch_id }) => dispatch_id)], ['a', ['elsewhere']])
      assert.deepEqual(await claimIds(store, epoch), [])
      const [byName] = await commitOne(store, [{ op: 'claim', epoch, limit: 9, only: ['b'], now: TEST_NOW }])
      assert.deepEqual(byName, [])
      assert.ok(holder)
      await commitOne(store, [settleOp('done')], holder)
      assert.deepEqual(await claimIds(store, epoch), ['b'])
    },
  },
  {
    name: 'case 74: a session that waits for input leaves the workspace to others, and takes its turn afterwards',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, shared('a'), shared('b'))
      const [first] = await claimInStore(store, epoch, 9)
      await commitOne(store, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], first)
      const [second] = await claimInStore(store, epoch, 9)
      assert.equal(second?.dispatch_id, 'b')
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 10_000 }])
      assert.equal(await readStatus(store, 'a'), 'pending')
      assert.deepEqual(await claimIds(store, epoch), [])
      await commitOne(store, [{ op: 'release', now: TEST_NOW }], second)
      assert.deepEqual(await claimIds(store, epoch), ['a'])
    },
  },
  {
    name: 'case 74: a crash of the holder releases the workspace, and a holder that keeps crashing starves no other',
    async run(store) {
      await enqueueInStore(store, shared('a'), shared('b'))
      const claimed: string[] = []
      for (let crash = 0; crash < 4; crash += 1) {
        const epoch = await joinTestWorker(store, true, TEST_NOW + TEST_LEASE_MS)
        await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
        claimed.push(...(await claimIds(store, epoch)))
      }
      assert.deepEqual(claimed, ['a', 'a', 'a', 'b'])
      assert.equal(await readStatus(store, 'a'), 'dead')
    },
  },
  {
    name: 'case 74: a dispatch that waits for its workspace keeps its place before later ones of the same priority',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, shared('a'), shared('b'), shared('c'), shared('d', 5))
      const order: string[] = []
      for (;;) {
        const [fence, ...more] = await claimInStore(store, epoch, 9)
        if (!fence) break
        assert.deepEqual(more, [])
        order.push(fence.dispatch_id)
        await commitOne(store, [settleOp('done', `after-${fence.dispatch_id}`)], fence)
      }
      assert.deepEqual(order, ['d', 'a', 'b', 'c'])
    },
  },
]
