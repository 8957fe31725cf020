import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { handleChatMessage } from '../src/commands/lib/chat-commands.ts'
import type { ChannelMessage, OutboxMessage } from '../src/domain/message.ts'
import { commitOne } from '../src/ports/store.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { type HookServer, startHookServer } from './support/hook-server.ts'
import { type HttpApp, type HttpResponse, openHttpApp, sendRequest } from './support/http-app.ts'

const SECRET = 'the secret of the hook'
const HOOK = '/api/v1/hooks/webhook'
const MINUTE = 60_000

interface HookedApp extends HttpApp {
  readonly clock: FakeClock
  readonly outside: HookServer
}

async function openHookedApp(t: TestContext, secret = `secret: ${SECRET}`): Promise<HookedApp> {
  const receiver = await startHookServer(t)
  const clock = new FakeClock()
  const yaml = `server: { port: 0 }\nchannels: { webhook: { url: "${receiver.url}", ${secret} } }\n`
  return { ...(await openHttpApp(t, { clock, yaml })), clock, outside: receiver }
}

interface Delivery {
  readonly delivery?: string
  readonly at?: number
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a signed request as the documentation describes it. */
function send(
  hooked: HookedApp,
  message: object | string,
  delivered: Delivery = {},
  path = HOOK,
): Promise<HttpResponse> {
  const { delivery = 'd1', at = hooked.clock.now(), secret = SECRET, headers = {} } = delivered
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const timestamp = String(Math.floor(at / 1000))
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return sendRequest(hooked, path, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Tireless-Timestamp': timestamp,
      'X-Tireless-Signature': `sha256=${signature}`,
      'X-Tireless-Delivery': delivery,
      ...headers,
    },
    body,
  })
}

const noticeTarget = async ({ app }: HookedApp): Promise<unknown> => (await app.run('channels list', {})).target

const replies = async ({ app }: HookedApp): Promise<readonly OutboxMessage[]> =>
  (await app.run('notices list', {})).items

/** Pairs a chat as the owner does: the code from the terminal is sent in the chat. */
async function pairChat(hooked: HookedApp, chat_id: string): Promise<void> {
  const { code } = await hooked.app.run('channels pair', { name: 'webhook' })
  await send(hooked, { text: `/pair ${code}`, chat_id }, { delivery: `pair-${chat_id}` })
}

const pairedChats = async ({ app }: HookedApp): Promise<unknown> =>
  (await app.run('channels list', {})).paired.map(({ chat_id }) => chat_id)

describe('unpaired chats through a signed relay', () => {
  test('commands of an unpaired chat change nothing, get no reply and leave no record', async (t) => {
    const hooked = await openHookedApp(t, `secret: ${SECRET}, chat_id: ops`)
    await send(hooked, { text: '/notice' }, { delivery: 'own' })
    const before = await noticeTarget(hooked)
    const texts = [
      '/notice',
      '/NOTICE',
      ' /notice ',
      '/notice off',
      '/status',
      'hello',
      '/pair',
      '/pair x y',
      '/pair AAAAAAAA',
    ]
    for (const [i, text] of texts.entries())
      for (const [j, chat_id] of ['stranger', 'OPS', 'ops ', ''].entries())
        assert.equal((await send(hooked, { text, chat_id, user_id: 'owner' }, { delivery: `${i}-${j}` })).status, 200)
    assert.deepEqual(await noticeTarget(hooked), before)
    assert.equal((await replies(hooked)).length, 1, 'only the owner got a reply')
  })

  test('a chat without an id is unpaired, unless configured, until it sends the code', async (t) => {
    const hooked = await openHookedApp(t)
    await send(hooked, { text: '/notice' }, { delivery: 'n1' })
    assert.deepEqual(
      { noticeTarget: await noticeTarget(hooked), replies: await replies(hooked) },
      { noticeTarget: null, replies: [] },
    )
    const { code } = await hooked.app.run('channels pair', { name: 'webhook' })
    assert.equal(await noticeTarget(hooked), null, 'no notices before a chat has sent the code')
    await send(hooked, { text: `/pair ${code}` }, { delivery: 'n2' })
    assert.deepEqual(await pairedChats(hooked), [null])
    assert.deepEqual(await noticeTarget(hooked), { channel: 'webhook', chat_id: null, by: 'person' })
    await pairChat(hooked, 'c5')
    assert.deepEqual(await noticeTarget(hooked), { channel: 'webhook', chat_id: 'c5', by: 'person' })
    await pairChat(hooked, 'c6')
    assert.deepEqual(await noticeTarget(hooked), { channel: 'webhook', chat_id: 'c5', by: 'person' })
  })

  test('a code pairs one chat: once, within ten minutes, with at most five guesses, also concurrently', async (t) => {
    const hooked = await openHookedApp(t)
    const code = async () => (await hooked.app.run('channels pair', { name: 'webhook' })).code
    const sendText = (text: string, chat_id: string, delivery: string) => send(hooked, { text, chat_id }, { delivery })
    const expired = await code()
    await hooked.clock.advance(11 * MINUTE)
    await sendText(`/pair ${expired}`, 'c1', 'late')
    assert.deepEqual(await pairedChats(hooked), [])
    const guessedCode = await code()
    const guess = (i: number, channel = 'webhook') =>
      handleChatMessage(hooked.app.context, {
        ...{ channel, chat_id: `g${i}`, user_id: 'u', message_id: `guess-${i}`, text: `/pair WRONG${i}` },
      })
    for (let i = 0; i < 9; i += 1) await guess(100 + i, 'another channel')
    assert.equal((await replies(hooked)).length, 0, 'a guess on another channel does not count')
    await Promise.all(Array.from({ length: 20 }, (_, i) => guess(i)))
    assert.equal((await replies(hooked)).length, 5, 'only five guesses are answered')
    await sendText(`/pair ${guessedCode}`, 'c1', 'after')
    assert.deepEqual(await pairedChats(hooked), [])
    const valid = await code()
    await sendText(` /Pair ${valid?.toLowerCase()} `, 'c1', 'good')
    await sendText(`/pair ${valid}`, 'c2', 'again')
    assert.deepEqual(await pairedChats(hooked), ['c1'])
    await sendText('/notice', 'c1', 'n1')
    assert.deepEqual(await noticeTarget(hooked), { channel: 'webhook', chat_id: 'c1', by: 'person' })
    await hooked.app.run('channels unpair', { name: 'webhook', chat: 'c1' })
    await sendText('/notice', 'c1', 'n2')
    assert.deepEqual(
      { pairedChats: await pairedChats(hooked), noticeTarget: await noticeTarget(hooked) },
      { pairedChats: [], noticeTarget: null },
    )
  })
})

describe('a chat bound by a version without pairing', () => {
  const bindWithoutPairing = ({ app }: HookedApp, chat_id: string) =>
    commitOne(app.context.store, [{ op: 'set', name: 'notice', value: { channel: 'webhook', chat_id } }])
  const noticeChecks = async ({ app }: HookedApp) =>
    (await app.run('doctor', {})).checks
      .filter(({ name }) => name === 'notices')
      .map(({ ok, found, remedy }) => [ok, `${found}; ${remedy}`])
  const degraded = async ({ app }: HookedApp) => (await app.run('status', {})).degraded

  test('gets no notices until it is paired; status and doctor name the command', async (t) => {
    const hooked = await openHookedApp(t)
    await bindWithoutPairing(hooked, "c'7")
    assert.equal(await noticeTarget(hooked), null)
    const command = "tireless channels pair webhook --chat 'c'\\''7'"
    const [[ok, message] = []] = await noticeChecks(hooked)
    assert.equal(ok, false)
    assert.ok(String(message).includes(command), String(message))
    assert.ok((await degraded(hooked)).some((line) => line.includes(command)))
    await hooked.app.run('channels pair', { name: 'webhook', chat: "c'7" })
    assert.deepEqual(await noticeTarget(hooked), { channel: 'webhook', chat_id: "c'7", by: 'person' })
    assert.deepEqual(
      { isOk: (await noticeChecks(hooked))[0]?.[0], degraded: await degraded(hooked) },
      { isOk: true, degraded: [] },
    )
  })

  test('gets no queued messages; notices go to the chat that the configuration names', async (t) => {
    const hooked = await openHookedApp(t, `secret: ${SECRET}, chat_id: ops`)
    await bindWithoutPairing(hooked, 'stranger')
    const now = hooked.clock.now()
    for (const kind of ['notice', 'digest', 'alert'] as const)
      for (const chat_id of ['stranger', 'ops'])
        await commitOne(hooked.app.context.store, [
          {
            op: 'post',
            message: { id: `${kind}-${chat_id}`, channel: 'webhook', chat_id, kind, text: 'x' },
            ...{ due: now, now },
          },
        ])
    await hooked.app.run('start', { until_idle: true })
    const chats = hooked.outside.received.map(({ body }) => (JSON.parse(body) as ChannelMessage).chat_id)
    assert.deepEqual(chats, ['ops', 'ops', 'ops'])
    const failed = (await replies(hooked)).filter(({ status }) => status === 'failed')
    assert.equal(failed.length, 3)
    assert.match(
      failed[0]?.error ?? '',
      /not paired; do this: if it is yours: tireless channels pair webhook --chat stranger/,
    )
    await hooked.app.run('channels unpair', { name: 'webhook', chat: 'stranger' })
    assert.deepEqual(await degraded(hooked), [])
  })
})

describe('POST /api/v1/hooks/webhook', () => {
  test('E12: a signed /notice binds the chat, needs no token, and is answered by the channel', async (t) => {
    const hooked = await openHookedApp(t)
    await pairChat(hooked, 'c7')
    const { status, text } = await send(hooked, { text: '/notice', chat_id: 'c7' })
    assert.deepEqual({ status, body: JSON.parse(text) }, { status: 200, body: { ok: true, duplicate: false } })
    assert.deepEqual(await noticeTarget(hooked), { channel: 'webhook', chat_id: 'c7', by: 'person' })
    await hooked.app.run('start', { until_idle: true })
    const reply = hooked.outside.received.at(-1)
    const { kind, chat_id } = JSON.parse(reply?.body ?? '') as ChannelMessage
    assert.deepEqual({ kind, chat_id }, { kind: 'reply', chat_id: 'c7' })
  })

  test('a delivery is handled once: repeated, signed again, or sent under another id', async (t) => {
    const hooked = await openHookedApp(t, `secret: ${SECRET}, chat_id: ops`)
    const first = hooked.clock.now()
    await send(hooked, { text: '/notice' })
    await send(hooked, { text: '/notice off' }, { delivery: 'd2' })
    assert.equal(await noticeTarget(hooked), null)
    await hooked.clock.advance(1000)
    for (const delivered of [{ at: first }, {}, { at: first, delivery: 'd9' }]) {
      const { status, text } = await send(hooked, { text: '/notice' }, delivered)
      assert.deepEqual({ status, body: JSON.parse(text) }, { status: 200, body: { ok: true, duplicate: true } })
    }
    assert.equal(await noticeTarget(hooked), null)
    assert.equal((await replies(hooked)).length, 2)
  })

  for (const [what, message, delivered, status, code] of [
    ['a wrong secret', { text: '/notice' }, { secret: 'guessed' }, 401, 'unauthorized'],
    ['a timestamp six minutes old', { text: '/notice' }, { at: -6 * MINUTE }, 401, 'unauthorized'],
    ['no delivery id', { text: '/notice' }, { headers: { 'X-Tireless-Delivery': '' } }, 401, 'unauthorized'],
    ['no text', {}, {}, 400, 'usage'],
    ['more than 64 kB', { text: 'x'.repeat(70_000) }, {}, 401, 'unauthorized'],
    ['more than the size limit', { text: 'x'.repeat(2_000_000) }, {}, 413, 'usage'],
    ['another content type', { text: '/notice' }, { headers: { 'Content-Type': 'text/plain' } }, 415, 'usage'],
    ['a page of another site', { text: '/notice' }, { headers: { Origin: 'https://evil.example' } }, 403, 'forbidden'],
  ] as const)
    test(`refused with ${status}: ${what}`, async (t) => {
      const hooked = await openHookedApp(t)
      const at = 'at' in delivered ? { at: hooked.clock.now() + delivered.at } : {}
      const answered = await send(hooked, message, { ...delivered, ...at })
      assert.deepEqual({ status: answered.status, code: answered.code }, { status, code })
      assert.deepEqual(
        { noticeTarget: await noticeTarget(hooked), replies: await replies(hooked) },
        { noticeTarget: null, replies: [] },
      )
    })

  test('an unknown hook or an outbound channel is 404; a missing secret is 503 and not named', async (t) => {
    const hooked = await openHookedApp(t, 'secret_env: NO_SUCH_VARIABLE')
    for (const name of ['lark', 'console'])
      assert.equal((await send(hooked, { text: 'x' }, {}, `/api/v1/hooks/${name}`)).status, 404)
    const { status, text } = await send(hooked, { text: '/notice' })
    assert.equal(status, 503)
    assert.ok(!text.includes('NO_SUCH_VARIABLE'))
  })
})
