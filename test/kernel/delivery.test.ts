import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { OutboxMessage } from '../../src/domain/message.ts'
import { beat, busy, live, once, outbox, pairChat, say, type Told, telling, untilIdle } from '../support/chat-kernel.ts'
import { livingFor, MINUTE } from '../support/kernels.ts'
import { passing, until } from '../support/open-app.ts'

/** From now on nobody takes anything. */
function away({ chat }: Told, more: { readonly retryAfterMs?: number } = {}): void {
  chat.does = () => {
    throw new TirelessError('channel_unavailable', 'nobody at home', more)
  }
}

describe('E12: delivery, beside the loop', () => {
  test('case 128: a channel that hangs for 60 s makes no beat late; its message is delivered all the same', async (t) => {
    const kernel = { schedule: { every: '20s' }, digest: false }
    const its = await telling(t, { script: busy(), kernel })
    its.chat.does = () => (its.chat.got.length === 1 ? its.clock.sleep(MINUTE) : undefined)
    await live(its)
    const lived = []
    for (let i = 0; i < 5; i++) lived.push(await beat(its))
    for (const { due, started_at } of lived) assert.equal(started_at, due)
    assert.equal(new Set(lived.map(({ cycle_id }) => cycle_id)).size, 5)
    const [first] = its.chat.got
    await livingFor(its.clock, MINUTE)
    await until(async () => (await outbox(its, { status: 'sent' })).some(({ id }) => id === first?.id))
    assert.equal(its.chat.got.filter(({ id }) => id === first?.id).length, 2)
  })

  test('case 128: a channel that never answers holds up no other', async (t) => {
    const its = await telling(t, { script: busy(), kernel: { digest: false } })
    its.chat.does = () => new Promise(() => {})
    await live(its)
    await beat(its)
    await its.app.run('channels pair', { name: 'console' })
    await beat(its)
    await until(async () => (await outbox(its, { channel: 'console', status: 'sent' })).length === 1)
    assert.equal((await outbox(its, { channel: 'chat', status: 'sent' })).length, 0)
  })

  test('E12: what is not taken is tried again, later each time, and given up in the end, visibly', async (t) => {
    const its = await telling(t, { kernel: { schedule: '@yearly', digest: false } })
    away(its)
    await once(its)
    await live(its)
    const rests: number[] = []
    let posted: OutboxMessage | undefined
    for (;;) {
      const [now] = await outbox(its)
      posted = now
      if (now?.status !== 'pending') break
      const rest = Date.parse(now.due) - its.clock.now()
      rests.push(rest)
      await its.clock.advance(rest)
      await until(async () => (await outbox(its))[0]?.attempts !== now.attempts)
    }
    assert.deepEqual([posted?.status, posted?.attempts, posted?.error], ['failed', 8, 'nobody at home'])
    assert.deepEqual(
      rests,
      rests.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(its.chat.got.map(({ id }) => id)).size, 1)
  })

  test('E12: one that asks for a later try is tried then; one that asks for days is given up', async (t) => {
    const its = await telling(t)
    away(its, { retryAfterMs: 45 * MINUTE })
    await once(its)
    const [posted] = await outbox(its)
    assert.equal(Date.parse(posted?.due ?? '') - Date.parse(posted?.ts ?? ''), 45 * MINUTE)
    away(its, { retryAfterMs: 2 * 24 * 60 * MINUTE })
    await once(its)
    assert.equal((await outbox(its))[0]?.status, 'failed')
  })

  test('E12: a refusal is not tried again', async (t) => {
    const its = await telling(t)
    its.chat.does = () => {
      throw new TirelessError('channel_refused', 'who are you?')
    }
    await once(its)
    assert.deepEqual(
      (await outbox(its)).map(({ status, attempts, error }) => [status, attempts, error]),
      [['failed', 1, 'who are you?']],
    )
  })

  test('start --until-idle makes one try of every message that is due', async (t) => {
    const its = await telling(t, { kernel: { schedule: '@yearly' } })
    away(its)
    await once(its)
    await pairChat(its)
    await say(its, 'hello', 'm1')
    await its.clock.advance(10_000)
    const before = its.chat.got.length
    await untilIdle(its)
    assert.equal(its.chat.got.length, before + 2)
    assert.deepEqual(
      (await outbox(its)).map(({ attempts }) => attempts),
      [1, 2],
    )
  })

  test('I9: a program that ends leaves what hangs, and delivers it when it is started again', async (t) => {
    const its = await telling(t, { kernel: { digest: false } })
    let tried = () => {}
    const trying = new Promise<void>((resolve) => {
      tried = resolve
    })
    its.chat.does = () => {
      tried()
      return new Promise(() => {})
    }
    const life = its.app.run('start', {})
    await trying
    await its.app.run('stop', {})
    await passing(its.clock, life)
    const [left] = await outbox(its)
    assert.deepEqual([left?.status, left?.attempts], ['pending', 0])
    await its.app.close()
    its.chat.does = () => undefined
    const after = await telling(t, { ...its, kernel: { digest: false } })
    await untilIdle(after)
    assert.deepEqual(
      (await outbox(after)).map(({ id, status }) => [id, status]),
      [[left?.id, 'sent']],
    )
  })

  test('channels test says whether a message came through', async (t) => {
    const its = await telling(t)
    const tested = (name: string): Promise<unknown> => passing(its.clock, its.app.run('channels test', { name }))
    assert.deepEqual(await tested('chat'), { channel: 'chat', delivered: true, error: null })
    assert.deepEqual([its.chat.got[0]?.kind, its.chat.got[0]?.chat_id], ['reply', 'c1'])
    const failed = { channel: 'webhook', delivered: false, error: 'channels.webhook is not configured' }
    assert.deepEqual(await tested('webhook'), failed)
    its.chat.does = () => its.clock.sleep(60 * MINUTE)
    assert.match(((await tested('chat')) as { error: string }).error, /did not answer within 15 s/)
  })
})
