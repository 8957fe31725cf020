/** Store conformance: messages, waits and wake-ups. */

import assert from 'node:assert/strict'
import type { Observation } from '../domain/observation.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne, type Op } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  newTestDispatch,
  newTestMessage,
  readStatus,
  settleOp,
  startDispatch,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from './store-test-helpers.ts'

export const inboxConformance: readonly ConformanceCase[] = [
  {
    name: 'O12: an unread message at the end of a run gets a successor dispatch in the same commit',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(store, [
        {
          op: 'publish',
          session_id: 'session-one',
          observation: newTestMessage('m1'),
          successor_id: 'unused',
          now: TEST_NOW,
        },
      ])
      const [{ successor }] = (await commitOne(store, [settleOp('done', 'next')], fence)) as unknown as [
        { successor: string | null },
      ]
      assert.equal(successor, 'next')
      const next = await store.dispatch('next')
      assert.deepEqual(
        { status: next?.status, session_id: next?.session_id, prompt: next?.prompt, agent_id: next?.agent_id },
        { status: 'pending', session_id: 'session-one', prompt: '', agent_id: 'agent' },
      )
    },
  },
  {
    name: 'settle: no unread message, or a failure, creates no successor',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      const [doneResult] = (await commitOne(store, [settleOp('done')], fence)) as unknown as [
        { successor: string | null },
      ]
      assert.equal(doneResult.successor, null)
      await enqueueInStore(store, newTestDispatch('two'))
      const [second] = await claimInStore(store, epoch)
      await commitOne(store, [
        {
          op: 'publish',
          session_id: 'session-two',
          observation: newTestMessage('m'),
          successor_id: 'x',
          now: TEST_NOW,
        },
      ])
      const [failedResult] = (await commitOne(store, [settleOp('failed')], second)) as unknown as [
        { successor: string | null },
      ]
      assert.equal(failedResult.successor, null)
      assert.equal((await store.inbox('session-two')).length, 1, 'the message is still there')
    },
  },
  {
    name: 'publish: once per id; an idle session gets a dispatch, a busy one does not',
    async run(store) {
      const { fence } = await startDispatch(store)
      const publish = (id: string, successor_id: string) =>
        commitOne(store, [
          { op: 'publish', session_id: 'session-one', observation: newTestMessage(id), successor_id, now: TEST_NOW },
        ])
      assert.deepEqual((await publish('m1', 's1'))[0], { duplicate: false, dispatch_id: 'one' })
      assert.deepEqual((await publish('m1', 's2'))[0], { duplicate: true, dispatch_id: null })
      await commitOne(
        store,
        [{ op: 'acknowledge', session_id: 'session-one', observation_ids: ['m1'], now: TEST_NOW }, settleOp('done')],
        fence,
      )
      assert.deepEqual((await publish('m1', 's3'))[0], { duplicate: true, dispatch_id: null })
      assert.deepEqual((await publish('m2', 's4'))[0], { duplicate: false, dispatch_id: 's4' })
      assert.equal(await readStatus(store, 's4'), 'pending')
      await assertRefusedWith(
        'not_found',
        commitOne(store, [
          { op: 'publish', session_id: 'nobody', observation: newTestMessage('m'), successor_id: 'x', now: TEST_NOW },
        ]),
      )
    },
  },
  {
    name: 'case 66: messages stay unread, in order of arrival, until acknowledged once',
    async run(store) {
      const { fence } = await startDispatch(store)
      for (const id of ['b', 'a', 'c'])
        await commitOne(store, [
          {
            op: 'publish',
            session_id: 'session-one',
            observation: newTestMessage(id),
            successor_id: 'x',
            now: TEST_NOW,
          },
        ])
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['b', 'a', 'c'],
      )
      const acknowledgeOp: Op = {
        op: 'acknowledge',
        session_id: 'session-one',
        observation_ids: ['a', 'b', 'never'],
        now: TEST_NOW,
      }
      const [first] = (await commitOne(store, [acknowledgeOp], fence)) as unknown as [{ acknowledged: number }]
      const [second] = (await commitOne(store, [acknowledgeOp], fence)) as unknown as [{ acknowledged: number }]
      assert.deepEqual(
        { firstAcknowledged: first.acknowledged, secondAcknowledged: second.acknowledged },
        { firstAcknowledged: 2, secondAcknowledged: 0 },
      )
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['c'],
      )
    },
  },
  {
    name: 'case 67: only a matching observation wakes a waiting dispatch; others stay unread',
    async run(store) {
      const { fence } = await startDispatch(store)
      const wait: Wait = { ...WAIT_FOR_MESSAGE, match: 'event:ready' }
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait, now: TEST_NOW }], fence)
      assert.equal(parked, true)
      const publish = (observation: Observation) =>
        commitOne(store, [{ op: 'publish', session_id: 'session-one', observation, successor_id: 'x', now: TEST_NOW }])
      await publish(newTestMessage('m'))
      await publish({ id: 'e1', type: 'system_event', name: 'other', ts: TEST_NOW })
      assert.equal(await readStatus(store, 'one'), 'waiting')
      await publish({ id: 'e2', type: 'system_event', name: 'ready', ts: TEST_NOW })
      assert.equal(await readStatus(store, 'one'), 'pending')
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['m', 'e1', 'e2'],
      )
    },
  },
  {
    name: 'case 68: no lost wake-up: park re-checks the inbox inside the transaction',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(store, [
        {
          op: 'publish',
          session_id: 'session-one',
          observation: newTestMessage('m'),
          successor_id: 'x',
          now: TEST_NOW,
        },
      ])
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], fence)
      assert.equal(parked, false)
      assert.equal(await readStatus(store, 'one'), 'running', 'the owner continues')
      const [again] = (await commitOne(
        store,
        [
          { op: 'acknowledge', session_id: 'session-one', observation_ids: ['m'], now: TEST_NOW },
          { op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW },
        ],
        fence,
      )) as unknown as [unknown, { parked: boolean }]
      assert.ok(again)
      assert.equal(await readStatus(store, 'one'), 'waiting')
    },
  },
  {
    name: 'case 67: a deadline wakes once and adds an observation',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(store, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], fence)
      assert.equal(await store.nextTimer(), TEST_NOW + 5000)
      for (const now of [TEST_NOW + 4999, TEST_NOW + 5000, TEST_NOW + 6000])
        await commitOne(store, [{ op: 'promote', now }])
      assert.equal(await readStatus(store, 'one'), 'pending')
      assert.deepEqual(
        (await store.inbox('session-one')).map((seen) => seen.type === 'system_event' && seen.name),
        ['deadline'],
      )
    },
  },
  {
    name: 'case 67: two waits with the same deadline get two observations',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await commitOne(store, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], fence)
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 5000 }])
      const [again] = await claimInStore(store, epoch)
      const acknowledgeOp: Op = { op: 'acknowledge', session_id: 'session-one', observation_ids: [], now: TEST_NOW }
      const observationIds = (await store.inbox('session-one')).map(({ id }) => id)
      await commitOne(
        store,
        [
          { ...acknowledgeOp, observation_ids: observationIds },
          { op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW },
        ],
        again,
      )
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 6000 }])
      assert.equal(observationIds.length, 1)
      assert.equal((await store.inbox('session-one')).length, 1)
    },
  },
  {
    name: 'a wait for a retry ends by time only',
    async run(store) {
      const { fence } = await startDispatch(store)
      await commitOne(
        store,
        [{ op: 'park', wait: { kind: 'retry', until: TEST_NOW + 500, reason: 'busy' }, now: TEST_NOW }],
        fence,
      )
      await commitOne(store, [
        {
          op: 'publish',
          session_id: 'session-one',
          observation: newTestMessage('m'),
          successor_id: 'x',
          now: TEST_NOW,
        },
      ])
      assert.equal(await readStatus(store, 'one'), 'waiting')
      await commitOne(store, [{ op: 'promote', now: TEST_NOW + 500 }])
      assert.equal(await readStatus(store, 'one'), 'pending')
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['m'],
      )
    },
  },
  {
    name: 'a quiet observation starts no run, wakes none and keeps none from waiting; the next run reads it',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      const publish = (id: string): Op => ({
        op: 'publish',
        session_id: 'session-one',
        observation: { ...newTestMessage(id), quiet: true },
        successor_id: 'never',
        now: TEST_NOW,
      })
      await commitOne(store, [publish('q1')])
      await commitOne(store, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], fence)
      assert.equal(await readStatus(store, 'one'), 'waiting')
      await commitOne(store, [publish('q2')])
      assert.equal(await readStatus(store, 'one'), 'waiting')
      const message = { ...publish('m'), observation: newTestMessage('m') } as Op
      await commitOne(store, [message])
      const [again] = await claimInStore(store, epoch)
      await commitOne(
        store,
        [
          { op: 'acknowledge', session_id: 'session-one', observation_ids: ['m'], now: TEST_NOW },
          settleOp('done', 'next'),
        ],
        again,
      )
      await commitOne(store, [publish('q3'), publish('q3')])
      assert.equal(await store.dispatch('next'), undefined)
      assert.equal(await store.dispatch('never'), undefined)
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['q1', 'q2', 'q3'],
      )
    },
  },
]
