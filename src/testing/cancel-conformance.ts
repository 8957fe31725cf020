/** Store conformance: cancelling and pausing dispatches. */

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
  WAIT_FOR_MESSAGE,
} from './store-test-helpers.ts'

export const cancelConformance: readonly ConformanceCase[] = [
  {
    name: 'case 52: a cancel request is stored, can only become stronger, and wakes a parked dispatch',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      const cancelWith = async (how: 'after_step' | 'immediate') => {
        const [members] = await commitOne(store, [{ op: 'cancel', dispatch_id: 'one', how, now: TEST_NOW }])
        return [members, (await store.dispatch('one'))?.cancel]
      }
      const members = [{ dispatch_id: 'one', status: 'running' }]
      assert.deepEqual(await cancelWith('after_step'), [members, 'after_step'])
      assert.deepEqual(await cancelWith('immediate'), [members, 'immediate'])
      assert.deepEqual(await cancelWith('after_step'), [members, 'immediate'])
      await commitOne(store, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], fence)
      assert.equal(await readStatus(store, 'one'), 'pending')
      const [again] = await claimInStore(store, epoch)
      assert.equal(again?.dispatch_id, 'one')
    },
  },
  {
    name: 'case 53: cancel ends an unclaimed dispatch at once, wakes a waiting one, and ignores an ended one',
    async run(store) {
      const { epoch, fence } = await startDispatch(store, 'over')
      await enqueueInStore(store, newTestDispatch('waits'), newTestDispatch('new'))
      const [waits] = await claimInStore(store, epoch)
      await commitOne(store, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], waits)
      await commitOne(store, [settleOp('done')], fence)
      for (const dispatch_id of ['over', 'waits', 'new'])
        await commitOne(store, [{ op: 'cancel', dispatch_id, how: 'immediate', now: TEST_NOW }])
      const statuses = ['over', 'waits', 'new'].map((id) => readStatus(store, id))
      assert.deepEqual(await Promise.all(statuses), ['done', 'pending', 'cancelled'])
      await enqueueInStore(store, newTestDispatch('unwanted'))
      const reason = 'not needed'
      await commitOne(store, [{ op: 'cancel', dispatch_id: 'unwanted', how: 'immediate', now: TEST_NOW, reason }])
      assert.equal((await store.dispatch('unwanted'))?.error, reason)
      await assertRefusedWith(
        'not_found',
        commitOne(store, [{ op: 'cancel', dispatch_id: 'x', how: 'immediate', now: TEST_NOW }]),
      )
    },
  },
  {
    name: 'case 56: children of a paused dispatch start paused and resume with it',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      const pause = (paused: boolean) => commitOne(store, [{ op: 'pause', dispatch_id: 'one', paused, now: TEST_NOW }])
      await pause(true)
      await enqueueInStore(store, newTestDispatch('child', { parent_id: 'one' }), newTestDispatch('alone'))
      await enqueueInStore(store, newTestDispatch('grandchild', { parent_id: 'child' }))
      await commitOne(store, [{ op: 'release', now: TEST_NOW }], fence)
      const claimed = async () => (await claimInStore(store, epoch, 9)).map(({ dispatch_id }) => dispatch_id)
      assert.deepEqual(await claimed(), ['alone'])
      await pause(false)
      assert.deepEqual(await claimed(), ['one', 'child', 'grandchild'])
      await enqueueInStore(store, newTestDispatch('later', { parent_id: 'one' }))
      assert.deepEqual(await claimed(), ['later'])
    },
  },
  {
    name: 'case 56: a paused dispatch and its descendants are not claimed until resumed',
    async run(store) {
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, newTestDispatch('one'))
      await enqueueInStore(store, newTestDispatch('child', { parent_id: 'one' }))
      await enqueueInStore(store, newTestDispatch('grandchild', { parent_id: 'child' }))
      const pause = async (dispatch_id: string, paused: boolean) => {
        const [members] = await commitOne(store, [{ op: 'pause', dispatch_id, paused, now: TEST_NOW }])
        return members.map((member) => member.dispatch_id)
      }
      assert.deepEqual(await pause('one', true), ['one', 'child', 'grandchild'])
      assert.deepEqual(await claimInStore(store, epoch, 9), [])
      const [byName] = await commitOne(store, [{ op: 'claim', epoch, limit: 9, only: ['one', 'child'], now: TEST_NOW }])
      assert.deepEqual(byName, [])
      assert.deepEqual(await pause('child', false), ['child', 'grandchild'])
      const claimed = await claimInStore(store, epoch, 9)
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['child', 'grandchild'],
      )
    },
  },
  {
    name: 'case 52: a cancel makes a paused, started dispatch claimable, so that it can end',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await commitOne(store, [{ op: 'pause', dispatch_id: 'one', paused: true, now: TEST_NOW }])
      await commitOne(store, [{ op: 'release', now: TEST_NOW }], fence)
      assert.deepEqual(await claimInStore(store, epoch), [])
      await commitOne(store, [{ op: 'cancel', dispatch_id: 'one', how: 'after_step', now: TEST_NOW }])
      assert.equal((await claimInStore(store, epoch)).length, 1)
    },
  },
]
