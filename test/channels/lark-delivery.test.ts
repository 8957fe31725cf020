/** The outbox to Lark: bursts under rate limits, and processes that die between sending and recording. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/store.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { Deliverer } from '../../src/kernel/notify/deliverer.ts'
import { commitOne, type Op, type Store } from '../../src/ports/store.ts'
import { channelTo } from '../support/lark-channels.ts'
import type { LarkServerOptions } from '../support/lark-server/state.ts'
import { type LarkServer, startLarkServer } from '../support/lark-server.ts'
import { freshFolder } from '../support/open-app.ts'

const never = new AbortController().signal

interface Scene {
  readonly lark: LarkServer
  readonly store: Store
  post(id: string, chat_id: string, thread_id?: string): Promise<void>
  /** A deliverer as a new process has it; `dies`: its store fails at this operation. */
  deliverer(dies?: (op: Op) => boolean): Deliverer
}

async function openScene(t: TestContext, options: LarkServerOptions = {}): Promise<Scene> {
  const lark = await startLarkServer(t, options)
  const store = await openSqliteStore({ file: join(freshFolder(t), 'db'), clock: systemClock, writes: 'here' })
  t.after(() => store.close())
  const commit =
    (dies: (op: Op) => boolean): Store['commit'] =>
    async (batches) => {
      if (batches.some(({ ops }) => ops.some(dies))) throw new TirelessError('store_failed', 'killed')
      return store.commit(batches)
    }
  return {
    ...{ lark, store },
    deliverer(dies = () => false) {
      const channels = new Map([['lark', channelTo(lark).channel]])
      return new Deliverer({ store: { ...store, commit: commit(dies) }, clock: systemClock, channels, log: () => {} })
    },
    async post(id, chat_id, thread_id) {
      const place = { chat_id, ...(thread_id === undefined ? {} : { thread_id }) }
      const message = { id, channel: 'lark', kind: 'reply', text: id, ...place } as const
      await commitOne(store, [{ op: 'post', message, due: 0, now: systemClock.now() }])
    },
  }
}

const isWaiting = async ({ store }: Scene): Promise<boolean> =>
  (await store.outbox({ status: 'pending', limit: 1 })).length > 0

test('E16: 1,000 messages under rate limits arrive once each, in the order of their thread', async (t) => {
  const scene = await openScene(t, { limits: { chat: 70, app: 150, restMs: 200 } })
  const { lark, post, deliverer } = scene
  lark.chats.add('oc_second')
  const channel = channelTo(lark).channel
  const root = String(
    await channel.deliver({ id: 'root', chat_id: 'oc_home', kind: 'reply', text: 'root', ts: '' }, never),
  )
  const places = [['oc_home'], ['oc_home', root], ['oc_group'], ['oc_second']] as const
  for (let at = 0; at < 1000; at += 1) {
    const [chat, thread] = places[at % 4] ?? assert.fail()
    await post(`${at % 4}-${at}`, chat, thread)
  }
  const running = deliverer()
  while (await isWaiting(scene)) await running.deliverDue(never)
  const texts = lark.sentTexts().slice(1)
  assert.equal(new Set(texts).size, 1000)
  for (const place of ['0', '1', '2', '3']) {
    const order = texts.filter((text) => text.startsWith(`${place}-`)).map((text) => Number(text.slice(2)))
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    )
    assert.equal(order.length, 250)
  }
  const refused = lark.requestsTo(/messages/).length - 1001
  assert.ok(refused > 0, 'the limits were reached')
})

test('E16: a process that dies after sending shows nothing twice: the next one sends under the same key', async (t) => {
  const scene = await openScene(t)
  const { lark, post, deliverer } = scene
  for (const id of ['a', 'b', 'c']) await post(id, 'oc_home')
  for (let life = 0; life < 3; life += 1)
    await assert.rejects(deliverer(({ op }) => op === 'delivered').deliverDue(never), { code: 'store_failed' })
  await deliverer().deliverDue(never)
  assert.deepEqual(lark.sentTexts(), ['a', 'b', 'c'])
  assert.equal(lark.requestsTo(/messages$/).length, 6)
  assert.equal(await isWaiting(scene), false)
})
