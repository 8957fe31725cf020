/** Store conformance: one leader per name, and the fence of its writes. */

import assert from 'node:assert/strict'
import { commitOne, type LeaderFence, type Store } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  joinTestWorker,
  TEST_LEASE_MS,
  TEST_NOW,
} from './store-test-helpers.ts'

const askToLead = async (store: Store, epoch: number, now = TEST_NOW) =>
  (await commitOne(store, [{ op: 'lead', name: 'kernel', epoch, now }]))[0]

async function writeAsLeader(store: Store, leader: LeaderFence, value: string): Promise<void> {
  const [outcome] = await store.commit([{ leader, ops: [{ op: 'set', name: 'written', value }] }])
  assert.ok(outcome)
  if (!outcome.ok) throw Object.assign(new Error(outcome.message), { code: outcome.code })
}

export const leaderConformance: readonly ConformanceCase[] = [
  {
    name: 'E15: one worker leads; another takes over when its lease has ended, with a higher token',
    async run(store) {
      const first = await joinTestWorker(store, false)
      const second = await joinTestWorker(store, false, TEST_NOW + 10 * TEST_LEASE_MS)
      assert.equal(await store.leader('kernel'), undefined)
      assert.deepEqual(await askToLead(store, first), { leading: true, epoch: first, token: 1 })
      assert.deepEqual(await askToLead(store, second), { leading: false, epoch: first, token: 1 })
      assert.deepEqual(await askToLead(store, first), { leading: true, epoch: first, token: 1 })
      assert.equal((await askToLead(store, second, TEST_NOW + TEST_LEASE_MS - 1)).leading, false)
      const taken = { leading: true, epoch: second, token: 2 }
      assert.deepEqual(await askToLead(store, second, TEST_NOW + TEST_LEASE_MS), taken)
      assert.deepEqual(await store.leader('kernel'), { epoch: second, token: 2 })
      assert.equal((await askToLead(store, first, TEST_NOW + TEST_LEASE_MS)).leading, false)
    },
  },
  {
    name: 'E15: a leader that leaves makes room at once; one that has ended cannot lead',
    async run(store) {
      const first = await joinTestWorker(store, false)
      const second = await joinTestWorker(store, false)
      await askToLead(store, first)
      await commitOne(store, [{ op: 'leave', epoch: first, now: TEST_NOW }])
      assert.equal((await askToLead(store, second)).leading, true)
      await assertRefusedWith('store_fenced', askToLead(store, first))
    },
  },
  {
    name: 'E15: a leader that gives the lead up makes room at once, and can write as the leader no more',
    async run(store) {
      const first = await joinTestWorker(store, false)
      const second = await joinTestWorker(store, false)
      const resign = async (epoch: number) =>
        (await commitOne(store, [{ op: 'lead', name: 'kernel', epoch, now: TEST_NOW, resign: true }]))[0]
      assert.equal((await resign(first)).leading, false)
      assert.equal(await store.leader('kernel'), undefined)
      await askToLead(store, first)
      assert.deepEqual(await resign(second), { leading: false, epoch: first, token: 1 })
      assert.deepEqual(await resign(first), { leading: false, epoch: 0, token: 2 })
      const late = writeAsLeader(store, { name: 'kernel', token: 1 }, 'late')
      await assert.rejects(late, { code: 'store_fenced' })
      assert.deepEqual(await askToLead(store, second), { leading: true, epoch: second, token: 3 })
      assert.equal((await askToLead(store, first)).leading, false)
    },
  },
  {
    name: 'E15: the store refuses what a leader of before writes, and of a worker that never led',
    async run(store) {
      const first = await joinTestWorker(store, false)
      const second = await joinTestWorker(store, false, TEST_NOW + 10 * TEST_LEASE_MS)
      const refused = (token: number) =>
        assert.rejects(writeAsLeader(store, { name: 'kernel', token }, 'late'), { code: 'store_fenced' })
      await refused(0)
      await askToLead(store, first)
      await writeAsLeader(store, { name: 'kernel', token: 1 }, 'first')
      await refused(0)
      await askToLead(store, second, TEST_NOW + TEST_LEASE_MS)
      await refused(1)
      assert.equal(await store.setting('written'), 'first')
      await writeAsLeader(store, { name: 'kernel', token: 2 }, 'second')
      assert.equal(await store.setting('written'), 'second')
    },
  },
]
