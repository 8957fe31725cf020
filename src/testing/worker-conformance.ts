/** Store conformance: workers, leases and recovery. */

import assert from 'node:assert/strict'
import { commitOne, type Op } from '../ports/store.ts'
import {
  type ConformanceCase,
  claim,
  dispatchOf,
  enqueue,
  join,
  LEASE,
  NOW,
  record,
  refused,
  running,
  statusOf,
} from './store-cases.ts'

export const workerConformance: readonly ConformanceCase[] = [
  {
    name: 'E6: a new worker of the same home recovers dispatches of a dead one at once',
    async run(store) {
      await running(store)
      await join(store, true)
      const [{ recovered }] = await commitOne(store, [{ op: 'recover', now: NOW }])
      assert.deepEqual(recovered, ['one'])
      assert.equal(await statusOf(store, 'one'), 'pending')
    },
  },
  {
    name: 'E6: with several workers, one is dead only after its lease ends; a beat renews the lease',
    async run(store) {
      const { epoch } = await running(store)
      await join(store, false, NOW + 10 * LEASE)
      const recover = async (now: number): Promise<number> =>
        (await commitOne(store, [{ op: 'recover', now }]))[0].recovered.length
      assert.equal(await recover(NOW + LEASE - 1), 0)
      await commitOne(store, [{ op: 'beat', epoch, lease_until: NOW + 3 * LEASE }])
      assert.equal(await recover(NOW + 2 * LEASE), 0)
      assert.equal((await store.workers(NOW + 2 * LEASE)).length, 2)
      assert.equal(await recover(NOW + 3 * LEASE), 1)
      assert.equal((await store.workers(NOW + 3 * LEASE)).length, 1)
      const [{ alive }] = await commitOne(store, [{ op: 'beat', epoch, lease_until: NOW + 9 * LEASE }])
      assert.equal(alive, false)
      await refused('store_fenced', commitOne(store, [{ op: 'claim', epoch, limit: 1, now: NOW }]))
    },
  },
  {
    name: 'SIGTERM: a leaving worker releases its dispatches, which is no crash',
    async run(store) {
      const { epoch } = await running(store)
      for (let i = 0; i < 5; i++) {
        const [{ released }] = await commitOne(store, [{ op: 'leave', epoch: epoch + i, now: NOW }])
        assert.equal(released, 1)
        const next = await join(store)
        assert.equal(next, epoch + i + 1)
        await claim(store, next)
      }
      assert.equal((await store.dispatch('one'))?.crashes, 0)
    },
  },
  {
    name: 'poison work: a dispatch is dead after 3 crashes in a row without a new record',
    async run(store) {
      await join(store)
      await enqueue(store, dispatchOf('one'))
      let seq = 0
      const crashOnce = async (leaveRecord: boolean): Promise<string | undefined> => {
        const epoch = await join(store)
        await commitOne(store, [{ op: 'recover', now: NOW }])
        const [fence] = await claim(store, epoch)
        if (fence && leaveRecord)
          await commitOne(store, [{ op: 'append', session_id: 'session-one', records: [record(++seq)] }], fence)
        await join(store)
        await commitOne(store, [{ op: 'recover', now: NOW }])
        return statusOf(store, 'one')
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
      const { fence } = await running(store)
      const recover = async (): Promise<void> => {
        await join(store)
        await commitOne(store, [{ op: 'recover', now: NOW }])
      }
      const claimNow = async () => (await claim(store, await join(store)))[0] ?? fence
      await recover()
      await claimNow()
      await recover()
      const third = await claimNow()
      const append: Op = { op: 'append', session_id: 'session-one', records: [record(1)] }
      await commitOne(store, [append, { op: 'release', now: NOW }], third)
      await claimNow()
      await recover()
      assert.equal(await statusOf(store, 'one'), 'pending')
      assert.equal((await store.dispatch('one'))?.crashes, 1)
    },
  },
  {
    name: 'I4: a dead dispatch records its interrupted calls as unknown outcomes',
    async run(store) {
      const { fence } = await running(store)
      const call = { id: 'c', tool: 'pay', args: { amount: 1 } }
      const intendedCall = (index: number, reach: 'third_party' | 'workspace') =>
        record(index + 2, {
          ...{ kind: 'call_intended', turn: 1, index, attempt: 1, call },
          effect: { recovery: 'once', reach },
        })
      const records = [record(1), intendedCall(0, 'third_party'), intendedCall(1, 'workspace')]
      await commitOne(store, [{ op: 'append', session_id: 'session-one', records }], fence)
      for (let i = 0; i < 4; i++) {
        const epoch = await join(store)
        await commitOne(store, [{ op: 'recover', now: NOW }])
        await claim(store, epoch)
      }
      assert.equal(await statusOf(store, 'one'), 'dead')
      assert.deepEqual(
        (await store.unknowns({})).map(({ id, status, tool }) => [id, status, tool]),
        [
          ['session-one.1.0', 'open', 'pay'],
          ['session-one.1.1', 'told_model', 'pay'],
        ],
      )
    },
  },
]
