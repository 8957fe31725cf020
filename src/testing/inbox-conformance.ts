/** Store conformance: messages, waits and wake-ups. */

import assert from 'node:assert/strict'
import type { Observation } from '../domain/observation.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne, type Op } from '../ports/store.ts'
import {
  type ConformanceCase,
  claim,
  dispatchOf,
  enqueue,
  forMessage,
  message,
  NOW,
  refused,
  running,
  settleAs,
  statusOf,
} from './store-cases.ts'

export const inboxConformance: readonly ConformanceCase[] = [
  {
    name: 'O12: an unread message at the end of a run gets a successor dispatch in the same commit',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(store, [
        { op: 'publish', session_id: 'session-one', observation: message('m1'), successor_id: 'unused', now: NOW },
      ])
      const [{ successor }] = (await commitOne(store, [settleAs('done', 'next')], fence)) as unknown as [
        { successor: string | null },
      ]
      assert.equal(successor, 'next')
      const next = await store.dispatch('next')
      assert.deepEqual(
        [next?.status, next?.session_id, next?.prompt, next?.agent_id],
        ['pending', 'session-one', '', 'agent'],
      )
    },
  },
  {
    name: 'settle: no unread message, or a failure, creates no successor',
    async run(store) {
      const { epoch, fence } = await running(store)
      const [doneResult] = (await commitOne(store, [settleAs('done')], fence)) as unknown as [
        { successor: string | null },
      ]
      assert.equal(doneResult.successor, null)
      await enqueue(store, dispatchOf('two'))
      const [second] = await claim(store, epoch)
      await commitOne(store, [
        { op: 'publish', session_id: 'session-two', observation: message('m'), successor_id: 'x', now: NOW },
      ])
      const [failedResult] = (await commitOne(store, [settleAs('failed')], second)) as unknown as [
        { successor: string | null },
      ]
      assert.equal(failedResult.successor, null)
      assert.equal((await store.inbox('session-two')).length, 1, 'the message is still there')
    },
  },
  {
    name: 'publish: once per id; an idle session gets a dispatch, a busy one does not',
    async run(store) {
      const { fence } = await running(store)
      const publish = (id: string, successor_id: string) =>
        commitOne(store, [
          { op: 'publish', session_id: 'session-one', observation: message(id), successor_id, now: NOW },
        ])
      assert.deepEqual((await publish('m1', 's1'))[0], { duplicate: false, dispatch_id: 'one' })
      assert.deepEqual((await publish('m1', 's2'))[0], { duplicate: true, dispatch_id: null })
      await commitOne(
        store,
        [{ op: 'acknowledge', session_id: 'session-one', observation_ids: ['m1'], now: NOW }, settleAs('done')],
        fence,
      )
      assert.deepEqual((await publish('m1', 's3'))[0], { duplicate: true, dispatch_id: null })
      assert.deepEqual((await publish('m2', 's4'))[0], { duplicate: false, dispatch_id: 's4' })
      assert.equal(await statusOf(store, 's4'), 'pending')
      await refused(
        'not_found',
        commitOne(store, [
          { op: 'publish', session_id: 'nobody', observation: message('m'), successor_id: 'x', now: NOW },
        ]),
      )
    },
  },
  {
    name: 'case 66: messages stay unread, in order of arrival, until acknowledged once',
    async run(store) {
      const { fence } = await running(store)
      for (const id of ['b', 'a', 'c'])
        await commitOne(store, [
          { op: 'publish', session_id: 'session-one', observation: message(id), successor_id: 'x', now: NOW },
        ])
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['b', 'a', 'c'],
      )
      const acknowledgeOp: Op = {
        op: 'acknowledge',
        session_id: 'session-one',
        observation_ids: ['a', 'b', 'never'],
        now: NOW,
      }
      const [first] = (await commitOne(store, [acknowledgeOp], fence)) as unknown as [{ acknowledged: number }]
      const [second] = (await commitOne(store, [acknowledgeOp], fence)) as unknown as [{ acknowledged: number }]
      assert.deepEqual([first.acknowledged, second.acknowledged], [2, 0])
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['c'],
      )
    },
  },
  {
    name: 'case 67: only a matching observation wakes a waiting dispatch; others stay unread',
    async run(store) {
      const { fence } = await running(store)
      const wait: Wait = { ...forMessage, match: 'event:ready' }
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait, now: NOW }], fence)
      assert.equal(parked, true)
      const publish = (observation: Observation) =>
        commitOne(store, [{ op: 'publish', session_id: 'session-one', observation, successor_id: 'x', now: NOW }])
      await publish(message('m'))
      await publish({ id: 'e1', type: 'system_event', name: 'other', ts: NOW })
      assert.equal(await statusOf(store, 'one'), 'waiting')
      await publish({ id: 'e2', type: 'system_event', name: 'ready', ts: NOW })
      assert.equal(await statusOf(store, 'one'), 'pending')
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['m', 'e1', 'e2'],
      )
    },
  },
  {
    name: 'case 68: no lost wake-up: park re-checks the inbox inside the transaction',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(store, [
        { op: 'publish', session_id: 'session-one', observation: message('m'), successor_id: 'x', now: NOW },
      ])
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait: forMessage, now: NOW }], fence)
      assert.equal(parked, false)
      assert.equal(await statusOf(store, 'one'), 'running', 'the owner continues')
      const [again] = (await commitOne(
        store,
        [
          { op: 'acknowledge', session_id: 'session-one', observation_ids: ['m'], now: NOW },
          { op: 'park', wait: forMessage, now: NOW },
        ],
        fence,
      )) as unknown as [unknown, { parked: boolean }]
      assert.ok(again)
      assert.equal(await statusOf(store, 'one'), 'waiting')
    },
  },
  {
    name: 'case 67: a deadline wakes once and adds an observation',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(store, [{ op: 'park', wait: forMessage, now: NOW }], fence)
      assert.equal(await store.nextTimer(), NOW + 5000)
      for (const now of [NOW + 4999, NOW + 5000, NOW + 6000]) await commitOne(store, [{ op: 'promote', now }])
      assert.equal(await statusOf(store, 'one'), 'pending')
      assert.deepEqual(
        (await store.inbox('session-one')).map((seen) => seen.type === 'system_event' && seen.name),
        ['deadline'],
      )
    },
  },
  {
    name: 'case 67: two waits with the same deadline get two observations',
    async run(store) {
      const { epoch, fence } = await running(store)
      await commitOne(store, [{ op: 'park', wait: forMessage, now: NOW }], fence)
      await commitOne(store, [{ op: 'promote', now: NOW + 5000 }])
      const [again] = await claim(store, epoch)
      const acknowledgeOp: Op = { op: 'acknowledge', session_id: 'session-one', observation_ids: [], now: NOW }
      const observationIds = (await store.inbox('session-one')).map(({ id }) => id)
      await commitOne(
        store,
        [
          { ...acknowledgeOp, observation_ids: observationIds },
          { op: 'park', wait: forMessage, now: NOW },
        ],
        again,
      )
      await commitOne(store, [{ op: 'promote', now: NOW + 6000 }])
      assert.equal(observationIds.length, 1)
      assert.equal((await store.inbox('session-one')).length, 1)
    },
  },
  {
    name: 'a wait for a retry ends by time only',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(
        store,
        [{ op: 'park', wait: { kind: 'retry', until: NOW + 500, reason: 'busy' }, now: NOW }],
        fence,
      )
      await commitOne(store, [
        { op: 'publish', session_id: 'session-one', observation: message('m'), successor_id: 'x', now: NOW },
      ])
      assert.equal(await statusOf(store, 'one'), 'waiting')
      await commitOne(store, [{ op: 'promote', now: NOW + 500 }])
      assert.equal(await statusOf(store, 'one'), 'pending')
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['m'],
      )
    },
  },
]
