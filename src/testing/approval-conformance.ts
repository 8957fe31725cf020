/** Store conformance: approvals. */

import assert from 'node:assert/strict'
import type { Approval } from '../domain/approval.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  joinTestWorker,
  newTestApproval,
  newTestMessage,
  readStatus,
  settleOp,
  startDispatch,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from './store-test-helpers.ts'

const approval: Approval = newTestApproval('a1')

const allowOp = {
  op: 'answer',
  approval_id: 'a1',
  answer: 'allowed',
  reason: 'go',
  now: TEST_NOW,
} as const

/** Payloads of the events in the inbox of session-one. */
const listPayloads = async (store: Store): Promise<unknown[]> =>
  (await store.inbox('session-one')).map((observation) => observation.type === 'system_event' && observation.payload)

export const approvalConformance: readonly ConformanceCase[] = [
  {
    name: 'case 54: an approval is stored with its step, answered once, and the answer wakes the waiting run',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      const wait: Wait = { ...WAIT_FOR_MESSAGE, match: 'event:ready' }
      await assertRefusedWith('store_fenced', commitOne(store, [{ op: 'ask', approval }], { ...fence, token: 99 }))
      await commitOne(
        store,
        [
          { op: 'ask', approval },
          { op: 'ask', approval: { ...approval, args: { amount: 2 } } },
          { op: 'park', wait, now: TEST_NOW },
        ],
        fence,
      )
      assert.deepEqual(await store.approvals({ limit: 9 }), [approval])
      assert.deepEqual(await store.approvals({ limit: 9, session_id: 'elsewhere' }), [])
      assert.deepEqual(await store.approvals({ limit: 9, session_id: 'session-one', status: 'open' }), [approval])
      assert.deepEqual(await store.approvals({ limit: 9, status: 'denied' }), [])
      await assertRefusedWith('not_found', commitOne(store, [{ ...allowOp, approval_id: 'a9' }]))
      const [answered] = await commitOne(store, [allowOp])
      assert.deepEqual(
        { status: answered.approval.status, dispatch_id: answered.dispatch_id },
        { status: 'allowed', dispatch_id: 'one' },
      )
      assert.deepEqual(await store.approval('a1'), answered.approval)
      await assertRefusedWith('conflict', commitOne(store, [allowOp]))
      await assertRefusedWith('conflict', commitOne(store, [{ ...allowOp, answer: 'denied' }]))
      assert.equal(await readStatus(store, 'one'), 'pending')
      assert.deepEqual(await listPayloads(store), [{ id: 'a1', tool: 'pay', answer: 'allowed', reason: 'go' }])
      const [fresh] = await claimInStore(store, epoch)
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait, now: TEST_NOW }], fresh)
      assert.equal(parked, false, 'an earlier answer is not lost')
    },
  },
  {
    name: 'case 54: a refused batch does not answer an approval',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(store, [{ op: 'ask', approval }], fence)
      await assertRefusedWith(
        'not_found',
        commitOne(store, [allowOp, { op: 'cancel', dispatch_id: 'nobody', how: 'immediate', now: TEST_NOW }]),
      )
      assert.deepEqual(
        { approval: (await store.approval('a1'))?.status, payloads: await listPayloads(store) },
        { approval: 'open', payloads: [] },
      )
    },
  },
  ...(['done', 'failed'] as const).map(
    (status): ConformanceCase => ({
      name: `case 54: the end of a run (${status}) denies its open approvals without a new dispatch; allowed ones stay`,
      async run(store) {
        const { fence } = await startDispatch(store)
        const other = { ...approval, id: 'a2' }
        await commitOne(
          store,
          [
            { op: 'ask', approval },
            { op: 'ask', approval: other },
          ],
          fence,
        )
        await commitOne(store, [{ ...allowOp, approval_id: 'a2' }])
        const acknowledge: Op = {
          ...{ op: 'acknowledge', session_id: 'session-one', now: TEST_NOW },
          observation_ids: ['approval-a2'],
        }
        const [, { successor }] = await commitOne(store, [acknowledge, settleOp(status)] as const, fence)
        const reason = status === 'done' ? 'the run ended: done' : 'the run ended: infra'
        assert.equal(successor, null)
        assert.deepEqual(await store.approval('a1'), {
          ...approval,
          ...{ status: 'denied', answered_at: new Date(TEST_NOW).toISOString(), answer_reason: reason },
        })
        assert.equal((await store.approval('a2'))?.status, 'allowed')
        assert.deepEqual(await listPayloads(store), [{ id: 'a1', tool: 'pay', answer: 'denied', reason }])
        await assertRefusedWith('conflict', commitOne(store, [allowOp]))
        assert.equal((await store.dispatches({ limit: 9 })).length, 1)
      },
    }),
  ),
  {
    name: 'case 54: unread input at the end of a run creates a dispatch, which also gets the denials',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await commitOne(store, [{ op: 'ask', approval }], fence)
      const session_id = 'session-one'
      await commitOne(store, [
        { op: 'publish', session_id, observation: newTestMessage('m'), successor_id: 'unused', now: TEST_NOW },
      ])
      const [{ successor }] = await commitOne(store, [settleOp('done', 'next')] as const, fence)
      assert.deepEqual(
        { successor, status: (await store.approval('a1'))?.status },
        { successor: 'next', status: 'denied' },
      )
      assert.deepEqual(
        (await store.inbox(session_id)).map(({ id }) => id),
        ['m', 'approval-a1'],
      )
      assert.deepEqual(
        (await claimInStore(store, epoch)).map(({ dispatch_id }) => dispatch_id),
        ['next'],
      )
    },
  },
  {
    name: 'case 54: a dead run denies its open approvals; a parked or released run keeps them',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await commitOne(
        store,
        [
          { op: 'ask', approval },
          { op: 'release', now: TEST_NOW },
        ] as const,
        fence,
      )
      const status = async () => (await store.approval('a1'))?.status
      assert.equal(await status(), 'open')
      const [again] = await claimInStore(store, epoch)
      await commitOne(store, [{ op: 'park', wait: { ...WAIT_FOR_MESSAGE, until: TEST_NOW + 1 }, now: TEST_NOW }], again)
      assert.equal(await status(), 'open')
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 1 }])
      for (;;) {
        const newEpoch = await joinTestWorker(store)
        const [{ dead }] = await commitOne(store, [{ op: 'recover', now: TEST_NOW + 1 }])
        if (dead.length > 0) break
        assert.deepEqual(
          { status: await status(), payloadCount: (await listPayloads(store)).length },
          { status: 'open', payloadCount: 1 },
        )
        await claimInStore(store, newEpoch)
      }
      const { status: is, answer_reason } = (await store.approval('a1')) ?? {}
      assert.deepEqual({ status: is, answer_reason }, { status: 'denied', answer_reason: 'the run ended: dead' })
      assert.deepEqual((await listPayloads(store)).at(-1), {
        id: 'a1',
        tool: 'pay',
        answer: 'denied',
        reason: answer_reason,
      })
      assert.equal(await readStatus(store, 'one'), 'dead')
      await assertRefusedWith('conflict', commitOne(store, [allowOp]))
      assert.equal((await store.dispatches({ limit: 9 })).length, 1)
    },
  },
  {
    name: 'case 54: an approval expires once by time, and can be answered only before',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(
        store,
        [
          { op: 'ask', approval },
          { op: 'ask', approval: { ...approval, id: 'a2' } },
        ],
        fence,
      )
      assert.deepEqual([await store.nextTimer(), await store.nextExpiry()], [undefined, TEST_NOW + 1000])
      // The wall clock is ahead of what is borne out: nothing expires.
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 9_000_000, borne_out: TEST_NOW + 999 }])
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 999 }])
      await commitOne(store, [{ ...allowOp, approval_id: 'a2', now: TEST_NOW + 9_000_000, borne_out: TEST_NOW + 999 }])
      await assertRefusedWith('conflict', commitOne(store, [{ ...allowOp, now: TEST_NOW + 1000 }]))
      for (const now of [TEST_NOW + 1000, TEST_NOW + 2000]) await commitOne(store, [{ op: 'promote', now }])
      assert.deepEqual(
        (await store.approvals({ limit: 9 })).map(({ id, status }) => ({ id, status })),
        [
          { id: 'a2', status: 'allowed' },
          { id: 'a1', status: 'expired' },
        ],
      )
      assert.deepEqual((await listPayloads(store)).at(-1), { id: 'a1', tool: 'pay', answer: 'expired' })
      assert.deepEqual(
        { payloadCount: (await listPayloads(store)).length, nextExpiry: await store.nextExpiry() },
        { payloadCount: 2, nextExpiry: undefined },
      )
    },
  },
  {
    name: 'I8: an expired approval wakes a waiting run',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(
        store,
        [
          { op: 'ask', approval },
          { op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW },
        ],
        fence,
      )
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 1000 }])
      assert.equal(await readStatus(store, 'one'), 'pending')
      assert.deepEqual(await listPayloads(store), [{ id: 'a1', tool: 'pay', answer: 'expired' }])
    },
  },
  {
    name: 'case 53: a cancelled run denies its open approvals and allowed ones with an unread answer',
    async run(store) {
      const { fence } = await startDispatch(store)
      for (const id of ['open', 'unheard', 'heard'])
        await commitOne(store, [{ op: 'ask', approval: { ...approval, id } }], fence)
      for (const approval_id of ['unheard', 'heard']) await commitOne(store, [{ ...allowOp, approval_id }])
      const cancelled: Op = { ...settleOp('done'), status: 'cancelled' } as Op
      const acknowledge: Op = {
        op: 'acknowledge',
        session_id: 'session-one',
        observation_ids: ['approval-heard'],
        now: TEST_NOW,
      }
      await commitOne(store, [acknowledge, cancelled], fence)
      const statuses = ['open', 'unheard', 'heard'].map(async (id) => (await store.approval(id))?.status)
      assert.deepEqual(await Promise.all(statuses), ['denied', 'denied', 'allowed'])
      assert.equal((await store.dispatches({ limit: 9 })).length, 1)
    },
  },
  {
    name: 'case 53: cancelling an unclaimed dispatch denies an allowed approval that it has not read',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(store, [{ op: 'ask', approval }], fence)
      await commitOne(store, [allowOp])
      await commitOne(store, [settleOp('done', 'next')], fence)
      assert.deepEqual(
        { dispatch: await readStatus(store, 'next'), approval: (await store.approval('a1'))?.status },
        { dispatch: 'pending', approval: 'allowed' },
      )
      await commitOne(store, [{ op: 'cancel', dispatch_id: 'next', how: 'immediate', now: TEST_NOW }])
      assert.deepEqual(
        { dispatch: await readStatus(store, 'next'), approval: (await store.approval('a1'))?.status },
        { dispatch: 'cancelled', approval: 'denied' },
      )
    },
  },
]
