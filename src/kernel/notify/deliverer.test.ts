import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openSqliteStore } from '../../adapters/stores/sqlite/store.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Channel } from '../../ports/channel.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { Deliverer, retryAt } from './deliverer.ts'

const never = new AbortController().signal

async function openStore(t: TestContext): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'tireless-deliverer-'))
  const store = await openSqliteStore({ file: join(folder, 'db'), clock: new FakeClock(), writes: 'here' })
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return store
}

async function post(store: Store, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const message = { id, channel: 'chat', chat_id: null, kind: 'notice', text: id } as const
    await commitOne(store, [{ op: 'post', message, due: 0, now: 0 }])
  }
}

function createChat(): Channel & { readonly got: string[] } {
  const got: string[] = []
  return { name: 'chat', got, trouble: () => null, deliver: async ({ id }) => void got.push(id) }
}

describe('deliverer', () => {
  test('E12: two concurrent passes deliver a message once, also with a slow store', async (t) => {
    const store = await openStore(t)
    await post(store, 'm1')
    let reads = 0
    let release = (): void => {}
    const slowStore: Store = {
      ...store,
      async dueMessages(now) {
        const found = await store.dueMessages(now)
        reads += 1
        if (reads === 1)
          await new Promise<void>((resolve) => {
            release = resolve
          })
        return found
      },
    }
    const channel = createChat()
    const deps = { store: slowStore, clock: new FakeClock(), channels: new Map([['chat', channel]]), log: () => {} }
    const deliverer = new Deliverer(deps)
    const first = deliverer.deliverDue(never)
    await deliverer.deliverDue(never)
    release()
    await first
    assert.deepEqual(channel.got, ['m1'])
  })

  test('E15: a process whose record of a delivery was refused delivers again when it leads again', async (t) => {
    const store = await openStore(t)
    await post(store, 'm1')
    let leads = false
    const refusal = { ok: false, code: 'store_fenced', message: 'another process leads' } as const
    const fenced: Store = {
      ...store,
      commit: async (batches) => (leads ? store.commit(batches) : batches.map(() => refusal)),
    }
    const channel = createChat()
    const channels = new Map([['chat', channel]])
    const deliverer = new Deliverer({ store: fenced, clock: new FakeClock(), channels, log: () => {} })
    await assert.rejects(deliverer.deliverDue(never), { code: 'store_fenced' })
    await deliverer.finish()
    leads = true
    await deliverer.deliverDue(never)
    assert.deepEqual(channel.got, ['m1', 'm1'], 'delivered at least once, under the same id')
    assert.equal((await store.outbox({ limit: 1 }))[0]?.status, 'sent')
  })

  test('E15: nothing is delivered if the store answers after the process has stopped to lead', async (t) => {
    const store = await openStore(t)
    await post(store, 'm1')
    const stop = new AbortController()
    const late: Store = {
      ...store,
      async dueMessages(now) {
        const found = await store.dueMessages(now)
        stop.abort()
        return found
      },
    }
    const channel = createChat()
    const channels = new Map([['chat', channel]])
    const deliverer = new Deliverer({ store: late, clock: new FakeClock(), channels, log: () => {} })
    assert.deepEqual(await deliverer.begin(0, stop.signal), [])
    assert.deepEqual(channel.got, [])
    assert.equal((await store.outbox({ limit: 1 }))[0]?.status, 'pending')
  })

  test('E12: a channel delivers one message at a time, however often a pass starts', async (t) => {
    const store = await openStore(t)
    await post(store, 'm1', 'm2')
    const channel = createChat()
    const gates: (() => void)[] = []
    const deliver: Channel['deliver'] = async (message, signal) => {
      await channel.deliver(message, signal)
      await new Promise<void>((resolve) => gates.push(resolve))
    }
    const channels = new Map([['chat', { ...channel, deliver }]])
    const deliverer = new Deliverer({ store, clock: new FakeClock(), channels, log: () => {} })
    const [first] = await deliverer.begin()
    for (let i = 0; i < 3; i++) assert.equal((await deliverer.begin()).length, 1)
    assert.deepEqual(channel.got, ['m1'])
    gates[0]?.()
    await first
    const [second] = await deliverer.begin()
    gates[1]?.()
    await second
    assert.deepEqual(channel.got, ['m1', 'm2'])
  })

  test('E12: messages are delivered in order; a failure affects one chat only', async (t) => {
    const store = await openStore(t)
    await post(store, 'm1', 'm2')
    const other = { id: 'm3', channel: 'chat', chat_id: 'other', kind: 'notice', text: 'm3' } as const
    await commitOne(store, [{ op: 'post', message: other, due: 0, now: 0 }])
    const channel = createChat()
    const deliver: Channel['deliver'] = async (message, signal) => {
      await channel.deliver(message, signal)
      if (message.id === 'm2') throw 'anything'
    }
    const channels = new Map([['chat', { ...channel, deliver }]])
    await new Deliverer({ store, clock: new FakeClock(), channels, log: () => {} }).deliverDue(never)
    assert.deepEqual(channel.got, ['m1', 'm2', 'm3'])
    const statuses = (await store.outbox({ limit: 9 })).map(({ id, status, error }) => [id, status, error])
    assert.deepEqual(statuses, [
      ['m3', 'sent', null],
      ['m2', 'pending', 'anything'],
      ['m1', 'sent', null],
    ])
  })

  test('I9: when stopped, it abandons a hanging delivery and leaves the rest pending', async (t) => {
    const store = await openStore(t)
    await post(store, 'm1', 'm2')
    const channel = createChat()
    const clock = new FakeClock()
    const stop = new AbortController()
    const deliver: Channel['deliver'] = async (message, signal) => {
      await channel.deliver(message, signal)
      stop.abort()
      await new Promise(() => {})
    }
    const channels = new Map([['chat', { ...channel, deliver }]])
    const delivery = new Deliverer({ store, clock, channels, log: () => {} }).deliverDue(stop.signal)
    while (!stop.signal.aborted) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(3_000)
    await delivery
    assert.deepEqual(channel.got, ['m1'])
    assert.deepEqual(
      (await store.outbox({ limit: 9 })).map(({ status, attempts }) => ({ status, attempts })),
      [
        { status: 'pending', attempts: 0 },
        { status: 'pending', attempts: 0 },
      ],
    )
  })

  test('a failed store rejects the next pass', async (t) => {
    const store = await openStore(t)
    await post(store, 'm1')
    const broken: Store = {
      ...store,
      commit: () => Promise.reject(new TirelessError('store_failed', 'the disk is gone')),
    }
    const deps = { store: broken, clock: new FakeClock(), channels: new Map([['chat', createChat()]]), log: () => {} }
    await assert.rejects(new Deliverer(deps).deliverDue(never), { code: 'store_failed' })
  })
})

describe('E12: the time of the next attempt', () => {
  const later = (retryAfterMs?: number) => new TirelessError('channel_unavailable', 'x', { retryAfterMs })
  for (const [attempts, error, expected] of [
    [1, later(), 5_000],
    [2, later(), 30_000],
    [7, later(), 3 * 3_600_000],
    [8, later(), null],
    [1, later(60_000), 60_000],
    [3, later(60_000), 120_000],
    [1, later(60_000.1), 60_001],
    [1, later(25 * 3_600_000), null],
    [1, new TirelessError('channel_refused', 'x'), null],
  ] as const)
    test(`try ${attempts}, ${error.code}, after ${error.retryAfterMs ?? 'none'}: ${expected ?? 'never'}`, () => {
      assert.equal(retryAt(attempts, error, 1000), expected === null ? null : 1000 + expected)
    })
})
