/** What every store must show of what people have to say: on unknown outcomes, on approvals; part of the store's conformance suite. */

import assert from 'node:assert/strict'
import type { Approval } from '../domain/approval.ts'
import type { Unknown } from '../domain/unknown.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import {
  approvalOf,
  type ConformanceCase,
  claim,
  dispatchOf,
  enqueue,
  forMessage,
  NOW,
  refused,
  running,
  settleAs,
  statusOf,
} from './store-cases.ts'

const approval: Approval = approvalOf('a1')

const allow = {
  op: 'answer',
  approval_id: 'a1',
  answer: 'allowed',
  reason: 'go',
  successor_id: 'next',
  now: NOW,
} as const

/** What the events in the first session's inbox say. */
const heardIn = async (store: Store): Promise<unknown[]> =>
  (await store.inbox('session-one')).map((heard) => heard.type === 'system_event' && heard.payload)

export const wordConformance: readonly ConformanceCase[] = [
  {
    name: 'unknowns: listed, resolved once, and the run that waits for the word is woken; a word that came first is not lost',
    async run(store) {
      const { epoch, fence } = await running(store)
      const unknown: Unknown = {
        id: 'u1',
        session_id: 'session-one',
        dispatch_id: 'one',
        tool: 'pay',
        args: { amount: 1 },
        reach: 'third_party',
        started_at: '2020-01-01T00:00:00.000Z',
        output_so_far: '',
        status: 'open',
        resolution: null,
      }
      const wait: Wait = { kind: 'unknown', unknown_id: 'u1', until: null, reason: 'a word' }
      await commitOne(
        store,
        [
          { op: 'unknown', unknown },
          { op: 'park', wait, now: NOW },
        ],
        fence,
      )
      assert.deepEqual(await store.unknowns({}), [unknown])
      assert.deepEqual(await store.unknowns({ session_id: 'elsewhere' }), [])
      assert.deepEqual(await store.unknowns({ session_id: 'session-one', status: 'open' }), [unknown])
      assert.deepEqual(await store.unknowns({ status: 'resolved' }), [])
      const resolve = (id: string): Promise<unknown> =>
        commitOne(store, [{ op: 'resolve', unknown_id: id, as: 'happened', now: NOW }])
      await refused('not_found', resolve('u9'))
      await resolve('u1')
      await refused('conflict', resolve('u1'))
      assert.deepEqual(await store.unknowns({ status: 'open' }), [])
      assert.equal((await store.unknowns({ session_id: 'session-one', status: 'resolved' })).length, 1)
      assert.equal(await statusOf(store, 'one'), 'pending')
      const [fresh] = await claim(store, epoch)
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait, now: NOW }], fresh)
      assert.equal(parked, false)
    },
  },
  {
    name: 'a word on an unknown outcome wakes whoever waits for that word, and nobody who waits for something else',
    async run(store) {
      const { fence } = await running(store)
      const unknown: Unknown = {
        ...{ id: 'u1', session_id: 'session-one', dispatch_id: 'one', tool: 'pay', args: {}, reach: 'third_party' },
        ...{ started_at: '2020-01-01T00:00:00.000Z', output_so_far: '', status: 'open', resolution: null },
      }
      await commitOne(
        store,
        [
          { op: 'unknown', unknown },
          { op: 'park', wait: forMessage, now: NOW },
        ],
        fence,
      )
      await commitOne(store, [{ op: 'resolve', unknown_id: 'u1', as: 'not', now: NOW }])
      assert.equal(await statusOf(store, 'one'), 'waiting')
    },
  },
  {
    name: 'case 139: a grant is there until it expires, or is revoked',
    async run(store) {
      const grant = {
        ...{ id: 'g', tool: 'pay', agent_id: null, session_id: null, to: ['*'], args: null },
        ...{ granted_at: new Date(NOW).toISOString(), expires_at: new Date(NOW + 1000).toISOString() },
      }
      await commitOne(store, [
        { op: 'grant', grant },
        { op: 'grant', grant: { ...grant, id: 'h', expires_at: null } },
      ])
      const listed = async (now: number, tool?: string) => (await store.grants({ now, tool })).map(({ id }) => id)
      assert.deepEqual([await listed(NOW + 999), await listed(NOW + 1000)], [['g', 'h'], ['h']])
      assert.deepEqual([await listed(NOW, 'pay'), await listed(NOW, 'send')], [['g', 'h'], []])
      assert.deepEqual(await commitOne(store, [{ op: 'revoke', id: 'h' }]), [{ revoked: true }])
      assert.deepEqual(await listed(NOW + 1000), [])
    },
  },
  {
    name: 'I12: a label only ever gets lower, until the owner takes it back',
    async run(store) {
      const label = (trust: 'trusted' | 'untrusted', isPrivate: boolean) =>
        commitOne(store, [{ op: 'label', of: 'workspace /w', label: { trust, private: isPrivate } }])
      await label('untrusted', false)
      await label('trusted', true)
      await label('trusted', false)
      assert.deepEqual(await store.label('workspace /w'), { trust: 'untrusted', private: true })
      await commitOne(store, [{ op: 'label', of: 'workspace /w', label: null }])
      assert.equal(await store.label('workspace /w'), undefined)
    },
  },
  {
    name: 'case 54: an approval is listed with the step that asks, answered once, and the answer wakes whoever waits, whatever for',
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
      await refused('not_found', commitOne(store, [{ ...allow, approval_id: 'a9' }]))
      const [answered] = await commitOne(store, [allow])
      assert.deepEqual([answered.approval.status, answered.dispatch_id], ['allowed', 'one'])
      assert.deepEqual(await store.approval('a1'), answered.approval)
      await refused('conflict', commitOne(store, [allow]))
      await refused('conflict', commitOne(store, [{ ...allow, answer: 'denied' }]))
      assert.equal(await statusOf(store, 'one'), 'pending')
      assert.deepEqual(await heardIn(store), [{ id: 'a1', tool: 'pay', answer: 'allowed', reason: 'go' }])
      const [fresh] = await claim(store, epoch)
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait, now: NOW }], fresh)
      assert.equal(parked, false, 'an answer that came first is not lost')
    },
  },
  {
    name: 'case 54: the answer to a session with nothing in flight makes a dispatch; a refused batch answers nothing',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(store, [{ op: 'ask', approval }, settleAs('done')], fence)
      await refused(
        'not_found',
        commitOne(store, [allow, { op: 'cancel', dispatch_id: 'nobody', how: 'immediate', now: NOW }]),
      )
      assert.deepEqual([(await store.approval('a1'))?.status, await heardIn(store)], ['open', []])
      const [{ dispatch_id }] = await commitOne(store, [allow])
      assert.deepEqual([dispatch_id, await statusOf(store, 'next')], ['next', 'pending'])
    },
  },
  {
    name: 'case 54: an approval expires by the clock, once, and can be answered until then and not after',
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
      await commitOne(store, [{ ...allow, approval_id: 'a2', now: NOW + 999 }])
      await refused('conflict', commitOne(store, [{ ...allow, now: NOW + 1000 }]))
      for (const now of [NOW + 1000, NOW + 2000]) await commitOne(store, [{ op: 'promote', now }])
      assert.deepEqual(
        (await store.approvals({ limit: 9 })).map(({ id, status }) => [id, status]),
        [
          ['a2', 'allowed'],
          ['a1', 'expired'],
        ],
      )
      assert.deepEqual((await heardIn(store)).at(-1), { id: 'a1', tool: 'pay', answer: 'expired' })
      assert.deepEqual([(await heardIn(store)).length, await store.nextTimer()], [2, undefined])
    },
  },
  {
    name: 'I8: an approval that expires wakes a run that waits, and makes no dispatch where nothing is in flight',
    async run(store) {
      const { epoch, fence } = await running(store)
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
      await enqueue(store, dispatchOf('two'))
      const [, two] = await claim(store, epoch, 2)
      const theirs = { ...approval, id: 'a2', session_id: 'session-two' }
      await commitOne(store, [{ op: 'ask', approval: theirs }, settleAs('done')], two)
      await commitOne(store, [{ op: 'promote', now: NOW + 1000 }])
      assert.deepEqual(
        (await store.dispatches({ limit: 9 })).map(({ dispatch_id }) => dispatch_id),
        ['two', 'one'],
      )
      assert.equal((await store.inbox('session-two')).length, 1)
    },
  },
  {
    name: 'case 53: with a cancelled run go its open approvals, and what was allowed and never heard; what was heard stays',
    async run(store) {
      const { fence } = await running(store)
      for (const id of ['open', 'unheard', 'heard'])
        await commitOne(store, [{ op: 'ask', approval: { ...approval, id } }], fence)
      for (const approval_id of ['unheard', 'heard']) await commitOne(store, [{ ...allow, approval_id }])
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
]
