/** Store conformance: approvals. */

import assert from 'node:assert/strict'
import type { Approval } from '../domain/approval.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import {
  approvalOf,
  type ConformanceCase,
  claim,
  forMessage,
  join,
  message,
  NOW,
  refused,
  running,
  settleAs,
  statusOf,
} from './store-cases.ts'

const approval: Approval = approvalOf('a1')

const allowOp = {
  op: 'answer',
  approval_id: 'a1',
  answer: 'allowed',
  reason: 'go',
  now: NOW,
} as const

/** Payloads of the events in the inbox of session-one. */
const listPayloads = async (store: Store): Promise<unknown[]> =>
  (await store.inbox('session-one')).map((observation) => observation.type === 'system_event' && observation.payload)

export const approvalConformance: readonly ConformanceCase[] = [
  {
    name: 'case 54: an approval is stored with its step, answered once, and the answer wakes the waiting run',
    async run(store) {
      const { epoch, fence } = await running(store)
      const wait: Wait = { ...forMessage, match: 'event:ready' }
      await refused('store_fenced', commitOne(store, [{ op: 'ask', approval }], { ...fence, token: 99 }))
      await commitOne(
        store,
        [
          { op: 'ask', approval },
          { op: 'ask', approval: { ...approval, args: { amount: 2 } } },
          { op: 'park', wait, now: NOW },
        ],
        fence,
      )
      assert.deepEqual(await store.approvals({ limit: 9 }), [approval])
      assert.deepEqual(await store.approvals({ limit: 9, session_id: 'elsewhere' }), [])
      assert.deepEqual(await store.approvals({ limit: 9, session_id: 'session-one', status: 'open' }), [approval])
      assert.deepEqual(await store.approvals({ limit: 9, status: 'denied' }), [])
      await refused('not_found', commitOne(store, [{ ...allowOp, approval_id: 'a9' }]))
      const [answered] = await commitOne(store, [allowOp])
      assert.deepEqual([answered.approval.status, answered.dispatch_id], ['allowed', 'one'])
      assert.deepEqual(await store.approval('a1'), answered.approval)
      await refused('conflict', commitOne(store, [allowOp]))
      await refused('conflict', commitOne(store, [{ ...allowOp, answer: 'denied' }]))
      assert.equal(await statusOf(store, 'one'), 'pending')
      assert.deepEqual(await listPayloads(store), [{ id: 'a1', tool: 'pay', answer: 'allowed', reason: 'go' }])
      const [fresh] = await claim(store, epoch)
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait, now: NOW }], fresh)
      assert.equal(parked, false, 'an earlier answer is not lost')
    },
  },
  {
    name: 'case 54: a refused batch does not answer an approval',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(store, [{ op: 'ask', approval }], fence)
      await refused(
        'not_found',
        commitOne(store, [allowOp, { op: 'cancel', dispatch_id: 'nobody', how: 'immediate', now: NOW }]),
      )
      assert.deepEqual([(await store.approval('a1'))?.status, await listPayloads(store)], ['open', []])
    },
  },
  ...(['done', 'failed'] as const).map(
    (status): ConformanceCase => ({
      name: `case 54: the end of a run (${status}) denies its open approvals without a new dispatch; allowed ones stay`,
      async run(store) {
        const { fence } = await running(store)
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
          ...{ op: 'acknowledge', session_id: 'session-one', now: NOW },
          observation_ids: ['approval-a2'],
        }
        const [, { successor }] = await commitOne(store, [acknowledge, settleAs(status)] as const, fence)
        const reason = status === 'done' ? 'the run ended: done' : 'the run ended: infra'
        assert.equal(successor, null)
        assert.deepEqual(await store.approval('a1'), {
          ...approval,
          ...{ status: 'denied', answered_at: new Date(NOW).toISOString(), answer_reason: reason },
        })
        assert.equal((await store.approval('a2'))?.status, 'allowed')
        assert.deepEqual(await listPayloads(store), [{ id: 'a1', tool: 'pay', answer: 'denied', reason }])
        await refused('conflict', commitOne(store, [allowOp]))
        assert.equal((await store.dispatches({ limit: 9 })).length, 1)
      },
    }),
  ),
  {
    name: 'case 54: unread input at the end of a run creates a dispatch, which also gets the denials',
    async run(store) {
      const { epoch, fence } = await running(store)
      await commitOne(store, [{ op: 'ask', approval }], fence)
      const session_id = 'session-one'
      await commitOne(store, [
        { op: 'publish', session_id, observation: message('m'), successor_id: 'unused', now: NOW },
      ])
      const [{ successor }] = await commitOne(store, [settleAs('done', 'next')] as const, fence)
      assert.deepEqual([successor, (await store.approval('a1'))?.status], ['next', 'denied'])
      assert.deepEqual(
        (await store.inbox(session_id)).map(({ id }) => id),
        ['m', 'approval-a1'],
      )
      assert.deepEqual(
        (await claim(store, epoch)).map(({ dispatch_id }) => dispatch_id),
        ['next'],
      )
    },
  },
  {
    name: 'case 54: a dead run denies its open approvals; a parked or released run keeps them',
    async run(store) {
      const { epoch, fence } = await running(store)
      await commitOne(
        store,
        [
          { op: 'ask', approval },
          { op: 'release', now: NOW },
        ] as const,
        fence,
      )
      const status = async () => (await store.approval('a1'))?.status
      assert.equal(await status(), 'open')
      const [again] = await claim(store, epoch)
      await commitOne(store, [{ op: 'park', wait: { ...forMessage, until: NOW + 1 }, now: NOW }], again)
      assert.equal(await status(), 'open')
      await commitOne(store, [{ op: 'promote', now: NOW + 1 }])
      for (;;) {
        const newEpoch = await join(store)
        const [{ dead }] = await commitOne(store, [{ op: 'recover', now: NOW + 1 }])
        if (dead.length > 0) break
        assert.deepEqual([await status(), (await listPayloads(store)).length], ['open', 1])
        await claim(store, newEpoch)
      }
      const { status: is, answer_reason } = (await store.approval('a1')) ?? {}
      assert.deepEqual([is, answer_reason], ['denied', 'the run ended: dead'])
      assert.deepEqual((await listPayloads(store)).at(-1), {
        id: 'a1',
        tool: 'pay',
        answer: 'denied',
        reason: answer_reason,
      })
      assert.equal(await statusOf(store, 'one'), 'dead')
      await refused('conflict', commitOne(store, [allowOp]))
      assert.equal((await store.dispatches({ limit: 9 })).length, 1)
    },
  },
  {
    name: 'case 54: an approval expires once by time, and can be answered only before',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(
        store,
        [
          { op: 'ask', approval },
          { op: 'ask', approval: { ...approval, id: 'a2' } },
        ],
        fence,
      )
      assert.equal(await store.nextTimer(), NOW + 1000)
      await commitOne(store, [{ op: 'promote', now: NOW + 999 }])
      await commitOne(store, [{ ...allowOp, approval_id: 'a2', now: NOW + 999 }])
      await refused('conflict', commitOne(store, [{ ...allowOp, now: NOW + 1000 }]))
      for (const now of [NOW + 1000, NOW + 2000]) await commitOne(store, [{ op: 'promote', now }])
      assert.deepEqual(
        (await store.approvals({ limit: 9 })).map(({ id, status }) => [id, status]),
        [
          ['a2', 'allowed'],
          ['a1', 'expired'],
        ],
      )
      assert.deepEqual((await listPayloads(store)).at(-1), { id: 'a1', tool: 'pay', answer: 'expired' })
      assert.deepEqual([(await listPayloads(store)).length, await store.nextTimer()], [2, undefined])
    },
  },
  {
    name: 'I8: an expired approval wakes a waiting run',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(
        store,
        [
          { op: 'ask', approval },
          { op: 'park', wait: forMessage, now: NOW },
        ],
        fence,
      )
      await commitOne(store, [{ op: 'promote', now: NOW + 1000 }])
      assert.equal(await statusOf(store, 'one'), 'pending')
      assert.deepEqual(await listPayloads(store), [{ id: 'a1', tool: 'pay', answer: 'expired' }])
    },
  },
  {
    name: 'case 53: a cancelled run denies its open approvals and allowed ones with an unread answer',
    async run(store) {
      const { fence } = await running(store)
      for (const id of ['open', 'unheard', 'heard'])
        await commitOne(store, [{ op: 'ask', approval: { ...approval, id } }], fence)
      for (const approval_id of ['unheard', 'heard']) await commitOne(store, [{ ...allowOp, approval_id }])
      const cancelled: Op = { ...settleAs('done'), status: 'cancelled' } as Op
      const acknowledge: Op = {
        op: 'acknowledge',
        session_id: 'session-one',
        observation_ids: ['approval-heard'],
        now: NOW,
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
      const { fence } = await running(store)
      await commitOne(store, [{ op: 'ask', approval }], fence)
      await commitOne(store, [allowOp])
      await commitOne(store, [settleAs('done', 'next')], fence)
      assert.deepEqual([await statusOf(store, 'next'), (await store.approval('a1'))?.status], ['pending', 'allowed'])
      await commitOne(store, [{ op: 'cancel', dispatch_id: 'next', how: 'immediate', now: NOW }])
      assert.deepEqual([await statusOf(store, 'next'), (await store.approval('a1'))?.status], ['cancelled', 'denied'])
    },
  },
]
