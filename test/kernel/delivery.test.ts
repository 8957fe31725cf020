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

/** From now on nobody takes anything. */
function away({ chat }: ChatHome, more: { readonly retryAfterMs?: number } = {}): void {
  chat.onDeliver = () => {
    throw new TirelessError('channel_unavailable', 'nobody at home', more)
  }
}

describe('E12: delivery, beside the loop', () => {
  test('case 128: a channel that hangs for 60 s makes no beat late; its message is delivered all the same', async (t) => {
    const kernel = { schedule: { every: '20s' }, digest: false }
    const its = await openChatKernel(t, { script: busyScript(), kernel })
    its.chat.onDeliver = () => (its.chat.received.length === 1 ? its.clock.sleep(MINUTE) : undefined)
    await startAndAwaitFirstCycle(its)
    const lived = []
    for (let i = 0; i < 5; i++) lived.push(await runNextBeat(its))
    for (const { due, started_at } of lived) assert.equal(started_at, due)
    assert.equal(new Set(lived.map(({ cycle_id }) => cycle_id)).size, 5)
    const [first] = its.chat.received
    await runClockFor(its.clock, MINUTE)
    await waitUntil(async () => (await listOutbox(its, { status: 'sent' })).some(({ id }) => id === first?.id))
    assert.equal(its.chat.received.filter(({ id }) => id === first?.id).length, 2)
  })

  test('case 128: a channel that never answers holds up no other', async (t) => {
    const its = await openChatKernel(t, { script: busyScript(), kernel: { digest: false } })
    its.chat.onDeliver = () => new Promise(() => {})
    await startAndAwaitFirstCycle(its)
    await runNextBeat(its)
    await its.app.run('channels pair', { name: 'console' })
    await runNextBeat(its)
    await waitUntil(async () => (await listOutbox(its, { channel: 'console', status: 'sent' })).length === 1)
    assert.equal((await listOutbox(its, { channel: 'chat', status: 'sent' })).length, 0)
  })

  test('E12: what is not taken is tried again, later each time, and given up in the end, visibly', async (t) => {
    const its = await openChatKernel(t, { kernel: { schedule: '@yearly', digest: false } })
    away(its)
    await runCycle(its)
    await startAndAwaitFirstCycle(its)
    const rests: number[] = []
    let posted: OutboxMessage | undefined
    for (;;) {
      const [now] = await listOutbox(its)
      posted = now
      if (now?.status !== 'pending') break
      const rest = Date.parse(now.due) - its.clock.now()
      rests.push(rest)
      await its.clock.advance(rest)
      await waitUntil(async () => (await listOutbox(its))[0]?.attempts !== now.attempts)
    }
    assert.deepEqual([posted?.status, posted?.attempts, posted?.error], ['failed', 8, 'nobody at home'])
    assert.deepEqual(
      rests,
      rests.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(its.chat.received.map(({ id }) => id)).size, 1)
  })

  test('E12: one that asks for a later try is tried then; one that asks for days is given up', async (t) => {
    const its = await openChatKernel(t)
    away(its, { retryAfterMs: 45 * MINUTE })
    await runCycle(its)
    const [posted] = await listOutbox(its)
    assert.equal(Date.parse(posted?.due ?? '') - Date.parse(posted?.ts ?? ''), 45 * MINUTE)
    away(its, { retryAfterMs: 2 * 24 * 60 * MINUTE })
    await runCycle(its)
    assert.equal((await listOutbox(its))[0]?.status, 'failed')
  })

  test('E12: a refusal is not tried again', async (t) => {
    const its = await openChatKernel(t)
    its.chat.onDeliver = () => {
      throw new TirelessError('channel_refused', 'who are you?')
    }
    await runCycle(its)
    assert.deepEqual(
      (await listOutbox(its)).map(({ status, attempts, error }) => [status, attempts, error]),
      [['failed', 1, 'who are you?']],
    )
  })

  test('start --until-idle makes one try of every message that is due', async (t) => {
    const its = await openChatKernel(t, { kernel: { schedule: '@yearly' } })
    away(its)
    await runCycle(its)
    await pairChat(its)
    await sendChatMessage(its, 'hello', 'm1')
    await its.clock.advance(10_000)
    const before = its.chat.received.length
    await runUntilIdle(its)
    assert.equal(its.chat.received.length, before + 2)
    assert.deepEqual(
      (await listOutbox(its)).map(({ attempts }) => attempts),
      [1, 2],
    )
  })

  test('I9: a program that ends leaves what hangs, and delivers it when it is started again', async (t) => {
    const its = await openChatKernel(t, { kernel: { digest: false } })
    let tried = () => {}
    const trying = new Promise<void>((resolve) => {
      tried = resolve
    })
    its.chat.onDeliver = () => {
      tried()
      return new Promise(() => {})
    }
    const life = its.app.run('start', {})
    await trying
    await its.app.run('stop', {})
    await advanceUntilDone(its.clock, life)
    const [left] = await listOutbox(its)
    assert.deepEqual([left?.status, left?.attempts], ['pending', 0])
    await its.app.close()
    its.chat.onDeliver = () => undefined
    const after = await openChatKernel(t, { ...its, kernel: { digest: false } })
    await runUntilIdle(after)
    assert.deepEqual(
      (await listOutbox(after)).map(({ id, status }) => [id, status]),
      [[left?.id, 'sent']],
    )
  })

  test('channels test says whether a message came through', async (t) => {
    const its = await openChatKernel(t)
    const tested = (name: string): Promise<unknown> =>
      advanceUntilDone(its.clock, its.app.run('channels test', { name }))
    assert.deepEqual(await tested('chat'), { channel: 'chat', delivered: true, error: null })
    assert.deepEqual([its.chat.received[0]?.kind, its.chat.received[0]?.chat_id], ['reply', 'c1'])
    const failed = { channel: 'webhook', delivered: false, error: 'channels.webhook is not configured' }
    assert.deepEqual(await tested('webhook'), failed)
    its.chat.onDeliver = () => its.clock.sleep(60 * MINUTE)
    assert.match(((await tested('chat')) as { error: string }).error, /did not answer within 15 s/)
  })
})
