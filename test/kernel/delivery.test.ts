import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { OutboxMessage } from '../../src/domain/message.ts'
import {
  busyScript,
  type ChatHome,
  listOutbox,
  openChatKernel,
  pairChat,
  runCycle,
  runNextBeat,
  runUntilIdle,
  sendChatMessage,
  startAndAwaitFirstCycle,
} from '../support/chat-kernel.ts'
import { MINUTE, runClockFor } from '../support/kernels.ts'
import { advanceUntilDone, waitUntil } from '../support/open-app.ts'

/** Makes each later delivery fail. */
function failDeliveries({ chat }: ChatHome, more: { readonly retryAfterMs?: number } = {}): void {
  chat.onDeliver = () => {
    throw new TirelessError('channel_unavailable', 'channel unavailable', more)
  }
}

describe('E12: delivery of notices', () => {
  test('case 128: a channel that hangs for 60 s delays no beat; its message is delivered later', async (t) => {
    const kernel = { schedule: { every: '20s' }, digest: false }
    const home = await openChatKernel(t, { script: busyScript(), kernel })
    home.chat.onDeliver = () => (home.chat.received.length === 1 ? home.clock.sleep(MINUTE) : undefined)
    await startAndAwaitFirstCycle(home)
    const beats = []
    for (let i = 0; i < 5; i++) beats.push(await runNextBeat(home))
    for (const { due, started_at } of beats) assert.equal(started_at, due)
    assert.equal(new Set(beats.map(({ cycle_id }) => cycle_id)).size, 5)
    const [first] = home.chat.received
    await runClockFor(home.clock, MINUTE)
    await waitUntil(async () => (await listOutbox(home, { status: 'sent' })).some(({ id }) => id === first?.id))
    assert.equal(home.chat.received.filter(({ id }) => id === first?.id).length, 2)
  })

  test('case 128: a channel that never answers does not block other channels', async (t) => {
    const home = await openChatKernel(t, { script: busyScript(), kernel: { digest: false } })
    home.chat.onDeliver = () => new Promise(() => {})
    await startAndAwaitFirstCycle(home)
    await runNextBeat(home)
    await home.app.run('channels pair', { name: 'console' })
    await runNextBeat(home)
    await waitUntil(async () => (await listOutbox(home, { channel: 'console', status: 'sent' })).length === 1)
    assert.equal((await listOutbox(home, { channel: 'chat', status: 'sent' })).length, 0)
  })

  test('E12: a failed delivery is retried with growing delays and then marked as failed', async (t) => {
    const home = await openChatKernel(t, { kernel: { schedule: '@yearly', digest: false } })
    failDeliveries(home)
    await runCycle(home)
    await startAndAwaitFirstCycle(home)
    const delays: number[] = []
    let posted: OutboxMessage | undefined
    for (;;) {
      const [current] = await listOutbox(home)
      posted = current
      if (current?.status !== 'pending') break
      const delay = Date.parse(current.due) - home.clock.now()
      delays.push(delay)
      await home.clock.advance(delay)
      await waitUntil(async () => (await listOutbox(home))[0]?.attempts !== current.attempts)
    }
    assert.deepEqual(
      { status: posted?.status, attempts: posted?.attempts, error: posted?.error },
      { status: 'failed', attempts: 8, error: 'channel unavailable' },
    )
    assert.deepEqual(
      delays,
      delays.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(home.chat.received.map(({ id }) => id)).size, 1)
  })

  test('E12: retryAfterMs of a channel is respected; a delay of days fails the message', async (t) => {
    const home = await openChatKernel(t)
    failDeliveries(home, { retryAfterMs: 45 * MINUTE })
    await runCycle(home)
    const [posted] = await listOutbox(home)
    assert.equal(Date.parse(posted?.due ?? '') - Date.parse(posted?.ts ?? ''), 45 * MINUTE)
    failDeliveries(home, { retryAfterMs: 2 * 24 * 60 * MINUTE })
    await home.clock.advance(45 * MINUTE)
    await runCycle(home)
    assert.equal((await listOutbox(home))[0]?.status, 'failed')
  })

  test('E12: a refused message is not retried', async (t) => {
    const home = await openChatKernel(t)
    home.chat.onDeliver = () => {
      throw new TirelessError('channel_refused', 'unknown sender')
    }
    await runCycle(home)
    assert.deepEqual(
      (await listOutbox(home)).map(({ status, attempts, error }) => ({ status, attempts, error })),
      [{ status: 'failed', attempts: 1, error: 'unknown sender' }],
    )
  })

  test('start --until-idle tries each due message once', async (t) => {
    const home = await openChatKernel(t, { kernel: { schedule: '@yearly' } })
    failDeliveries(home)
    await runCycle(home)
    await pairChat(home)
    await sendChatMessage(home, 'hello', 'm1')
    await home.clock.advance(10_000)
    const before = home.chat.received.length
    await runUntilIdle(home)
    assert.equal(home.chat.received.length, before + 2)
    assert.deepEqual(
      (await listOutbox(home)).map(({ attempts }) => attempts),
      [1, 2],
    )
  })

  test('I9: stopping does not wait for a hanging delivery; the next start delivers it', async (t) => {
    const home = await openChatKernel(t, { kernel: { digest: false } })
    let markTried = () => {}
    const firstTry = new Promise<void>((resolve) => {
      markTried = resolve
    })
    home.chat.onDeliver = () => {
      markTried()
      return new Promise(() => {})
    }
    const running = home.app.run('start', {})
    await firstTry
    await home.app.run('stop', {})
    await advanceUntilDone(home.clock, running)
    const [unsent] = await listOutbox(home)
    assert.deepEqual({ status: unsent?.status, attempts: unsent?.attempts }, { status: 'pending', attempts: 0 })
    await home.app.close()
    home.chat.onDeliver = () => undefined
    const after = await openChatKernel(t, { ...home, kernel: { digest: false } })
    await runUntilIdle(after)
    assert.deepEqual(
      (await listOutbox(after)).map(({ id, status }) => ({ id, status })),
      [{ id: unsent?.id, status: 'sent' }],
    )
  })

  test('channels test reports whether a message was delivered', async (t) => {
    const home = await openChatKernel(t)
    const testChannel = (name: string): Promise<unknown> =>
      advanceUntilDone(home.clock, home.app.run('channels test', { name }))
    assert.deepEqual(await testChannel('chat'), { channel: 'chat', delivered: true, error: null })
    assert.deepEqual(
      { kind: home.chat.received[0]?.kind, chat_id: home.chat.received[0]?.chat_id },
      { kind: 'reply', chat_id: 'c1' },
    )
    const failed = { channel: 'webhook', delivered: false, error: 'channels.webhook is not configured' }
    assert.deepEqual(await testChannel('webhook'), failed)
    home.chat.onDeliver = () => home.clock.sleep(60 * MINUTE)
    assert.match(((await testChannel('chat')) as { error: string }).error, /did not answer within 15 s/)
  })
})
