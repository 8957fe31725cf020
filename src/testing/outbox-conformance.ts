/** Store conformance: the outbox. */

import assert from 'node:assert/strict'
import type { NewChannelMessage, OutboxMessage } from '../domain/message.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import { assertRefusedWith, type ConformanceCase, TEST_NOW } from './store-test-helpers.ts'

const KEPT_MESSAGES = 1000

const newMessage = (id: string, more: Partial<NewChannelMessage> = {}): NewChannelMessage => ({
  id,
  ...{ channel: 'webhook', chat_id: null, kind: 'notice', text: `text of ${id}` },
  ...more,
})

const post = (
  store: Store,
  id: string,
  more: Partial<NewChannelMessage> = {},
  due = TEST_NOW,
): Promise<{ duplicate: boolean }> =>
  commitOne(store, [{ op: 'post', message: newMessage(id, more), due, now: TEST_NOW }]).then(([posted]) => posted)

const markDelivered = (store: Store, id: string, now = TEST_NOW + 5) => commitOne(store, [{ op: 'delivered', id, now }])

const markUndelivered = (store: Store, id: string, retry_at: number | null) =>
  commitOne(store, [{ op: 'undelivered', id, error: 'no receiver', retry_at }])

const ids = (found: readonly OutboxMessage[]): string[] => found.map(({ id }) => id)

const findMessage = async (store: Store, id: string): Promise<OutboxMessage | undefined> =>
  (await store.outbox({ limit: 9999 })).find((one) => one.id === id)

export const outboxConformance: readonly ConformanceCase[] = [
  {
    name: 'E12: a message is posted once per id and stored unchanged',
    async run(store) {
      assert.deepEqual(await post(store, 'm1', { chat_id: 'c', kind: 'alert' }), { duplicate: false })
      assert.deepEqual(await post(store, 'm1', { text: 'another' }), { duplicate: true })
      const at = new Date(TEST_NOW).toISOString()
      assert.deepEqual(await store.outbox({ limit: 9 }), [
        {
          ...newMessage('m1', { chat_id: 'c', kind: 'alert' }),
          ...{ ts: at, due: at, status: 'pending', attempts: 0, sent_at: null, error: null },
        },
      ])
    },
  },
  {
    name: 'E12: dueMessages returns the first pending message of each channel, by due time, then by order',
    async run(store) {
      await post(store, 'later', {}, TEST_NOW + 100)
      await post(store, 'first')
      await post(store, 'second')
      await post(store, 'other', { channel: 'console' }, TEST_NOW + 1)
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW)), ['first'])
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW + 1)), ['first', 'other'])
      assert.equal(await store.nextMessageDue(TEST_NOW), TEST_NOW + 1)
      assert.equal(await store.nextMessageDue(TEST_NOW + 1), TEST_NOW + 100)
      await markDelivered(store, 'first')
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW)), ['second'])
      await markDelivered(store, 'second')
      await markDelivered(store, 'later')
      await markDelivered(store, 'other')
      assert.deepEqual(await store.dueMessages(TEST_NOW + 999), [])
      assert.equal(await store.nextMessageDue(0), undefined)
    },
  },
  {
    name: 'E12: an undelivered message is retried at its time or fails; attempts are counted',
    async run(store) {
      await post(store, 'm1')
      await markUndelivered(store, 'm1', TEST_NOW + 50)
      const again = await findMessage(store, 'm1')
      assert.deepEqual(
        { status: again?.status, attempts: again?.attempts, error: again?.error },
        { status: 'pending', attempts: 1, error: 'no receiver' },
      )
      assert.deepEqual(await store.dueMessages(TEST_NOW + 49), [])
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW + 50)), ['m1'])
      await markUndelivered(store, 'm1', null)
      await markDelivered(store, 'm1')
      const ended = await findMessage(store, 'm1')
      assert.deepEqual(
        { status: ended?.status, attempts: ended?.attempts, sent_at: ended?.sent_at },
        { status: 'failed', attempts: 2, sent_at: null },
      )
      await post(store, 'm2')
      await markUndelivered(store, 'm2', TEST_NOW + 1)
      await markDelivered(store, 'm2', TEST_NOW + 7)
      await markUndelivered(store, 'm2', TEST_NOW + 9)
      const sent = await findMessage(store, 'm2')
      assert.deepEqual(
        { status: sent?.status, attempts: sent?.attempts, error: sent?.error },
        { status: 'sent', attempts: 2, error: null },
      )
      assert.equal(sent?.sent_at, new Date(TEST_NOW + 7).toISOString())
      await assertRefusedWith('not_found', markDelivered(store, 'nobody'))
      await assertRefusedWith('not_found', markUndelivered(store, 'nobody', null))
    },
  },
  {
    name: 'E12: a retracted message is gone if it was not sent yet',
    async run(store) {
      await post(store, 'm1')
      await post(store, 'm2')
      await markDelivered(store, 'm2')
      await commitOne(store, [
        { op: 'retract', id: 'm1' },
        { op: 'retract', id: 'm2' },
        { op: 'retract', id: 'nobody' },
      ])
      assert.equal(await findMessage(store, 'm1'), undefined)
      assert.equal((await findMessage(store, 'm2'))?.status, 'sent')
    },
  },
  {
    name: 'E12: the outbox filters by channel and status, newest first; deliveries summarize each channel',
    async run(store) {
      for (const id of ['m1', 'm2', 'm3']) await post(store, id)
      await post(store, 'm4', { channel: 'console' })
      await markDelivered(store, 'm1', TEST_NOW + 7)
      await markUndelivered(store, 'm2', null)
      assert.deepEqual(ids(await store.outbox({ limit: 2 })), ['m4', 'm3'])
      assert.deepEqual(ids(await store.outbox({ channel: 'webhook', status: 'pending', limit: 9 })), ['m3'])
      assert.deepEqual(await store.deliveries(), [
        { channel: 'console', pending: 1, failed: 0, last_sent_at: null, last_error: null },
        {
          ...{ channel: 'webhook', pending: 1, failed: 1 },
          ...{ last_sent_at: new Date(TEST_NOW + 7).toISOString(), last_error: 'no receiver' },
        },
      ])
    },
  },
  {
    name: 'case 142: finished messages are kept up to a limit; pending ones are never dropped',
    async run(store) {
      await post(store, 'pending')
      const sent = Array.from({ length: KEPT_MESSAGES + 5 }, (_, n) => `m${n}`).flatMap((id): Op[] => [
        { op: 'post', message: newMessage(id), due: TEST_NOW, now: TEST_NOW },
        { op: 'delivered', id, now: TEST_NOW },
      ])
      await commitOne(store, sent)
      await post(store, 'last')
      const remaining = ids(await store.outbox({ limit: 9999 }))
      assert.equal(remaining.length, KEPT_MESSAGES + 2)
      assert.deepEqual({ first: remaining[0], last: remaining.at(-1) }, { first: 'last', last: 'pending' })
      assert.ok(!remaining.includes('m4') && remaining.includes('m5'))
    },
  },
  {
    name: 'an incoming message is processed once; a repetition refuses its whole batch',
    async run(store) {
      const processIncoming = (channel: string, value: number, now = TEST_NOW) =>
        commitOne(store, [
          { op: 'hear', channel, message_id: 'm', now },
          { op: 'set', name: 'last message', value },
        ])
      await processIncoming('webhook', 1)
      await assertRefusedWith('conflict', processIncoming('webhook', 2))
      await assertRefusedWith('conflict', processIncoming('webhook', 2, TEST_NOW + 29 * 86_400_000))
      assert.equal(await store.setting('last message'), 1)
      await processIncoming('lark', 3)
      await processIncoming('webhook', 4, TEST_NOW + 31 * 86_400_000)
      assert.equal(await store.setting('last message'), 4)
    },
  },
]
