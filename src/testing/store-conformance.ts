/**
 * The store's conformance suite: what every implementation of the port must show. Each case gets an empty store; run them with
 * any test runner:  for (const { name, run } of storeConformance) test(name, async () => run(await openEmpty()))
 */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Approval } from '../domain/approval.ts'
import type { NewDispatch } from '../domain/dispatch.ts'
import type { Observation } from '../domain/observation.ts'
import type { JournalRecord, RecordBody } from '../domain/record.ts'
import type { Unknown } from '../domain/unknown.ts'
import type { Wait } from '../domain/wait.ts'
import { commitOne, type Fence, type Op, type Store } from '../ports/store.ts'
import { factConformance } from './fact-conformance.ts'

export interface ConformanceCase {
  readonly name: string
  run(store: Store): Promise<void>
}

const NOW = 1_000_000
const LEASE = 30_000

const dispatchOf = (id: string, more: Partial<NewDispatch> = {}): NewDispatch => ({
  dispatch_id: id,
  kernel_id: 'kernel',
  agent_id: 'agent',
  session_id: `session-${id}`,
  prompt: `task ${id}`,
  priority: 0,
  metadata: {},
  source: 'test',
  workspace: '/nowhere',
  ...more,
})

const record = (seq: number, body: Partial<RecordBody> = {}): JournalRecord =>
  ({ kind: 'run_started', run_id: 'run', agent_id: 'agent', behaviour: 'solo', ...body, seq, ts: NOW }) as JournalRecord

const message = (id: string, text = 'hello'): Observation => ({ id, type: 'user_message', text, ts: NOW })

const forMessage: Wait = { kind: 'observation', match: 'user_message', until: NOW + 5000, reason: 'a reply' }

const settleAs = (status: 'done' | 'failed', successor_id = 'successor'): Op => ({
  op: 'settle',
  status,
  result: status === 'done' ? 'answer' : null,
  error: status === 'failed' ? 'broken' : null,
  failure_class: status === 'failed' ? 'infra' : null,
  successor_id,
  now: NOW,
})

const approval: Approval = {
  id: 'a1',
  session_id: 'session-one',
  tool: 'pay',
  args: { amount: 1 },
  effect: { recovery: 'once', reach: 'third_party' },
  digest: 'd',
  reason: 'money',
  origin: { run_id: 'one', step: 1 },
  asked_at: new Date(NOW).toISOString(),
  expires_at: new Date(NOW + 1000).toISOString(),
  status: 'open',
  answered_at: null,
  answer_reason: null,
}

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

async function join(store: Store, alone = true, leaseUntil = NOW + LEASE): Promise<number> {
  const [{ epoch }] = await commitOne(store, [{ op: 'join', name: 'worker', now: NOW, lease_until: leaseUntil, alone }])
  return epoch
}

async function enqueue(store: Store, ...dispatches: NewDispatch[]): Promise<void> {
  await commitOne(store, [{ op: 'enqueue', dispatches, now: NOW }])
}

async function claim(store: Store, epoch: number, limit = 1): Promise<Fence[]> {
  const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit, now: NOW }])
  return claimed.map(({ dispatch_id, token }) => ({ dispatch_id, token }))
}

/** A store with one dispatch that is running. */
async function running(store: Store, id = 'one'): Promise<{ epoch: number; fence: Fence }> {
  const epoch = await join(store)
  await enqueue(store, dispatchOf(id))
  const [fence] = await claim(store, epoch)
  assert.ok(fence)
  return { epoch, fence }
}

const statusOf = async (store: Store, id: string): Promise<string | undefined> => (await store.dispatch(id))?.status

async function refused(code: string, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: Error & { code?: string }) => error.code === code)
}

export const storeConformance: readonly ConformanceCase[] = [
  {
    name: 'E6: priority high first, then oldest; a claim never hands out the same work twice',
    async run(store) {
      const epoch = await join(store)
      await enqueue(
        store,
        dispatchOf('a'),
        dispatchOf('b', { priority: 5 }),
        dispatchOf('c'),
        dispatchOf('d', { priority: 5 }),
      )
      const first = await claim(store, epoch, 3)
      const second = await claim(store, epoch, 3)
      assert.deepEqual(
        [...first, ...second].map(({ dispatch_id }) => dispatch_id),
        ['b', 'd', 'a', 'c'],
      )
      assert.deepEqual(await claim(store, epoch, 3), [])
    },
  },
  {
    name: 'E6: `only` claims that dispatch and no other',
    async run(store) {
      const epoch = await join(store)
      await enqueue(store, dispatchOf('a'), dispatchOf('b'))
      const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: 5, now: NOW, only: 'b' }])
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['b'],
      )
      assert.equal(await statusOf(store, 'a'), 'pending')
    },
  },
  {
    name: 'enqueue: exactly once per (source, key), also inside one call',
    async run(store) {
      const [[first, twin]] = await commitOne(store, [
        { op: 'enqueue', now: NOW, dispatches: [dispatchOf('a', { key: 'k' }), dispatchOf('b', { key: 'k' })] },
      ])
      const [[again]] = await commitOne(store, [
        { op: 'enqueue', now: NOW, dispatches: [dispatchOf('c', { key: 'k' })] },
      ])
      const [[other]] = await commitOne(store, [
        { op: 'enqueue', now: NOW, dispatches: [dispatchOf('d', { key: 'k', source: 'elsewhere' })] },
      ])
      assert.deepEqual(
        [first?.duplicate, twin?.duplicate, again?.duplicate, other?.duplicate],
        [false, true, true, false],
      )
      assert.deepEqual([first?.dispatch_id, twin?.dispatch_id, again?.dispatch_id], ['a', 'a', 'a'])
      assert.equal((await store.dispatches({ limit: 10 })).length, 2)
    },
  },
  {
    name: 'E6: enqueue is all or none',
    async run(store) {
      await enqueue(store, dispatchOf('a', { session_id: 'busy' }))
      await refused(
        'conflict',
        commitOne(store, [
          { op: 'enqueue', now: NOW, dispatches: [dispatchOf('b'), dispatchOf('c', { session_id: 'busy' })] },
        ]),
      )
      assert.equal(await store.dispatch('b'), undefined)
      assert.equal(await store.session('session-b'), undefined)
    },
  },
  {
    name: 'a dispatch with a later start waits, and becomes pending when it is due, not before',
    async run(store) {
      const epoch = await join(store)
      await enqueue(store, dispatchOf('later', { at: NOW + 1000 }))
      assert.equal(await statusOf(store, 'later'), 'waiting')
      assert.equal(await store.nextTimer(), NOW + 1000)
      await commitOne(store, [{ op: 'promote', now: NOW + 999 }])
      assert.deepEqual(await claim(store, epoch), [])
      await commitOne(store, [{ op: 'promote', now: NOW + 1000 }])
      assert.equal((await claim(store, epoch)).length, 1)
      assert.equal(await store.nextTimer(), undefined)
      assert.deepEqual(await store.inbox('session-later'), [], 'a start is not an observation')
    },
  },
  {
    name: 'I3: a wrong token writes nothing; the right one does',
    async run(store) {
      const { fence } = await running(store)
      const append: Op = { op: 'append', session_id: 'session-one', records: [record(1)] }
      await refused('store_fenced', commitOne(store, [append], { ...fence, token: fence.token + 1 }))
      await refused('store_fenced', commitOne(store, [append], { ...fence, token: fence.token - 1 }))
      await refused('store_fenced', commitOne(store, [append], { dispatch_id: 'nobody', token: fence.token }))
      assert.deepEqual(await store.journal('session-one'), [])
      await commitOne(store, [append], fence)
      assert.equal((await store.journal('session-one')).length, 1)
    },
  },
  {
    name: 'I3: a fence covers its own session only',
    async run(store) {
      const { epoch, fence } = await running(store)
      await enqueue(store, dispatchOf('two'))
      await claim(store, epoch)
      await refused(
        'store_fenced',
        commitOne(store, [{ op: 'append', session_id: 'session-two', records: [record(1)] }], fence),
      )
      assert.deepEqual(await store.journal('session-two'), [])
    },
  },
  {
    name: 'claim: a superseded owner can commit nothing, however late it comes',
    async run(store) {
      const { fence: stale } = await running(store)
      const epoch = await join(store, true)
      await commitOne(store, [{ op: 'recover', now: NOW }])
      const append: Op = { op: 'append', session_id: 'session-one', records: [record(1)] }
      await refused('store_fenced', commitOne(store, [append], stale))
      const [fresh] = await claim(store, epoch)
      assert.ok(fresh && fresh.token > stale.token)
      for (const op of [
        append,
        settleAs('done'),
        { op: 'park', wait: forMessage, now: NOW },
        { op: 'release', now: NOW },
      ] as Op[])
        await refused('store_fenced', commitOne(store, [op], stale))
      await commitOne(store, [append], fresh)
    },
  },
  {
    name: 'a fenced batch fails alone: the others of the same commit stand',
    async run(store) {
      const { epoch, fence } = await running(store)
      await enqueue(store, dispatchOf('two'))
      const [other] = await claim(store, epoch)
      assert.ok(other)
      const outcomes = await store.commit([
        { fence: { ...fence, token: 99 }, ops: [{ op: 'append', session_id: 'session-one', records: [record(1)] }] },
        { fence: other, ops: [{ op: 'append', session_id: 'session-two', records: [record(1)] }] },
        { fence, ops: [{ op: 'append', session_id: 'session-one', records: [record(1)] }] },
      ])
      assert.deepEqual(
        outcomes.map(({ ok }) => ok),
        [false, true, true],
      )
      assert.equal((await store.journal('session-one')).length, 1)
      assert.equal((await store.journal('session-two')).length, 1)
    },
  },
  {
    name: 'a batch is atomic: a refused op undoes the ones before it',
    async run(store) {
      const { fence } = await running(store)
      const ops: Op[] = [
        { op: 'append', session_id: 'session-one', records: [record(1)] },
        { op: 'append', session_id: 'session-one', records: [record(7)] },
      ]
      await refused('store_sequence', commitOne(store, ops, fence))
      assert.deepEqual(await store.journal('session-one'), [])
    },
  },
  {
    name: 'case 94: the same sequence number twice, or a gap, is refused',
    async run(store) {
      const { fence } = await running(store)
      const append = (...records: JournalRecord[]): Promise<unknown> =>
        commitOne(store, [{ op: 'append', session_id: 'session-one', records }], fence)
      await append(record(1), record(2))
      await refused('store_sequence', append(record(2)))
      await refused('store_sequence', append(record(4)))
      await refused('store_sequence', append(record(3), record(3)))
      await append(record(3))
      assert.deepEqual(
        (await store.journal('session-one', 2)).map(({ seq }) => seq),
        [2, 3],
      )
    },
  },
  {
    name: 'E6: orphaned work of a dead worker is recovered at once by a new one of the same home',
    async run(store) {
      await running(store)
      await join(store, true)
      const [{ recovered }] = await commitOne(store, [{ op: 'recover', now: NOW }])
      assert.deepEqual(recovered, ['one'])
      assert.equal(await statusOf(store, 'one'), 'pending')
    },
  },
  {
    name: 'E6: beside others, a worker is dead only when its lease has ended; a beat keeps it alive',
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
    name: 'SIGTERM: a worker that leaves gives its work back, and that is no crash',
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
    name: 'poison work: dead after 3 crashes in a row without a new record; a record resets the count',
    async run(store) {
      await join(store)
      await enqueue(store, dispatchOf('one'))
      let seq = 0
      const crash = async (leaveRecord: boolean): Promise<string | undefined> => {
        const epoch = await join(store)
        await commitOne(store, [{ op: 'recover', now: NOW }])
        const [fence] = await claim(store, epoch)
        if (fence && leaveRecord)
          await commitOne(store, [{ op: 'append', session_id: 'session-one', records: [record(++seq)] }], fence)
        await join(store)
        await commitOne(store, [{ op: 'recover', now: NOW }])
        return statusOf(store, 'one')
      }
      assert.equal(await crash(false), 'pending')
      assert.equal(await crash(false), 'pending')
      assert.equal(await crash(true), 'pending')
      assert.equal(await crash(false), 'pending')
      assert.equal(await crash(false), 'pending')
      assert.equal(await crash(false), 'dead')
      assert.equal((await store.dispatch('one'))?.failure_class, 'infra')
    },
  },
  {
    name: 'settle: the end and its reason are kept, and the fence ends with it',
    async run(store) {
      const { fence } = await running(store)
      await commitOne(store, [settleAs('failed')], fence)
      const dispatch = await store.dispatch('one')
      assert.deepEqual(
        [dispatch?.status, dispatch?.error, dispatch?.failure_class, dispatch?.lease_owner],
        ['failed', 'broken', 'infra', null],
      )
      await refused('store_fenced', commitOne(store, [settleAs('done')], fence))
    },
  },
  {
    name: 'O12: a message that nobody read before the end gets a dispatch in the same commit',
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
    name: 'settle: nothing unread, or a failure, makes no successor',
    async run(store) {
      const { epoch, fence } = await running(store)
      const [ended] = (await commitOne(store, [settleAs('done')], fence)) as unknown as [{ successor: string | null }]
      assert.equal(ended.successor, null)
      await enqueue(store, dispatchOf('two'))
      const [second] = await claim(store, epoch)
      await commitOne(store, [
        { op: 'publish', session_id: 'session-two', observation: message('m'), successor_id: 'x', now: NOW },
      ])
      const [failed] = (await commitOne(store, [settleAs('failed')], second)) as unknown as [
        { successor: string | null },
      ]
      assert.equal(failed.successor, null)
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
    name: 'case 66: unread until acknowledged, in order of arrival; acknowledged once',
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
      const ack: Op = { op: 'acknowledge', session_id: 'session-one', observation_ids: ['a', 'b', 'never'], now: NOW }
      const [first] = (await commitOne(store, [ack], fence)) as unknown as [{ acknowledged: number }]
      const [second] = (await commitOne(store, [ack], fence)) as unknown as [{ acknowledged: number }]
      assert.deepEqual([first.acknowledged, second.acknowledged], [2, 0])
      assert.deepEqual(
        (await store.inbox('session-one')).map(({ id }) => id),
        ['c'],
      )
    },
  },
  {
    name: 'case 67: what does not match leaves it waiting and unread; what matches wakes it',
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
      assert.equal(await statusOf(store, 'one'), 'running', 'the owner goes on')
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
    name: 'case 52: a cancel is kept for the run, only gets stronger, and whoever is asked to end does not stay parked',
    async run(store) {
      const { epoch, fence } = await running(store)
      const wished = async (how: 'after_step' | 'immediate') => {
        const [members] = await commitOne(store, [{ op: 'cancel', dispatch_id: 'one', how, now: NOW }])
        return [members, (await store.dispatch('one'))?.cancel]
      }
      const members = [{ dispatch_id: 'one', status: 'running' }]
      assert.deepEqual(await wished('after_step'), [members, 'after_step'])
      assert.deepEqual(await wished('immediate'), [members, 'immediate'])
      assert.deepEqual(await wished('after_step'), [members, 'immediate'])
      await commitOne(store, [{ op: 'park', wait: forMessage, now: NOW }], fence)
      assert.equal(await statusOf(store, 'one'), 'pending')
      const [again] = await claim(store, epoch)
      assert.equal(again?.dispatch_id, 'one')
    },
  },
  {
    name: 'case 53: what was never claimed is cancelled at once, what waits is woken for it, what is over is left as it is',
    async run(store) {
      const { epoch, fence } = await running(store, 'over')
      await enqueue(store, dispatchOf('waits'), dispatchOf('new'))
      const [waits] = await claim(store, epoch)
      await commitOne(store, [{ op: 'park', wait: forMessage, now: NOW }], waits)
      await commitOne(store, [settleAs('done')], fence)
      for (const dispatch_id of ['over', 'waits', 'new'])
        await commitOne(store, [{ op: 'cancel', dispatch_id, how: 'immediate', now: NOW }])
      const found = ['over', 'waits', 'new'].map((id) => statusOf(store, id))
      assert.deepEqual(await Promise.all(found), ['done', 'pending', 'cancelled'])
      await refused('not_found', commitOne(store, [{ op: 'cancel', dispatch_id: 'x', how: 'immediate', now: NOW }]))
    },
  },
  {
    name: 'case 56: paused work is not claimed, with all that was made for it, until it is resumed',
    async run(store) {
      const epoch = await join(store)
      await enqueue(store, dispatchOf('one'))
      await enqueue(store, dispatchOf('child', { parent_id: 'one' }))
      await enqueue(store, dispatchOf('grandchild', { parent_id: 'child' }))
      const pause = async (dispatch_id: string, paused: boolean) => {
        const [members] = await commitOne(store, [{ op: 'pause', dispatch_id, paused, now: NOW }])
        return members.map((member) => member.dispatch_id)
      }
      assert.deepEqual(await pause('one', true), ['one', 'child', 'grandchild'])
      assert.deepEqual(await claim(store, epoch, 9), [])
      assert.deepEqual(await pause('child', false), ['child', 'grandchild'])
      const claimed = await claim(store, epoch, 9)
      assert.deepEqual(
        claimed.map(({ dispatch_id }) => dispatch_id),
        ['child', 'grandchild'],
      )
    },
  },
  {
    name: 'case 67: a deadline wakes, once, and is told as an observation',
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
    name: "a provider's retry is woken by the clock alone",
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
      const resolve = (id: string): Promise<unknown> =>
        commitOne(store, [{ op: 'resolve', unknown_id: id, as: 'happened', now: NOW }])
      await refused('not_found', resolve('u9'))
      await resolve('u1')
      await refused('conflict', resolve('u1'))
      assert.equal(await statusOf(store, 'one'), 'pending')
      const [fresh] = await claim(store, epoch)
      const [{ parked }] = await commitOne(store, [{ op: 'park', wait, now: NOW }], fresh)
      assert.equal(parked, false)
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
  {
    name: 'counts and sessions follow the queue',
    async run(store) {
      const { epoch, fence } = await running(store)
      await enqueue(store, dispatchOf('two'), dispatchOf('three', { at: NOW + 9999 }))
      const sessions = async () =>
        Object.fromEntries((await store.sessions({ limit: 9 })).map((session) => [session.session_id, session.status]))
      assert.deepEqual(await sessions(), {
        'session-one': 'active',
        'session-two': 'active',
        'session-three': 'waiting',
      })
      await commitOne(store, [settleAs('done')], fence)
      await claim(store, epoch)
      assert.deepEqual(await store.counts(), {
        pending: 0,
        running: 1,
        waiting: 1,
        done: 1,
        failed: 0,
        cancelled: 0,
        dead: 0,
      })
      assert.equal((await sessions())['session-one'], 'idle')
      assert.deepEqual(
        (await store.dispatches({ status: 'done', limit: 9 })).map(({ dispatch_id }) => dispatch_id),
        ['one'],
      )
      assert.deepEqual((await store.dispatches({ agent_id: 'nobody', limit: 9 })).length, 0)
    },
  },
  {
    name: 'group commit: what is committed in one turn of the event loop shares a sync',
    async run(store) {
      const epoch = await join(store)
      const ids = Array.from({ length: 64 }, (_, i) => `d${i}`)
      await enqueue(store, ...ids.map((id) => dispatchOf(id)))
      const fences = await claim(store, epoch, 64)
      const before = store.commits()
      await Promise.all(
        fences.map((fence) =>
          commitOne(store, [{ op: 'append', session_id: `session-${fence.dispatch_id}`, records: [record(1)] }], fence),
        ),
      )
      assert.ok(store.commits() - before <= 2, `64 batches took ${store.commits() - before} syncs`)
    },
  },
  {
    name: 'backup: a file of its own, for its owner only, while commits go on; never over a file that is there',
    async run(store) {
      await enqueue(store, dispatchOf('before'))
      const folder = mkdtempSync(`${tmpdir()}/tireless-conformance-`)
      const file = `${folder}/copy`
      try {
        const [{ schema }] = await Promise.all([
          store.backup(file),
          ...Array.from({ length: 20 }, (_, i) => enqueue(store, dispatchOf(`beside-${i}`))),
        ])
        assert.ok(schema > 0)
        assert.equal((await store.counts()).pending, 21)
        assert.deepEqual(readdirSync(folder), ['copy'])
        assert.ok(statSync(file).size > 0)
        assert.equal(statSync(file).mode & 0o077, 0)
        await assert.rejects(store.backup(file), { code: 'conflict' })
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  },
  {
    name: 'E13: a selection is one model per scope, the last one that was chosen, until it is taken back',
    async run(store) {
      const select = (scope: string, model: string | null) =>
        commitOne(store, [{ op: 'select', scope, model, now: NOW }])
      assert.deepEqual(await store.selections(), [])
      await select('default', 'a/1')
      await select('chat c', 'b/1')
      await select('default', 'a/2')
      assert.deepEqual(await store.selections(), [
        { scope: 'chat c', model: 'b/1' },
        { scope: 'default', model: 'a/2' },
      ])
      await select('chat c', null)
      await select('never there', null)
      assert.deepEqual(await store.selections(), [{ scope: 'default', model: 'a/2' }])
    },
  },
  ...factConformance,
  {
    name: 'after close every commit is refused, and closing twice is no error',
    async run(store) {
      await store.close()
      await store.close()
      await refused('store_closed', commitOne(store, [{ op: 'promote', now: NOW }]))
    },
  },
]
