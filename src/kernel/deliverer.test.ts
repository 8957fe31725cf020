import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openSqliteStore } from '../adapters/stores/sqlite/store.ts'
import { TirelessError } from '../domain/error.ts'
import type { Channel } from '../ports/channel.ts'
import { commitOne, type Store } from '../ports/store.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { Deliverer, retryAt } from './deliverer.ts'

const never = new AbortController().signal

async function storeFor(t: TestContext): Promise<Store> {
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

function chat(): Channel & { readonly got: string[] } {
  const got: string[] = []
  return { name: 'chat', got, trouble: () => null, deliver: async ({ id }) => void got.push(id) }
}

describe('the deliverer', () => {
  test('E12: whoever looks twice at once delivers once, also where the store takes its time', async (t) => {
    const store = await storeFor(t)
    await post(store, 'm1')
    let slow = 0
    let release = (): void => {}
    const late: Store = {
      ...store,
      async dueMessages(now) {
        const found = await store.dueMessages(now)
        slow += 1
        if (slow === 1)
          await new Promise<void>((resolve) => {
            release = resolve
          })
        return found
      },
    }
    const channel = chat()
    const carriage = { store: late, clock: new FakeClock(), channels: new Map([['chat', channel]]), log: () => {} }
    const deliverer = new Deliverer(carriage)
    const first = deliverer.all(never)
    await deliverer.all(never)
    release()
    await first
    assert.deepEqual(channel.got, ['m1'])
  })

  test('E12: a channel has one message in hand at a time, however often it is looked at', async (t) => {
    const store = await storeFor(t)
    await post(store, 'm1', 'm2')
    const channel = chat()
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

  test('E12: in order; what breaks in a channel is its own', async (t) => {
    const store = await storeFor(t)
    await post(store, 'm1', 'm2', 'm3')
    const channel = chat()
    const deliver: Channel['deliver'] = async (message, signal) => {
      await channel.deliver(message, signal)
      if (message.id === 'm2') throw 'anything'
    }
    const channels = new Map([['chat', { ...channel, deliver }]])
    await new Deliverer({ store, clock: new FakeClock(), channels, log: () => {} }).all(never)
    assert.deepEqual(channel.got, ['m1', 'm2', 'm3'])
    const statuses = (await store.outbox({ limit: 9 })).map(({ id, status, error }) => [id, status, error])
    assert.deepEqual(statuses, [
      ['m3', 'sent', null],
      ['m2', 'pending', 'anything'],
      ['m1', 'sent', null],
    ])
  })

  test('I9: told to stop, it leaves what hangs, and what is still to come', async (t) => {
    const store = await storeFor(t)
    await post(store, 'm1', 'm2')
    const channel = chat()
    const clock = new FakeClock()
    const stop = new AbortController()
    const deliver: Channel['deliver'] = async (message, signal) => {
      await channel.deliver(message, signal)
      stop.abort()
      await new Promise(() => {})
    }
    const channels = new Map([['chat', { ...channel, deliver }]])
    const trying = new Deliverer({ store, clock, channels, log: () => {} }).all(stop.signal)
    while (!stop.signal.aborted) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(3_000)
    await trying
    assert.deepEqual(channel.got, ['m1'])
    assert.deepEqual(
      (await store.outbox({ limit: 9 })).map(({ status, attempts }) => [status, attempts]),
      [
        ['pending', 0],
        ['pending', 0],
      ],
    )
  })

  test('a store that fails is told to whoever looks next', async (t) => {
    const store = await storeFor(t)
    await post(store, 'm1')
    const broken: Store = {
      ...store,
      commit: () => Promise.reject(new TirelessError('store_failed', 'the disk is gone')),
    }
    const carriage = { store: broken, clock: new FakeClock(), channels: new Map([['chat', chat()]]), log: () => {} }
    await assert.rejects(new Deliverer(carriage).all(never), { code: 'store_failed' })
  })
})

describe('E12: when a message is tried again', () => {
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
    test(`after ${attempts} of ${error.code}, asked for ${error.retryAfterMs ?? 'nothing'}: ${expected ?? 'never'}`, () => {
      assert.equal(retryAt(attempts, error, 1000), expected === null ? null : 1000 + expected)
    })
})
