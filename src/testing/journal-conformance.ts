/** Store conformance: fences, batches and the journal. */

import assert from 'node:assert/strict'
import type { JournalRecord } from '../domain/journal-record.ts'
import { commitOne, type Fence, type Op, type Store } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestMessage,
  newTestRecord,
  readStatus,
  settleOp,
  startDispatch,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from './store-test-helpers.ts'

export const journalConformance: readonly ConformanceCase[] = [
  {
    name: 'I3: a batch with a wrong token writes nothing',
    async run(store) {
      const { fence } = await startDispatch(store)
      const append: Op = { op: 'append', session_id: 'session-one', records: [newTestRecord(1)] }
      await assertRefusedWith('store_fenced', commitOne(store, [append], { ...fence, token: fence.token + 1 }))
      await assertRefusedWith('store_fenced', commitOne(store, [append], { ...fence, token: fence.token - 1 }))
      await assertRefusedWith('store_fenced', commitOne(store, [append], { dispatch_id: 'nobody', token: fence.token }))
      assert.deepEqual(await store.journal('session-one'), [])
      await commitOne(store, [append], fence)
      assert.equal((await store.journal('session-one')).length, 1)
    },
  },
  {
    name: 'I3: a fence covers its own session only',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await enqueueInStore(store, newTestDispatch('two'))
      await claimInStore(store, epoch)
      await assertRefusedWith(
        'store_fenced',
        commitOne(store, [{ op: 'append', session_id: 'session-two', records: [newTestRecord(1)] }], fence),
      )
      assert.deepEqual(await store.journal('session-two'), [])
    },
  },
  {
    name: 'claim: a superseded owner cannot commit',
    async run(store) {
      const { fence: stale } = await startDispatch(store)
      const epoch = await joinTestWorker(store, true)
      await commitOne(store, [{ op: 'recover', now: TEST_NOW }])
      const append: Op = { op: 'append', session_id: 'session-one', records: [newTestRecord(1)] }
      await assertRefusedWith('store_fenced', commitOne(store, [append], stale))
      const [fresh] = await claimInStore(store, epoch)
      assert.ok(fresh && fresh.token > stale.token)
      for (const op of [
        append,
        settleOp('done'),
        { op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW },
        { op: 'release', now: TEST_NOW },
      ] as Op[])
        await assertRefusedWith('store_fenced', commitOne(store, [op], stale))
      await commitOne(store, [append], fresh)
    },
  },
  {
    name: 'a refused batch fails alone; the others of the same commit succeed',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await enqueueInStore(store, newTestDispatch('two'))
      const [other] = await claimInStore(store, epoch)
      assert.ok(other)
      const outcomes = await store.commit([
        {
          fence: { ...fence, token: 99 },
          ops: [{ op: 'append', session_id: 'session-one', records: [newTestRecord(1)] }],
        },
        { fence: other, ops: [{ op: 'append', session_id: 'session-two', records: [newTestRecord(1)] }] },
        { fence, ops: [{ op: 'append', session_id: 'session-one', records: [newTestRecord(1)] }] },
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
    name: 'E15: runs that end in one commit end as if each were alone',
    async run(store) {
      const ids = ['plain', 'stale', 'unread', 'logged', 'gap', 'wrong']
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, ...ids.map((id) => newTestDispatch(id)))
      const fences = new Map((await claimInStore(store, epoch, ids.length)).map((each) => [each.dispatch_id, each]))
      const fenceOf = (id: string): Fence => fences.get(id) ?? { dispatch_id: id, token: -1 }
      const observation = newTestMessage('m')
      await commitOne(store, [
        { op: 'publish', session_id: 'session-unread', observation, successor_id: 'x', now: TEST_NOW },
      ])
      const settle = (id: string): Op => settleOp('done', `after-${id}`)
      const append = (session: string, seq: number): Op => ({
        ...{ op: 'append', session_id: `session-${session}`, records: [newTestRecord(seq)] },
      })
      const outcomes = await store.commit([
        { fence: fenceOf('plain'), ops: [settle('plain')] },
        { fence: { ...fenceOf('stale'), token: 99 }, ops: [settle('stale')] },
        { fence: fenceOf('unread'), ops: [settle('unread')] },
        { fence: fenceOf('logged'), ops: [append('logged', 1), settle('logged')] },
        { fence: fenceOf('gap'), ops: [append('gap', 2), settle('gap')] },
        { fence: fenceOf('wrong'), ops: [append('gap', 1), settle('wrong')] },
      ])
      assert.deepEqual(
        outcomes.map((outcome) => (outcome.ok ? outcome.results : outcome.code)),
        [
          [{ successor: null }],
          'store_fenced',
          [{ successor: 'after-unread' }],
          [{ head: 1 }, { successor: null }],
          'store_sequence',
          'store_fenced',
        ],
      )
      assert.deepEqual(await Promise.all(ids.map((id) => readStatus(store, id))), [
        ...['done', 'running', 'done', 'done', 'running', 'running'],
      ])
      assert.equal(await readStatus(store, 'after-unread'), 'pending')
      assert.deepEqual([(await store.counts()).done, (await store.counts()).running], [3, 3])
    },
  },
  {
    name: 'a batch is atomic: a refused op undoes earlier ops',
    async run(store) {
      const { fence } = await startDispatch(store)
      const ops: Op[] = [
        { op: 'append', session_id: 'session-one', records: [newTestRecord(1)] },
        { op: 'append', session_id: 'session-one', records: [newTestRecord(7)] },
      ]
      await assertRefusedWith('store_sequence', commitOne(store, ops, fence))
      assert.deepEqual(await store.journal('session-one'), [])
    },
  },
  {
    name: 'case 94: a repeated sequence number or a gap is refused',
    async run(store) {
      const { fence } = await startDispatch(store)
      const append = (...records: JournalRecord[]): Promise<unknown> =>
        commitOne(store, [{ op: 'append', session_id: 'session-one', records }], fence)
      await append(newTestRecord(1), newTestRecord(2))
      await assertRefusedWith('store_sequence', append(newTestRecord(2)))
      await assertRefusedWith('store_sequence', append(newTestRecord(4)))
      await assertRefusedWith('store_sequence', append(newTestRecord(3), newTestRecord(3)))
      await append(newTestRecord(3))
      assert.deepEqual(
        (await store.journal('session-one', 2)).map(({ seq }) => seq),
        [2, 3],
      )
    },
  },
  {
    name: 'E15: followed from place to place, the entries of all journals come once, those of a session in order',
    async run(store) {
      const { epoch, fence } = await startDispatch(store)
      await enqueueInStore(store, newTestDispatch('two'))
      const [other] = await claimInStore(store, epoch)
      assert.ok(other)
      await append(store, fence, 'session-one', 1)
      let place = await store.journalEnd()
      assert.deepEqual((await store.journalAfter(place, 10)).entries, [])
      await append(store, fence, 'session-one', 2, 3)
      await append(store, other, 'session-two', 1)
      await append(store, fence, 'session-one', 4)
      const found: string[] = []
      for (let isEnd = false; !isEnd; ) {
        const read = await store.journalAfter(place, 2)
        found.push(...read.entries.map(({ session_id, records }) => `${session_id} ${records.map(({ seq }) => seq)}`))
        ;({ place, isEnd } = read)
      }
      assert.deepEqual(found, ['session-one 2,3', 'session-two 1', 'session-one 4'])
      assert.deepEqual((await store.journalAfter(place, 2)).entries, [])
    },
  },
]

const append = (store: Store, fence: Fence, session_id: string, ...seqs: readonly number[]): Promise<unknown> =>
  commitOne(store, [{ op: 'append', session_id, records: seqs.map((seq) => newTestRecord(seq)) }], fence)
