/** Long connections of channels while the kernel runs: made again when they break, and harmless to everything else. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { ChatMessage } from '../../src/domain/message.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { MORNING } from '../support/chat-kernel.ts'
import { type ConnectingChannel, chatMessage, connectingChannel } from '../support/connecting-channel.ts'
import { type KernelHome, MINUTE, openKernelApp, runClockFor } from '../support/kernels.ts'
import { readLogs, waitUntil } from '../support/open-app.ts'

interface ConnectedHome extends KernelHome {
  readonly chat: ConnectingChannel
}

async function startConnected(
  t: TestContext,
  prepare: (chat: ConnectingChannel) => void = () => {},
): Promise<ConnectedHome> {
  const chat = connectingChannel()
  prepare(chat)
  const home = await openKernelApp(t, {
    ...{ agents: [], clock: new FakeClock({ now: MORNING }), config: { server: { port: 0 } } },
    options: { channels: [chat, connectingChannel('other')] },
  })
  home.app.run('start', {}).catch(() => {})
  await waitUntil(() => home.app.context.draining() && chat.opened.length > 0)
  return { ...home, chat }
}

const connectionOf = async ({ app }: KernelHome, wanted = 'chat') =>
  (await app.run('channels list', {})).items.find(({ name }) => name === wanted)?.connection

/** Advances to the next attempt; returns how long it took. */
async function awaitNextAttempt(home: ConnectedHome): Promise<number> {
  const count = home.chat.opened.length
  await waitUntil(async () => (await connectionOf(home))?.state === 'waiting')
  const from = home.clock.now()
  const { next_at } = (await connectionOf(home)) ?? {}
  await runClockFor(home.clock, Date.parse(next_at ?? '') - from)
  await waitUntil(() => home.chat.opened.length > count)
  return home.clock.now() - from
}

const last = ({ chat }: ConnectedHome) => chat.opened.at(-1) ?? assert.fail('never connected')

describe('connections of channels', () => {
  test('E12: only start connects; channels list, status and doctor say so; a stop ends the connection', async (t) => {
    const chat = connectingChannel()
    const home = await openKernelApp(t, {
      agents: [{ agent_id: 'a' }],
      config: { server: { port: 0 } },
      options: { channels: [chat] },
    })
    await home.app.run('once', {})
    assert.deepEqual([chat.opened.length, (await connectionOf(home))?.state], [0, 'stopped'])
    const started = home.app.run('start', {})
    await waitUntil(() => chat.opened.length === 1)
    const since = new Date(home.clock.now()).toISOString()
    assert.deepEqual(await connectionOf(home), { state: 'connected', since, next_at: null, error: null })
    const status = await home.app.run('status', {})
    assert.deepEqual(status.channels, [{ name: 'chat', state: 'connected', since, next_at: null, error: null }])
    const { checks } = await home.app.run('doctor', {})
    assert.deepEqual(
      checks.find(({ name }) => name === 'channel chat'),
      { name: 'channel chat', ok: true, found: 'connected', remedy: null, fixable: false },
    )
    await home.app.run('stop', {})
    await started
    assert.equal(chat.opened[0]?.signal.aborted, true)
    assert.equal((await connectionOf(home))?.state, 'stopped')
  })

  test('E12: a lost connection is made again, later each time, up to five minutes, then as at first', async (t) => {
    const home = await startConnected(t)
    const waits: number[] = []
    for (let i = 0; i < 11; i++) {
      last(home).lose()
      waits.push(await awaitNextAttempt(home))
    }
    const least = [1, 2, 4, 8, 16, 32, 64, 128, 240, 240, 240].map((seconds) => seconds * 1000)
    for (const [i, wait] of waits.entries()) {
      assert.ok(wait >= (least[i] ?? 0) && wait <= 1.25 * (least[i] ?? 0), `attempt ${i} came after ${wait} ms`)
    }
    await runClockFor(home.clock, MINUTE)
    last(home).lose()
    assert.ok((await awaitNextAttempt(home)) <= 1250)
    const events = (await readLogs(home.app, 100)).items.map(({ event }) => event)
    assert.ok(events.includes('channel disconnected') && events.includes('channel connected'))
  })

  test('E12: a channel that is down for more than five minutes is a reason for bad health', async (t) => {
    const home = await startConnected(t, (chat) => {
      chat.onConnect = ({ lose }) => lose(new Error('no route to host'))
    })
    await runClockFor(home.clock, 4 * MINUTE)
    assert.equal((await home.app.run('status', {})).health.ok, true)
    await runClockFor(home.clock, 2 * MINUTE)
    const { health } = await home.app.run('status', {})
    assert.match(health.reasons.join(), /the channel chat has been disconnected for 6 min: no route to host/)
    home.chat.onConnect = ({ listener }) => listener.connected()
    await awaitNextAttempt(home)
    assert.equal((await home.app.run('status', {})).health.ok, true)
  })

  const faults: readonly [string, (chat: ConnectingChannel) => void][] = [
    [
      'throws at once',
      (chat) => {
        chat.onConnect = () => assert.fail('broken')
      },
    ],
    ['returns at once', (chat) => Object.assign(chat, { onConnect: chat.onConnect, connect: undefinedConnect(chat) })],
    [
      'never connects',
      (chat) => {
        chat.onConnect = () => {}
      },
    ],
  ]
  for (const [name, prepare] of faults)
    test(`E12, I9: a channel that ${name} is tried again, and harms nothing else`, async (t) => {
      const home = await startConnected(t, prepare)
      await runClockFor(home.clock, MINUTE + 5000)
      await waitUntil(() => home.chat.opened.length > 1)
      assert.equal((await connectionOf(home, 'other'))?.state, 'connected')
      assert.equal((await home.app.run('status', {})).kernel.state, 'running')
    })

  test('E12: a channel that ignores its signal does not keep the program from stopping', async (t) => {
    const chat = connectingChannel()
    const hanging = { ...chat, connect: () => new Promise<void>(() => {}) }
    const home = await openKernelApp(t, {
      ...{ agents: [], config: { server: { port: 0 } }, options: { channels: [hanging] } },
    })
    const started = home.app.run('start', {})
    await waitUntil(() => home.app.context.draining())
    await home.app.run('stop', {})
    await runClockFor(home.clock, 5000)
    await started
  })

  test('E12: what a channel passes on is checked; garbage is refused, and the next message is heard', async (t) => {
    const home = await startConnected(t)
    await home.app.run('channels pair', { name: 'chat', chat: 'c9' })
    const { listener } = last(home)
    const garbage: readonly unknown[] = [
      ...[undefined, null, 7, 'hello', [], {}],
      { ...chatMessage('x'), text: 7 },
      { ...chatMessage('x'), text: 'x'.repeat(100_001) },
      { ...chatMessage('x'), message_id: '' },
      { ...chatMessage('x'), message_id: 'm'.repeat(201) },
      { ...chatMessage('x'), chat_id: '\ud800' },
      { ...chatMessage('x'), thread_id: 5 },
      { ...chatMessage('x'), files: [{ name: 'a' }] },
      new Proxy({}, { get: () => assert.fail('a trap') }),
    ]
    for (const message of garbage) await assert.rejects(listener.receive(message as ChatMessage), { code: 'usage' })
    // The name of the channel is the channel's, whatever the message says.
    await listener.receive(chatMessage('/status', { channel: 'console' }))
    await waitUntil(() => home.chat.received.length === 1)
    assert.match(home.chat.received[0]?.text ?? '', /^Kernel\[default\]/)
    assert.equal((await connectionOf(home))?.state, 'connected')
  })

  test('E12: a connection that was lost can neither pass messages on nor change the state', async (t) => {
    const home = await startConnected(t)
    const first = last(home)
    first.lose()
    await waitUntil(async () => (await connectionOf(home))?.state === 'waiting')
    first.listener.connected()
    assert.equal((await connectionOf(home))?.state, 'waiting')
    await assert.rejects(first.listener.receive(chatMessage('late')), { code: 'channel_unavailable' })
  })
})

/** Counts the calls, and returns at once. */
function undefinedConnect(chat: ConnectingChannel): NonNullable<ConnectingChannel['connect']> {
  return async (listener, signal) => {
    chat.opened.push({ listener, signal, lose: () => {}, end: () => {} })
  }
}
