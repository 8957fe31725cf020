/** Store conformance: fences, batches and the journal. */

import assert from 'node:assert/strict'
import type { JournalRecord } from '../domain/record.ts'
import { commitOne, type Op } from '../ports/store.ts'
import {
  type ConformanceCase,
  claim,
  dispatchOf,
  enqueue,
  forMessage,
  join,
  NOW,
  record,
  refused,
  running,
  settleAs,
} from './store-cases.ts'

export const journalConformance: readonly ConformanceCase[] = [
  {
    name: 'I3: a batch with a wrong token writes nothing',
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
    name: 'claim: a superseded owner cannot commit',
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
    name: 'a refused batch fails alone; the others of the same commit succeed',
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
    name: 'a batch is atomic: a refused op undoes earlier ops',
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
    name: 'case 94: a repeated sequence number or a gap is refused',
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
]
