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

/** A kernel whose notices go to a real server. Time stands still while it answers. */
async function hooked(t: TestContext): Promise<ChatHome & { readonly server: HookServer }> {
  const server = await startHookServer(t)
  const channels = { webhook: { url: server.url, secret: SECRET, chat_id: 'home' } }
  const kernel = { channel: 'webhook', chat_id: null, schedule: '@yearly', digest: false }
  return { ...(await openChatKernel(t, { kernel, config: { channels } })), server }
}

const again = ({ app }: ChatHome): Promise<unknown> => app.run('start', { until_idle: true })

describe('E12: notices by webhook', () => {
  test('E12: a notice is posted, signed over its instant and its body', async (t) => {
    const its = await hooked(t)
    await its.app.run('once', {})
    const [only, ...more] = its.server.received
    const { id, kind, chat_id, text } = JSON.parse(only?.body ?? '') as ChannelMessage
    assert.deepEqual([only?.method, kind, chat_id, more], ['POST', 'notice', 'home', []])
    assert.match(text, /^Kernel\[default\] cycle summary\n/)
    const timestamp = String(only?.headers['x-tireless-timestamp'])
    assert.equal(Number(timestamp) * 1000, its.clock.now())
    assert.equal(only?.headers['x-tireless-delivery'], id)
    const expected = createHmac('sha256', SECRET).update(`${timestamp}.${only?.body}`).digest('hex')
    assert.equal(only?.headers['x-tireless-signature'], `sha256=${expected}`)
  })

  for (const [answer, rest] of [
    [respondWith(500), 5_000],
    [respondWith(429, { 'retry-after': '120' }), 120_000],
  ] as const)
    test(`E12: one that is not taken comes again after ${rest / 1000} s, under the same id, and no more after that`, async (t) => {
      const its = await hooked(t)
      its.server.answer = answer
      await its.app.run('once', {})
      const [posted] = await listOutbox(its)
      assert.equal(Date.parse(posted?.due ?? '') - its.clock.now(), rest)
      its.server.answer = respondWith(204)
      await again(its)
      assert.equal(its.server.received.length, 1)
      await its.clock.advance(rest)
      for (let i = 0; i < 2; i++) await again(its)
      assert.deepEqual(deliveryIds(its.server), [posted?.id, posted?.id])
      assert.equal((await listOutbox(its))[0]?.status, 'sent')
    })

  test('case 128: one that hangs is left, and comes again', async (t) => {
    const its = await hooked(t)
    its.server.answer = () => {}
    const cycle = its.app.run('once', {})
    await waitUntil(() => its.server.received.length === 1)
    await its.clock.advance(15_000)
    await cycle
    const [posted] = await listOutbox(its)
    assert.deepEqual([posted?.status, posted?.error], ['pending', 'webhook did not answer within 15 s'])
    its.server.answer = respondWith(200)
    await its.clock.advance(MINUTE)
    await again(its)
    assert.deepEqual(deliveryIds(its.server), [posted?.id, posted?.id])
  })
})

describe('E14: the dead man’s ping', () => {
  async function pinging(t: TestContext, wanted: Parameters<typeof openChatKernel>[1] = {}) {
    const server = await startHookServer(t)
    const its = await openChatKernel(t, {
      ...wanted,
      withoutTarget: true,
      kernel: { ...wanted.kernel, ping_url: server.url },
    })
    return { ...its, server }
  }

  test('E14: after each good cycle, an idle one too', async (t) => {
    const { app, server } = await pinging(t, { agents: [{ agent_id: 'a', cooldown: '1d' }] })
    for (let i = 0; i < 2; i++) await app.run('once', {})
    assert.deepEqual(
      server.received.map(({ method }) => method),
      ['GET', 'GET'],
    )
  })

  test('E14: not after one that failed', async (t) => {
    const its = await pinging(t, { script: failingScript('model_refused') })
    assert.equal((await runCycle(its)).status, 'failed')
    assert.equal(its.server.received.length, 0)
  })

  test('E14, case 128: one that hangs makes no beat late', async (t) => {
    const its = await pinging(t, { script: busyScript(), kernel: { schedule: { every: '5s' } } })
    its.server.answer = () => {}
    await startAndAwaitFirstCycle(its)
    for (let i = 1; i <= 3; i++) {
      const { due, started_at } = await runNextBeat(its)
      assert.equal(started_at, due)
      await waitUntil(() => its.server.received.length === i + 1)
    }
  })

  test('E14, case 136: what is wrong with it is in the log only, without its address', async (t) => {
    const its = await pinging(t)
    its.server.answer = respondWith(404)
    assert.equal(((await its.app.run('once', {})) as { status: string }).status, 'success')
    await its.app.close()
    const log = readFileSync(join(its.home, 'logs', 'tireless.jsonl'), 'utf8')
    assert.match(log, /"event":"ping failed".*answered 404/)
    assert.ok(!log.includes(its.server.url))
  })
})
