/** What every store must show of its outbox; part of the store's conformance suite. */

import assert from 'node:assert/strict'
import type { NewMessage, Posted } from '../domain/message.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import { type ConformanceCase, NOW, refused } from './store-cases.ts'

const REMEMBERED = 1000

const messageOf = (id: string, more: Partial<NewMessage> = {}): NewMessage => ({
  id,
  ...{ channel: 'webhook', chat_id: null, kind: 'notice', text: `text of ${id}` },
  ...more,
})

const post = (store: Store, id: string, more: Partial<NewMessage> = {}, due = NOW): Promise<{ duplicate: boolean }> =>
  commitOne(store, [{ op: 'post', message: messageOf(id, more), due, now: NOW }]).then(([posted]) => posted)

const delivered = (store: Store, id: string, now = NOW + 5) => commitOne(store, [{ op: 'delivered', id, now }])

const undelivered = (store: Store, id: string, retry_at: number | null) =>
  commitOne(store, [{ op: 'undelivered', id, error: 'nobody there', retry_at }])

const ids = (found: readonly Posted[]): string[] => found.map(({ id }) => id)

const only = async (store: Store, id: string): Promise<Posted | undefined> =>
  (await store.outbox({ limit: 9999 })).find((one) => one.id === id)

export const outboxConformance: readonly ConformanceCase[] = [
  {
    name: 'E12: a message is posted once per id, and is as it was posted',
    async run(store) {
      assert.deepEqual(await post(store, 'm1', { chat_id: 'c', kind: 'alert' }), { duplicate: false })
      assert.deepEqual(await post(store, 'm1', { text: 'another' }), { duplicate: true })
      const at = new Date(NOW).toISOString()
      assert.deepEqual(await store.outbox({ limit: 9 }), [
        {
          ...messageOf('m1', { chat_id: 'c', kind: 'alert' }),
          ...{ ts: at, due: at, status: 'pending', attempts: 0, sent_at: null, error: null },
        },
      ])
    },
  },
  {
    name: 'E12: what is due is each channel’s first, by its instant, then by its posting; what is sent is due no more',
    async run(store) {
      await post(store, 'later', {}, NOW + 100)
      await post(store, 'first')
      await post(store, 'second')
      await post(store, 'other', { channel: 'console' }, NOW + 1)
      assert.deepEqual(ids(await store.dueMessages(NOW)), ['first'])
      assert.deepEqual(ids(await store.dueMessages(NOW + 1)), ['first', 'other'])
      assert.equal(await store.nextMessage(NOW), NOW + 1)
      assert.equal(await store.nextMessage(NOW + 1), NOW + 100)
      await delivered(store, 'first')
      assert.deepEqual(ids(await store.dueMessages(NOW)), ['second'])
      await delivered(store, 'second')
      await delivered(store, 'later')
      await delivered(store, 'other')
      assert.deepEqual(await store.dueMessages(NOW + 999), [])
      assert.equal(await store.nextMessage(0), undefined)
    },
  },
  {
    name: 'E12: one that nobody took is due again when it is said, or given up; each try is counted; what is over stays',
    async run(store) {
      await post(store, 'm1')
      await undelivered(store, 'm1', NOW + 50)
      const again = await only(store, 'm1')
      assert.deepEqual([again?.status, again?.attempts, again?.error], ['pending', 1, 'nobody there'])
      assert.deepEqual(await store.dueMessages(NOW + 49), [])
      assert.deepEqual(ids(await store.dueMessages(NOW + 50)), ['m1'])
      await undelivered(store, 'm1', null)
      await delivered(store, 'm1')
      const over = await only(store, 'm1')
      assert.deepEqual([over?.status, over?.attempts, over?.sent_at], ['failed', 2, null])
      await post(store, 'm2')
      await undelivered(store, 'm2', NOW + 1)
      await delivered(store, 'm2', NOW + 7)
      await undelivered(store, 'm2', NOW + 9)
      const sent = await only(store, 'm2')
      assert.deepEqual([sent?.status, sent?.attempts, sent?.error], ['sent', 2, null])
      assert.equal(sent?.sent_at, new Date(NOW + 7).toISOString())
      await refused('not_found', delivered(store, 'nobody'))
      await refused('not_found', undelivered(store, 'nobody', null))
    },
  },
  {
    name: 'E12: the outbox by channel and status, newest first; each channel at a glance',
    async run(store) {
      for (const id of ['m1', 'm2', 'm3']) await post(store, id)
      await post(store, 'm4', { channel: 'console' })
      await delivered(store, 'm1', NOW + 7)
      await undelivered(store, 'm2', null)
      assert.deepEqual(ids(await store.outbox({ limit: 2 })), ['m4', 'm3'])
      assert.deepEqual(ids(await store.outbox({ channel: 'webhook', status: 'pending', limit: 9 })), ['m3'])
      assert.deepEqual(await store.deliveries(), [
        { channel: 'console', pending: 1, failed: 0, last_sent_at: null, last_error: null },
        {
          ...{ channel: 'webhook', pending: 1, failed: 1 },
          ...{ last_sent_at: new Date(NOW + 7).toISOString(), last_error: 'nobody there' },
        },
      ])
    },
  },
  {
    name: 'case 142: of the messages that are over only so many are kept; one that is pending is never dropped',
    async run(store) {
      await post(store, 'pending')
      const sent = Array.from({ length: REMEMBERED + 5 }, (_, n) => `m${n}`).flatMap((id): Op[] => [
        { op: 'post', message: messageOf(id), due: NOW, now: NOW },
        { op: 'delivered', id, now: NOW },
      ])
      await commitOne(store, sent)
      await post(store, 'last')
      const left = ids(await store.outbox({ limit: 9999 }))
      assert.equal(left.length, REMEMBERED + 2)
      assert.deepEqual([left[0], left.at(-1)], ['last', 'pending'])
      assert.ok(!left.includes('m4') && left.includes('m5'))
    },
  },
  {
    name: 'a word that comes in by a channel is acted on once; what would come of it a second time is refused with it',
    async run(store) {
      const hear = (channel: string, value: number, now = NOW) =>
        commitOne(store, [
          { op: 'hear', channel, message_id: 'm', now },
          { op: 'set', name: 'word', value },
        ])
      await hear('webhook', 1)
      await refused('conflict', hear('webhook', 2))
      await refused('conflict', hear('webhook', 2, NOW + 29 * 86_400_000))
      assert.equal(await store.setting('word'), 1)
      await hear('lark', 3)
      await hear('webhook', 4, NOW + 31 * 86_400_000)
      assert.equal(await store.setting('word'), 4)
    },
  },
]
