import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { ChannelMessage } from '../../src/domain/message.ts'
import {
  busyScript,
  type ChatHome,
  failingScript,
  listOutbox,
  openChatKernel,
  runCycle,
  runNextBeat,
  startAndAwaitFirstCycle,
} from '../support/chat-kernel.ts'
import { deliveryIds, type HookServer, respondWith, startHookServer } from '../support/hook-server.ts'
import { MINUTE } from '../support/kernels.ts'
import { waitUntil } from '../support/open-app.ts'

const SECRET = 'the secret of the hook'

/** A kernel whose notices go to a real server; the fake clock does not advance during requests. */
async function openWebhookKernel(t: TestContext): Promise<ChatHome & { readonly server: HookServer }> {
  const server = await startHookServer(t)
  const channels = { webhook: { url: server.url, secret: SECRET, chat_id: 'home' } }
  const kernel = { channel: 'webhook', chat_id: null, schedule: '@yearly', digest: false }
  return { ...(await openChatKernel(t, { kernel, config: { channels } })), server }
}

const runUntilIdle = ({ app }: ChatHome): Promise<unknown> => app.run('start', { until_idle: true })

describe('E12: notices by webhook', () => {
  test('E12: a notice is posted with a signature over timestamp and body', async (t) => {
    const home = await openWebhookKernel(t)
    await home.app.run('once', {})
    const [only, ...more] = home.server.received
    const { id, kind, chat_id, text } = JSON.parse(only?.body ?? '') as ChannelMessage
    assert.deepEqual(
      { method: only?.method, kind, chat_id, more },
      { method: 'POST', kind: 'notice', chat_id: 'home', more: [] },
    )
    assert.match(text, /^Kernel\[default\] cycle summary\n/)
    const timestamp = String(only?.headers['x-tireless-timestamp'])
    assert.equal(Number(timestamp) * 1000, home.clock.now())
    assert.equal(only?.headers['x-tireless-delivery'], id)
    const expected = createHmac('sha256', SECRET).update(`${timestamp}.${only?.body}`).digest('hex')
    assert.equal(only?.headers['x-tireless-signature'], `sha256=${expected}`)
  })

  for (const [answer, delayMs] of [
    [respondWith(500), 5_000],
    [respondWith(429, { 'retry-after': '120' }), 120_000],
  ] as const)
    test(`E12: a failed delivery is retried after ${delayMs / 1000} s under the same id, then stops`, async (t) => {
      const home = await openWebhookKernel(t)
      home.server.answer = answer
      await home.app.run('once', {})
      const [posted] = await listOutbox(home)
      assert.equal(Date.parse(posted?.due ?? '') - home.clock.now(), delayMs)
      home.server.answer = respondWith(204)
      await runUntilIdle(home)
      assert.equal(home.server.received.length, 1)
      await home.clock.advance(delayMs)
      for (let i = 0; i < 2; i++) await runUntilIdle(home)
      assert.deepEqual(deliveryIds(home.server), [posted?.id, posted?.id])
      assert.equal((await listOutbox(home))[0]?.status, 'sent')
    })

  test('case 128: a delivery that hangs is given up after 15 s and retried', async (t) => {
    const home = await openWebhookKernel(t)
    home.server.answer = () => {}
    const cycle = home.app.run('once', {})
    await waitUntil(() => home.server.received.length === 1)
    await home.clock.advance(15_000)
    await cycle
    const [posted] = await listOutbox(home)
    assert.deepEqual(
      { status: posted?.status, error: posted?.error },
      { status: 'pending', error: 'webhook did not answer within 15 s' },
    )
    home.server.answer = respondWith(200)
    await home.clock.advance(MINUTE)
    await runUntilIdle(home)
    assert.deepEqual(deliveryIds(home.server), [posted?.id, posted?.id])
  })
})

describe('E14: the ping after each cycle (dead man’s switch)', () => {
  async function openPingingKernel(t: TestContext, options: Parameters<typeof openChatKernel>[1] = {}) {
    const server = await startHookServer(t)
    const home = await openChatKernel(t, {
      ...options,
      withoutTarget: true,
      kernel: { ...options.kernel, ping_url: server.url },
    })
    return { ...home, server }
  }

  test('E14: each successful cycle sends a ping, an idle one too', async (t) => {
    const { app, server } = await openPingingKernel(t, { agents: [{ agent_id: 'a', cooldown: '1d' }] })
    for (let i = 0; i < 2; i++) await app.run('once', {})
    assert.deepEqual(
      server.received.map(({ method }) => method),
      ['GET', 'GET'],
    )
  })

  test('E14: a failed cycle sends no ping', async (t) => {
    const home = await openPingingKernel(t, { script: failingScript('model_refused') })
    assert.equal((await runCycle(home)).status, 'failed')
    assert.equal(home.server.received.length, 0)
  })

  test('E14, case 128: a hanging ping delays no beat', async (t) => {
    const home = await openPingingKernel(t, { script: busyScript(), kernel: { schedule: { every: '5s' } } })
    home.server.answer = () => {}
    await startAndAwaitFirstCycle(home)
    for (let i = 1; i <= 3; i++) {
      const { due, started_at } = await runNextBeat(home)
      assert.equal(started_at, due)
      await waitUntil(() => home.server.received.length === i + 1)
    }
  })

  test('E14, case 136: a failed ping is only logged, without its URL', async (t) => {
    const home = await openPingingKernel(t)
    home.server.answer = respondWith(404)
    assert.equal((await home.app.run('once', {})).status, 'success')
    await home.app.close()
    const log = readFileSync(join(home.home, 'logs', 'tireless.jsonl'), 'utf8')
    assert.match(log, /"event":"ping failed".*answered with status 404/)
    assert.ok(!log.includes(home.server.url))
  })
})
