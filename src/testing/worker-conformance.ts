/** Store conformance: workers, leases and recovery. */

import assert from 'node:assert/strict'
import { commitOne, type Op } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestRecord,
  readStatus,
  startDispatch,
  TEST_LEASE_MS,
  TEST_NOW,
} from './store-test-helpers.ts'

export const workerConformance: readonly ConformanceCase[] = [
  {
    name: 'E6: a new worker of the same home recovers dispatches of a dead one at once',
    async run(store) {
      await startDispatch(store)
      await joinTestWorker(store, true)
      const [{ recovered }] = await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
      assert.deepEqual(recovered, ['one'])
      assert.equal(await readStatus(store, 'one'), 'pending')
    },
  },
  {
    name: 'E6: with several workers, one is dead only after its lease ends; a beat renews the lease',
    async run(store) {
      const { epoch } = await startDispatch(store)
      await joinTestWorker(store, false, TEST_NOW + 10 * TEST_LEASE_MS)
      const recover = async (now: number): Promise<number> =>
        (await commitOne(store, [{ op: 'recover', now }]))[0].recovered.length
      assert.equal(await recover(TEST_NOW + TEST_LEASE_MS - 1), 0)
      await commitOne(store, [{ op: 'beat', epoch, now: TEST_NOW, lease_until: TEST_NOW + 3 * TEST_LEASE_MS }])
      assert.equal(await recover(TEST_NOW + 2 * TEST_LEASE_MS), 0)
      assert.equal((await store.workers(TEST_NOW + 2 * TEST_LEASE_MS)).length, 2)
      assert.equal(await recover(TEST_NOW + 3 * TEST_LEASE_MS), 1)
      assert.equal((await store.workers(TEST_NOW + 3 * TEST_LEASE_MS)).length, 1)
      const [{ alive }] = await commitOne(store, [
        { op: 'beat', epoch, now: TEST_NOW, lease_until: TEST_NOW + 9 * TEST_LEASE_MS },
      ])
      assert.equal(alive, false)
      await assertRefusedWith('store_fenced', commitOne(store, [{ op: 'claim', epoch, limit: 1, now: TEST_NOW }]))
    },
  },
  {
    name: 'SIGTERM: a leaving worker releases its dispatches, which is no crash',
    async run(store) {
      const { epoch } = await startDispatch(store)
      for (let i = 0; i < 5; i++) {
        const [{ released }] = await commitOne(store, [{ op: 'leave', epoch: epoch + i, now: TEST_NOW }])
        assert.equal(released, 1)
        const next = await joinTestWorker(store)
        assert.equal(next, epoch + i + 1)
        await claimInStore(store, next)
      }
      assert.equal((await store.dispatch('one'))?.crashes, 0)
    },
  },
  {
    name: 'poison work: a dispatch is dead after 3 crashes in a row without a new record',
    async run(store) {
      await joinTestWorker(store)
      await enqueueInStore(store, newTestDispatch('one'))
      let seq = 0
      const crashOnce = async (leaveRecord: boolean): Promise<string | undefined> => {
        const epoch = await joinTestWorker(store)
        await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
        const [fence] = await claimInStore(store, epoch)
        if (fence && leaveRecord)
          await commitOne(store, [{ op: 'append', session_id: 'session-one', records: [newTestRecord(++seq)] }], fence)
        await joinTestWorker(store)
        await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
        return readStatus(store, 'one')
      }
      assert.equal(await crashOnce(false), 'pending')
      assert.equal(await crashOnce(false), 'pending')
      assert.equal(await crashOnce(true), 'pending')
      assert.equal(await crashOnce(false), 'pending')
      assert.equal(await crashOnce(false), 'pending')
      assert.equal(await crashOnce(false), 'dead')
      assert.equal((await store.dispatch('one'))?.failure_class, 'infra')
    },
  },
  {
    name: 'poison work: a new record resets the crash count, also with a release in between',
    async run(store) {
      const { fence } = await startDispatch(store)
      const recover = async (): Promise<void> => {
        await joinTestWorker(store)
        await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
      }
      const claimNow = async () => (await claimInStore(store, await joinTestWorker(store)))[0] ?? fence
      await recover()
      await claimNow()
      await recover()
      const third = await claimNow()
      const append: Op = { op: 'append', session_id: 'session-one', records: [newTestRecord(1)] }
      await commitOne(store, [append, { op: 'release', now: TEST_NOW }], third)
      await claimNow()
      await recover()
      assert.equal(await readStatus(store, 'one'), 'pending')
      assert.equal((await store.dispatch('one'))?.crashes, 1)
    },
  },
  {
    name: 'I4: a dead dispatch records its interrupted calls as unknown outcomes',
    async run(store) {
      const { fence } = await startDispatch(store)
      const call = { id: 'c', tool: 'pay', args: { amount: 1 } }
      const intendedCall = (index: number, reach: 'third_party' | 'workspace') =>
        newTestRecord(index + 2, {
          ...{ kind: 'call_intended', turn: 1, index, attempt: 1, call },
          effect: { recovery: 'once', reach },
        })
      const records = [newTestRecord(1), intendedCall(0, 'third_party'), intendedCall(1, 'workspace')]
      await commitOne(store, [{ op: 'append', session_id: 'session-one', records }], fence)
      for (let i = 0; i < 4; i++) {
        const epoch = await joinTestWorker(store)
        await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
        await claimInStore(store, epoch)
      }
      assert.equal(await readStatus(store, 'one'), 'dead')
      assert.deepEqual(
        (await store.unknowns({})).map(({ id, status, tool }) => ({ id, status, tool })),
        [
          { id: 'session-one.1.0', status: 'open', tool: 'pay' },
          { id: 'session-one.1.1', status: 'told_model', tool: 'pay' },
        ],
      )
    },
  },
]
