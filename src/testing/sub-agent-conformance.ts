/** Conformance cases for sub-agents: the result goes to the parent once, and the end of a parent ends its children. */

import assert from 'node:assert/strict'
import type { NewDispatch } from '../domain/dispatch.ts'
import type { Json } from '../domain/json.ts'
import { AGENT_RESULT } from '../domain/sub-agent.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne, type Fence, type Store } from '../ports/store.ts'
import {
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

const child = (id: string, parent_id = 'one'): NewDispatch =>
  newTestDispatch(id, { parent_id, metadata: { spawned_by: { run: parent_id, depth: 1, todo: 'T001' } } })

const WAIT_FOR_AGENT: Wait = {
  ...{ kind: 'observation', match: `event:${AGENT_RESULT}`, until: TEST_NOW + 5000, reason: 'agents' },
}

const REPORT = { cost_usd: 0.25, files: ['a.txt'], conflicts: [{ path: 'b.txt', kept_at: '.conflicts/c/b.txt' }] }

async function resultsIn(store: Store, session = 'session-one'): Promise<readonly Readonly<Record<string, Json>>[]> {
  const unread = await store.inbox(session)
  return unread.flatMap((observation) =>
    observation.type === 'system_event' && observation.name === AGENT_RESULT
      ? [{ ...(observation.payload as Readonly<Record<string, Json>>), quiet: observation.quiet ?? false }]
      : [],
  )
}

/** The parent `one` is parked; the child runs. */
async function startFamily(store: Store): Promise<{ readonly epoch: number; readonly fence: Fence }> {
  const { epoch, fence } = await startDispatch(store)
  await enqueueInStore(store, child('child'))
  await commitOne(store, [{ op: 'park', wait: WAIT_FOR_AGENT, now: TEST_NOW }], fence)
  const [claimed] = await claimInStore(store, epoch)
  assert.equal(claimed?.dispatch_id, 'child')
  return { epoch, fence: claimed as Fence }
}

export const subAgentConformance: readonly ConformanceCase[] = [
  {
    name: 'case 116: the commit that ends a sub-agent delivers its result, once, and wakes its parked parent',
    async run(store) {
      const { fence } = await startFamily(store)
      const label = { trust: 'untrusted', private: true } as const
      await commitOne(store, [{ ...settleOp('done'), report: { ...REPORT, label } }], fence)
      assert.equal(await readStatus(store, 'one'), 'pending')
      const [observation] = await store.inbox('session-one')
      assert.deepEqual(observation, {
        ...{ id: 'agent-result-child', type: 'system_event', name: AGENT_RESULT, ts: TEST_NOW, label },
        payload: {
          ...{ agent: 'agent', run: 'child', todo: 'T001', status: 'done', answer: 'answer' },
          ...{ ...REPORT, error: null },
        },
      })
    },
  },
  {
    name: 'case 116: a result that is already there keeps the parent from parking',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await enqueueInStore(store, child('child'))
      const [running] = await claimInStore(store, epoch)
      await commitOne(store, [settleOp('failed')], running)
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait: WAIT_FOR_AGENT, now: TEST_NOW }], fence)
      assert.equal(parked, false)
      assert.deepEqual(
        (await resultsIn(store)).map(({ run, status, error, cost_usd }) => [run, status, error, cost_usd]),
        [['child', 'failed', 'broken', null]],
      )
    },
  },
  {
    name: 'case 116: a child that is cancelled before it began delivers in that commit; a retried one delivers once',
    async run(store) {
      const { epoch } = await startDispatch(store)
      await enqueueInStore(store, child('early'), child('failing'))
      const cancel = { op: 'cancel', dispatch_id: 'early', how: 'immediate', reason: 'no need', now: TEST_NOW } as const
      await commitOne(store, [cancel])
      for (const _ of [1, 2]) {
        const [fence] = await claimInStore(store, epoch)
        await commitOne(store, [settleOp('failed')], fence)
        await commitOne(store, [{ op: 'retry', dispatch_id: 'failing', now: TEST_NOW }])
      }
      assert.deepEqual(
        (await resultsIn(store)).map(({ run, status, error, cost_usd }) => [run, status, error, cost_usd]),
        [
          ['early', 'cancelled', 'no need', 0],
          ['failing', 'failed', 'broken', null],
        ],
      )
    },
  },
  {
    name: 'case 116: the deadline of a wait for sub-agents wakes the parent and cancels none of them',
    async run(store) {
      await startFamily(store)
      await commitOne(store, [{ op: 'promote', now: WAIT_FOR_AGENT.until ?? TEST_NOW }])
      assert.equal(await readStatus(store, 'one'), 'pending')
      const { status, cancel } = (await store.dispatch('child')) ?? {}
      assert.deepEqual([status, cancel], ['running', null])
      assert.deepEqual(await resultsIn(store), [])
    },
  },
  {
    name: 'case 117: a sub-agent that is dead after crashes delivers in that commit; its parent goes on',
    async run(store) {
      await startFamily(store)
      for (const crash of [1, 2, 3]) {
        const epoch = await joinTestWorker(store)
        const [{ dead }] = await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
        assert.deepEqual(dead, crash === 3 ? ['child'] : [])
        if (crash < 3) await claimInStore(store, epoch)
      }
      assert.equal(await readStatus(store, 'one'), 'pending')
      const [{ status, error } = {}] = await resultsIn(store)
      assert.equal(status, 'dead')
      assert.match(String(error), /died 3 times/)
    },
  },
  {
    name: 'case 117: the end of a parent cancels its sub-agents in the same commit; their results are late and quiet',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await enqueueInStore(store, child('running'))
      const [running] = await claimInStore(store, epoch)
      await enqueueInStore(store, child('pending'), child('below', 'running'))
      await enqueueInStore(store, newTestDispatch('by-hand', { parent_id: 'one' }))
      const [{ successor }] = await commitOne(store, [settleOp('done')], fence)
      assert.equal(successor, null)
      assert.equal((await store.dispatch('running'))?.cancel, 'immediate')
      for (const id of ['pending', 'below']) assert.equal(await readStatus(store, id), 'cancelled')
      assert.equal(await readStatus(store, 'by-hand'), 'pending')
      await commitOne(store, [{ ...settleOp('done'), status: 'cancelled', result: null }], running)
      assert.deepEqual(
        (await resultsIn(store)).map(({ run, late, quiet }) => [run, late, quiet]),
        [
          ['pending', true, true],
          ['running', true, true],
        ],
      )
      assert.equal(await readStatus(store, 'successor'), undefined)
    },
  },
  {
    name: 'case 117: the children of a dead run are cancelled; what they cost is there when it is tried again',
    async run(store) {
      const { epoch } = await startDispatch(store)
      await enqueueInStore(store, child('running'), child('pending'))
      const running = (await claimInStore(store, epoch, 1)).map(({ dispatch_id }) => dispatch_id)
      assert.deepEqual(running, ['running'])
      for (const crash of [1, 2, 3]) {
        const next = await joinTestWorker(store)
        await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
        if (crash < 3) await commitOne(store, [{ op: 'claim', epoch: next, limit: 1, only: ['one'], now: TEST_NOW }])
      }
      assert.equal(await readStatus(store, 'one'), 'dead')
      assert.equal(await readStatus(store, 'pending'), 'cancelled')
      const last = await joinTestWorker(store)
      const [again] = await claimInStore(store, last)
      assert.equal(again?.dispatch_id, 'running')
      assert.equal((await store.dispatch('running'))?.cancel, 'immediate')
      const report = { ...REPORT, label: { trust: 'trusted', private: false } } as const
      await commitOne(store, [{ ...settleOp('done'), status: 'cancelled', report }], again)
      await commitOne(store, [{ op: 'retry', dispatch_id: 'one', now: TEST_NOW }])
      assert.deepEqual(
        (await resultsIn(store)).map(({ run, status, cost_usd }) => [run, status, cost_usd]),
        [
          ['pending', 'cancelled', 0],
          ['running', 'cancelled', 0.25],
        ],
      )
    },
  },
  {
    name: 'an unread result starts no further run of the session; a claim by name includes sub-agents',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await enqueueInStore(store, child('child'), newTestDispatch('alone'))
      const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: 9, only: ['one'], now: TEST_NOW }])
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['child'],
      )
      const [ran] = claimed
      assert.ok(ran)
      await commitOne(store, [settleOp('done')], { dispatch_id: ran.dispatch_id, token: ran.token })
      const [{ successor }] = await commitOne(store, [settleOp('done')], fence)
      assert.equal(successor, null)
      assert.equal((await resultsIn(store)).length, 1)
      const children = await store.childrenOf('one')
      assert.deepEqual(
        children.map(({ dispatch_id, parent_id }) => [dispatch_id, parent_id]),
        [['child', 'one']],
      )
      assert.deepEqual(await store.childrenOf('child'), [])
    },
  },
]
