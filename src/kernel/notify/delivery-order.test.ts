import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { checkFile } from '../../adapters/channels/check-file.ts'
import { openSqliteStore } from '../../adapters/stores/sqlite/store.ts'
import { TirelessError } from '../../domain/error.ts'
import type { ChannelMessage, NewChannelMessage } from '../../domain/message.ts'
import type { Channel } from '../../ports/channel.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { Deliverer } from './deliverer.ts'

const never = new AbortController().signal

interface Scene {
  readonly store: Store
  readonly clock: FakeClock
  readonly folder: string
  readonly got: ChannelMessage[]
  /** A deliverer as a new process has it; `dies`: its writes fail from the first operation that this names. */
  deliverer(channel: Partial<Channel>, dies?: (op: Op) => boolean): Deliverer
  post(id: string, more?: Partial<NewChannelMessage>): Promise<void>
}

async function openScene(t: TestContext): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'tireless-order-'))
  const clock = new FakeClock()
  const store = await openSqliteStore({ file: join(folder, 'db'), clock, writes: 'here' })
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const got: ChannelMessage[] = []
  const dying = (dies: (op: Op) => boolean): Store => ({
    ...store,
    commit: async (batches) => {
      if (batches.some(({ ops }) => ops.some(dies))) throw new TirelessError('store_failed', 'killed')
      return store.commit(batches)
    },
  })
  return {
    ...{ store, clock, folder, got },
    deliverer(channel, dies = () => false) {
      const deliver: Channel['deliver'] = async (message) => void got.push(message)
      const channels = new Map([['chat', { name: 'chat', trouble: () => null, deliver, ...channel }]])
      return new Deliverer({ store: dying(dies), clock, channels, checkFile, log: () => {} })
    },
    async post(id, more = {}) {
      const message = { id, channel: 'chat', chat_id: null, kind: 'reply', text: id, ...more } as const
      await commitOne(store, [{ op: 'post', message, due: clock.now(), now: clock.now() }])
    },
  }
}

describe('E12: parts of a message', () => {
  test('a long text leaves in parts, each with an id of its own', async (t) => {
    const { deliverer, post, got, store } = await openScene(t)
    await post('m1', { text: 'first paragraph\n\nsecond paragraph\n\nthird paragraph', thread_id: 't' })
    await deliverer({ maxText: 20 }).deliverDue(never)
    const expected = [
      ['m1', 'first paragraph', 't'],
      ['m1.2', 'second paragraph', 't'],
      ['m1.3', 'third paragraph', 't'],
    ]
    assert.deepEqual(
      got.map(({ id, text, thread_id }) => [id, text, thread_id]),
      expected,
    )
    assert.equal((await store.outbox({ limit: 1 }))[0]?.status, 'sent')
  })

  test('a kill between accepted and recorded repeats that part only, under the same id', async (t) => {
    const { deliverer, post, got } = await openScene(t)
    await post('m1', { text: 'first paragraph\n\nsecond paragraph\n\nthird paragraph' })
    const dies = (op: Op): boolean => op.op === 'part_sent' && op.parts === 2
    await assert.rejects(deliverer({ maxText: 20 }, dies).deliverDue(never), { code: 'store_failed' })
    await deliverer({ maxText: 20 }).deliverDue(never)
    const repeated = got.filter(({ id }) => id === 'm1.2')
    assert.deepEqual(
      got.map(({ id }) => id),
      ['m1', 'm1.2', 'm1.2', 'm1.3'],
    )
    assert.deepEqual(repeated[0], repeated[1])
  })

  test('files follow the text; one that is gone, too large or elsewhere is told in words', async (t) => {
    const { deliverer, post, got, folder, store } = await openScene(t)
    const [root, secret] = [mkdtempSync(join(folder, 'w')), join(folder, 'secret')]
    writeFileSync(join(root, 'a.md'), 'a')
    writeFileSync(join(root, 'big.bin'), Buffer.alloc(31 * 1024 * 1024))
    writeFileSync(secret, 'x')
    const files = ['a.md', 'gone.md', 'big.bin', '../secret'].map((name) => ({ name, path: join(root, name), root }))
    await post('m1', { text: '完成了', files })
    await deliverer({ sendsFiles: true }).deliverDue(never)
    assert.deepEqual(
      got.map(({ id, text, file }) => [id, text, file?.name]),
      [
        ['m1', '完成了', undefined],
        ['m1.2', '', 'a.md'],
        ['m1.3', '文件 gone.md 已不存在，无法发送。', undefined],
        ['m1.4', '文件 big.bin 太大，无法在此发送。它在工作区中。', undefined],
        ['m1.5', '文件 ../secret 没有发送：它指向工作区之外。', undefined],
      ],
    )
    assert.equal((await store.outbox({ limit: 1 }))[0]?.status, 'sent')
  })

  test('a file that the channel refuses is told in words, and the message is sent', async (t) => {
    const { deliverer, post, got, folder, store } = await openScene(t)
    writeFileSync(join(folder, 'a.md'), '')
    await post('m1', { text: 'done', files: [{ name: 'a.md', path: join(folder, 'a.md') }] })
    const deliver: Channel['deliver'] = async (message) => {
      if (message.file) throw new TirelessError('channel_refused', 'an empty file')
      got.push(message)
    }
    await deliverer({ sendsFiles: true, deliver }).deliverDue(never)
    const texts = got.map(({ id, text }) => [id, text])
    assert.deepEqual(texts, [
      ['m1', 'done'],
      ['m1.2', 'The file a.md was not accepted here. It is in the workspace.'],
    ])
    assert.equal((await store.outbox({ limit: 1 }))[0]?.status, 'sent')
  })

  test('a channel without files names those that the text does not mention', async (t) => {
    const { deliverer, post, got } = await openScene(t)
    const files = ['a.md', 'b.md'].map((name) => ({ name, path: `/w/${name}` }))
    await post('m1', { text: 'Done: [a.md](/w/a.md)', files })
    await deliverer({}).deliverDue(never)
    assert.deepEqual(
      got.map(({ text, file }) => [text, file]),
      [['Done: [a.md](/w/a.md)\n\nFiles: b.md', undefined]],
    )
  })
})

describe('E12: versions of a message', () => {
  const card = (text: string) => ({ title: 'waiting', items: [{ id: 'i', text, actions: [] }] })

  test('a new version replaces the one before; what is no id of the receiver is ignored', async (t) => {
    const { deliverer, post, got, store, clock } = await openScene(t)
    await post('m1', { card: card('one') })
    await post('m2', { card: card('one') })
    const returned: unknown[] = ['p1', { id: 'p2' }, 'p1']
    const deliver: Channel['deliver'] = async (message) => {
      got.push(message)
      return returned.shift()
    }
    const deliverers = deliverer({ replaces: true, deliver })
    await deliverers.deliverDue(never)
    const revise = (id: string) =>
      commitOne(store, [{ op: 'revise', id, text: 'two', card: card('two'), due: clock.now() }])
    await revise('m1')
    await assert.rejects(revise('m2'), { code: 'conflict' })
    await deliverers.deliverDue(never)
    assert.deepEqual(
      got.map(({ id, replaces, text }) => [id, replaces, text]),
      [
        ['m1', undefined, 'm1'],
        ['m2', undefined, 'm2'],
        ['m1.v2', 'p1', 'two'],
      ],
    )
  })

  test('a version that comes after a kill is shown, although the receiver knows the id of the first one', async (t) => {
    const { deliverer, post, store, clock } = await openScene(t)
    await post('m1', { card: card('one') })
    // A receiver that ignores an id it knows, and gives the id of the message that is there.
    const shown = new Map<string, string>()
    const deliver: Channel['deliver'] = async ({ id, text, replaces }) => {
      if (replaces !== undefined || !shown.has(id)) shown.set(replaces ?? id, text)
      return replaces ?? id
    }
    const channel = { replaces: true, deliver }
    await assert.rejects(deliverer(channel, ({ op }) => op === 'delivered').deliverDue(never))
    await commitOne(store, [{ op: 'revise', id: 'm1', text: 'two', card: card('two'), due: clock.now() }])
    await deliverer(channel).deliverDue(never)
    assert.deepEqual([...shown], [['m1', 'two']])
    assert.deepEqual(await store.dueMessages(clock.now()), [])
  })
})

describe('E12: channels that cannot replace, or are in trouble for a moment', () => {
  const card = { title: 'waiting', items: [] }
  test('a version that comes after the first has an id of its own, and all its attempts', async (t) => {
    const { deliverer, post, got, store, clock } = await openScene(t)
    await post('m1', { card })
    const deliver: Channel['deliver'] = async (message) => {
      got.push(message)
      throw new TirelessError('channel_unavailable', 'no connection')
    }
    await deliverer({ deliver }).deliverDue(never)
    await commitOne(store, [{ op: 'revise', id: 'm1', text: 'two', card, due: clock.now() }])
    assert.equal((await store.outbox({ limit: 1 }))[0]?.attempts, 0)
    await clock.advance(5000)
    await deliverer({}).deliverDue(never)
    assert.deepEqual(
      got.map(({ id }) => id),
      ['m1', 'm1.v2'],
    )
  })

  test('trouble that passes fails no message', async (t) => {
    const { deliverer, post, got, clock } = await openScene(t)
    await post('m1')
    await deliverer({ trouble: () => 'the key is missing' }).deliverDue(never)
    await clock.advance(5000)
    await deliverer({}).deliverDue(never)
    assert.equal(got.length, 1)
  })
})

describe('E12: rate limits', () => {
  test('a limit is no attempt, however often it comes', async (t) => {
    const { deliverer, post, got, store, clock } = await openScene(t)
    await post('m1')
    const deliver: Channel['deliver'] = async () => {
      throw new TirelessError('channel_limited', 'too many messages', { retryAfterMs: 1500 })
    }
    for (let n = 0; n < 20; n++) {
      await deliverer({ deliver }).deliverDue(never)
      assert.equal(await store.nextMessageDue(clock.now()), clock.now() + 1500)
      await clock.advance(1500)
    }
    await deliverer({}).deliverDue(never)
    assert.deepEqual([got.length, (await store.outbox({ limit: 1 }))[0]?.attempts], [1, 1])
    await post('m2')
    await clock.advance(8 * 86_400_000)
    await deliverer({ deliver }).deliverDue(never)
    const [old] = await store.outbox({ limit: 1 })
    assert.deepEqual([old?.status, old?.attempts], ['pending', 1])
  })

  test('1,000 messages in bursts: kept in order per thread, none lost, none doubled beyond the kills', async (t) => {
    const { deliverer, post, store, clock } = await openScene(t)
    const accepted: ChannelMessage[] = []
    const windows = new Map<string, { readonly from: number; count: number }>()
    const laneOf = ({ chat_id, thread_id }: Pick<ChannelMessage, 'chat_id' | 'thread_id'>): string =>
      `${chat_id} ${thread_id}`
    // Five messages per second and chat; every 97th request fails.
    let requests = 0
    const deliver: Channel['deliver'] = async (message) => {
      requests += 1
      if (requests % 97 === 0) throw new TirelessError('channel_unavailable', 'no connection')
      const from = Math.floor(clock.now() / 1000)
      const window = windows.get(message.chat_id ?? '')
      const count = window?.from === from ? window.count : 0
      if (count >= 5)
        throw new TirelessError('channel_limited', 'too many', { retryAfterMs: 1000 - (clock.now() % 1000) })
      windows.set(message.chat_id ?? '', { from, count: count + 1 })
      accepted.push(message)
    }
    const sentTo = new Map<string, string[]>()
    for (let n = 0; n < 1000; n++) {
      const to = { chat_id: `c${n % 4}`, ...(n % 3 === 0 ? {} : { thread_id: `t${n % 3}` }) }
      await post(`m${n}`, to)
      sentTo.set(laneOf(to as ChannelMessage), [...(sentTo.get(laneOf(to as ChannelMessage)) ?? []), `m${n}`])
      if (n % 250 === 249) await deliverer({ deliver }).deliverDue(never)
    }
    let kills = 0
    for (;;) {
      let commits = 0
      const dies = ({ op }: Op): boolean => op === 'delivered' && ++commits > 150
      const killed = await deliverer({ deliver }, dies)
        .deliverDue(never)
        .then(() => false)
        .catch(() => true)
      kills += Number(killed)
      if (killed) continue
      const next = await store.nextMessageDue(clock.now())
      if (next === undefined) break
      await clock.advance(next - clock.now())
    }
    const ids = accepted.map(({ id }) => id)
    assert.equal(new Set(ids).size, 1000)
    assert.ok(ids.length - 1000 <= kills, `${ids.length - 1000} repeated after ${kills} kills`)
    for (const [lane, expected] of sentTo) {
      const arrived = accepted.filter((message) => laneOf(message) === lane).map(({ id }) => id)
      assert.deepEqual([...new Set(arrived)], expected, lane)
      // A repeated message comes directly after itself.
      assert.deepEqual(
        arrived.filter((id, at) => id !== arrived[at - 1]),
        expected,
        lane,
      )
    }
  })
})
