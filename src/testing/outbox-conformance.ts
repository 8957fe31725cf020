/** Store conformance: the outbox. */

import assert from 'node:assert/strict'
import type { Card, NewChannelMessage, OutboxMessage } from '../domain/message.ts'
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

const newCard = (text: string): Card => ({
  title: 'waiting',
  items: [{ id: 'i1', text, actions: [{ label: 'Allow', command: '/allow i1', style: 'primary' }] }],
})

const markDelivered = (store: Store, id: string, now = TEST_NOW + 5) => commitOne(store, [{ op: 'delivered', id, now }])

const markUndelivered = (store: Store, id: string, retry_at: number | null) =>
  commitOne(store, [{ op: 'undelivered', id, error: 'no receiver', retry_at }])

const ids = (found: readonly OutboxMessage[]): string[] => found.map(({ id }) => id)

const findMessage = async (store: Store, id: string): Promise<OutboxMessage | undefined> =>
  (await store.outbox({ limit: 9999 })).find((one) => one.id === id)

const revise = (store: Store, id: string, text: string, due = TEST_NOW) =>
  commitOne(store, [{ op: 'revise', id, text, card: newCard(text), due }])

const threadConformance: readonly ConformanceCase[] = [
  {
    name: 'E12: a message being retried holds back the later ones of its thread, and no others',
    async run(store) {
      await post(store, 'a1', { chat_id: 'a' })
      await post(store, 'a2', { chat_id: 'a' })
      await post(store, 'a3', { chat_id: 'a', thread_id: 't' })
      await post(store, 'b1', { chat_id: 'b' })
      await markUndelivered(store, 'a1', TEST_NOW + 50)
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW)), ['a3'])
      await markDelivered(store, 'a3')
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW)), ['b1'])
      await markDelivered(store, 'b1')
      assert.deepEqual(await store.dueMessages(TEST_NOW + 49), [])
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW + 50)), ['a1'])
      await markUndelivered(store, 'a1', null)
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW + 50)), ['a2'])
    },
  },
  {
    name: 'E12: a message that is not due yet and was not tried holds back none',
    async run(store) {
      await post(store, 'morning', {}, TEST_NOW + 100)
      await post(store, 'alert')
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW)), ['alert'])
      await markDelivered(store, 'alert')
      await post(store, 'breakfast', {}, TEST_NOW + 101)
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW + 200)), ['morning'])
    },
  },
  {
    name: 'E12: a postponed message keeps its place; the wait is no attempt',
    async run(store) {
      await post(store, 'm1')
      await post(store, 'm2')
      await commitOne(store, [{ op: 'postpone', id: 'm1', error: 'too many', retry_at: TEST_NOW + 50 }])
      assert.deepEqual(await store.dueMessages(TEST_NOW + 49), [])
      assert.equal(await store.nextMessageDue(TEST_NOW), TEST_NOW + 50)
      const [first] = await store.dueMessages(TEST_NOW + 50)
      assert.deepEqual([first?.id, first?.attempts, first?.error], ['m1', 0, 'too many'])
    },
  },
  {
    name: 'E12: a message of which a part was sent goes on before the others of its thread',
    async run(store) {
      await post(store, 'm1', {}, TEST_NOW + 1)
      await post(store, 'm2')
      await commitOne(store, [{ op: 'part_sent', id: 'm1', revision: 0, parts: 2, provider_id: 'p1' }])
      const [first] = await store.dueMessages(TEST_NOW + 1)
      assert.deepEqual([first?.id, first?.parts_sent, first?.provider_id], ['m1', 2, 'p1'])
      await markDelivered(store, 'm1')
      assert.deepEqual((await findMessage(store, 'm1'))?.provider_id, 'p1')
      assert.deepEqual(ids(await store.dueMessages(TEST_NOW + 1)), ['m2'])
      const unknown = { op: 'part_sent', id: 'nobody', revision: 0, parts: 1, provider_id: null } as const
      await assertRefusedWith('not_found', commitOne(store, [unknown]))
    },
  },
]

const revisionConformance: readonly ConformanceCase[] = [
  {
    name: 'E12: a revised message is sent in its new version, in the place of the old one if that was sent',
    async run(store) {
      await post(store, 'm1', { card: newCard('one') })
      await revise(store, 'm1', 'two')
      await commitOne(store, [{ op: 'delivered', id: 'm1', now: TEST_NOW, revision: 1, provider_id: 'p1' }])
      assert.deepEqual(await store.dueMessages(TEST_NOW), [])
      await revise(store, 'm1', 'three', TEST_NOW + 5)
      await revise(store, 'm1', 'three', TEST_NOW)
      assert.deepEqual(await store.dueMessages(TEST_NOW + 4), [])
      const [again] = await store.dueMessages(TEST_NOW + 5)
      assert.deepEqual([again?.text, again?.card, again?.provider_id], ['three', newCard('three'), 'p1'])
      assert.deepEqual([again?.revision, again?.attempts], [3, 0])
    },
  },
  {
    name: 'E12: a revision that comes while the message is delivered is sent afterwards',
    async run(store) {
      for (const id of ['m1', 'm2']) {
        await post(store, id)
        await revise(store, id, 'two')
      }
      await commitOne(store, [{ op: 'delivered', id: 'm1', now: TEST_NOW, revision: 0, provider_id: 'p1' }])
      const [again] = await store.dueMessages(TEST_NOW)
      assert.deepEqual([again?.id, again?.text, again?.provider_id], ['m1', 'two', 'p1'])
      await commitOne(store, [{ op: 'undelivered', id: 'm2', error: 'no', retry_at: null, revision: 0 }])
      assert.equal((await findMessage(store, 'm2'))?.status, 'pending')
      await commitOne(store, [{ op: 'retract', id: 'm1' }])
      assert.equal((await findMessage(store, 'm1'))?.status, 'sent')
    },
  },
  {
    name: 'E12: a message that failed, is unknown or cannot be replaced is not revised',
    async run(store) {
      await post(store, 'm1')
      await markDelivered(store, 'm1')
      await post(store, 'm2')
      await markUndelivered(store, 'm2', null)
      for (const id of ['m1', 'm2', 'nobody']) await assertRefusedWith('conflict', revise(store, id, 'two'))
      assert.deepEqual(await store.dueMessages(TEST_NOW), [])
    },
  },
]

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
          ...{ parts_sent: 0, revision: 0, provider_id: null },
        },
      ])
    },
  },
  {
    name: 'E12: thread, card and files of a message are stored unchanged; what is not a card is refused',
    async run(store) {
      const more = { thread_id: 't', card: newCard('allow it?'), files: [{ name: '报告.md', path: '/w/报告.md' }] }
      await post(store, 'm1', more)
      const { thread_id, card, files } = (await findMessage(store, 'm1')) ?? {}
      assert.deepEqual({ thread_id, card, files }, more)
      await assertRefusedWith('store_invalid', post(store, 'm2', { card: { title: 'x', items: [{}] } as never }))
      await assertRefusedWith('store_invalid', post(store, 'm2', { files: [{ name: 'x' }] as never }))
      assert.equal(await findMessage(store, 'm2'), undefined)
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
  ...threadConformance,
  ...revisionConformance,
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
