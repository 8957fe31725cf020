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

interface Hooked extends HttpApp {
  readonly clock: FakeClock
  readonly outside: HookServer
}

async function hooked(t: TestContext, secret = `secret: ${SECRET}`): Promise<Hooked> {
  const outside = await startHookServer(t)
  const clock = new FakeClock()
  const yaml = `server: { port: 0 }\nchannels: { webhook: { url: "${outside.url}", ${secret} } }\n`
  return { ...(await openHttpApp(t, { clock, yaml })), clock, outside }
}

interface Sent {
  readonly delivery?: string
  readonly at?: number
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** As another program would, from the documentation alone. */
function send(its: Hooked, word: object | string, sent: Sent = {}, path = HOOK): Promise<HttpResponse> {
  const { delivery = 'd1', at = its.clock.now(), secret = SECRET, headers = {} } = sent
  const body = typeof word === 'string' ? word : JSON.stringify(word)
  const timestamp = String(Math.floor(at / 1000))
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return sendRequest(its, path, {
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

const target = async ({ app }: Hooked): Promise<unknown> =>
  ((await app.run('channels list', {})) as { target: unknown }).target

const replies = async ({ app }: Hooked): Promise<readonly OutboxMessage[]> =>
  ((await app.run('notices list', {})) as { items: OutboxMessage[] }).items

/** As the owner does it: the code of his terminal, said in the chat. */
async function pairedBy(its: Hooked, chat_id: string): Promise<void> {
  const { code } = (await its.app.run('channels pair', { name: 'webhook' })) as { code: string }
  await send(its, { text: `/pair ${code}`, chat_id }, { delivery: `pair-${chat_id}` })
}

const paired = async ({ app }: Hooked): Promise<unknown> =>
  ((await app.run('channels list', {})) as { paired: { chat_id: string | null }[] }).paired.map(
    ({ chat_id }) => chat_id,
  )

describe("strangers' chats through a signed relay", () => {
  test("a stranger's /notice, /notice off and /status change nothing, are not answered and leave nothing behind", async (t) => {
    const its = await hooked(t, `secret: ${SECRET}, chat_id: ops`)
    await send(its, { text: '/notice' }, { delivery: 'own' })
    const before = await target(its)
    const words = [
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
    for (const [i, text] of words.entries())
      for (const [j, chat_id] of ['stranger', 'OPS', 'ops ', ''].entries())
        assert.equal((await send(its, { text, chat_id, user_id: 'owner' }, { delivery: `${i}-${j}` })).status, 200)
    assert.deepEqual(await target(its), before)
    assert.equal((await replies(its)).length, 1, 'the owner alone was answered')
  })

  test('a chat without a name is a stranger where the configuration names none, until it says the code', async (t) => {
    const its = await hooked(t)
    await send(its, { text: '/notice' }, { delivery: 'n1' })
    assert.deepEqual([await target(its), await replies(its)], [null, []])
    const { code } = (await its.app.run('channels pair', { name: 'webhook' })) as { code: string }
    await send(its, { text: `/pair ${code}` }, { delivery: 'n2' })
    assert.deepEqual(await paired(its), [null])
  })

  test('a chat that says the code is paired: once, not after ten minutes, not after five wrong guesses, also many at once', async (t) => {
    const its = await hooked(t)
    const code = async () => ((await its.app.run('channels pair', { name: 'webhook' })) as { code: string }).code
    const say = (text: string, chat_id: string, delivery: string) => send(its, { text, chat_id }, { delivery })
    const late = await code()
    await its.clock.advance(11 * MINUTE)
    await say(`/pair ${late}`, 'c1', 'late')
    assert.deepEqual(await paired(its), [])
    const guessed = await code()
    const guess = (i: number, channel = 'webhook') =>
      handleChatMessage(its.app.context, {
        ...{ channel, chat_id: `g${i}`, user_id: 'u', message_id: `guess-${i}`, text: `/pair WRONG${i}` },
      })
    for (let i = 0; i < 9; i += 1) await guess(100 + i, 'another channel')
    assert.equal((await replies(its)).length, 0, 'a guess on another channel is none')
    await Promise.all(Array.from({ length: 20 }, (_, i) => guess(i)))
    assert.equal((await replies(its)).length, 5, 'no more guesses than that are heard')
    await say(`/pair ${guessed}`, 'c1', 'after')
    assert.deepEqual(await paired(its), [])
    const good = await code()
    await say(` /Pair ${good.toLowerCase()} `, 'c1', 'good')
    await say(`/pair ${good}`, 'c2', 'again')
    assert.deepEqual(await paired(its), ['c1'])
    await say('/notice', 'c1', 'n1')
    assert.deepEqual(await target(its), { channel: 'webhook', chat_id: 'c1', by: 'person' })
    await its.app.run('channels unpair', { name: 'webhook', chat: 'c1' })
    await say('/notice', 'c1', 'n2')
    assert.deepEqual([await paired(its), await target(its)], [[], null])
  })
})

describe('a chat that was bound before there was pairing', () => {
  const bindAsBefore = ({ app }: Hooked, chat_id: string) =>
    commitOne(app.context.store, [{ op: 'set', name: 'notice', value: { channel: 'webhook', chat_id } }])
  const doctorsWord = async ({ app }: Hooked) =>
    ((await app.run('doctor', {})) as { checks: { name: string; ok: boolean; found: string; remedy: string }[] }).checks
      .filter(({ name }) => name === 'notices')
      .map(({ ok, found, remedy }) => [ok, `${found}; ${remedy}`])
  const degraded = async ({ app }: Hooked) => ((await app.run('status', {})) as { degraded: string[] }).degraded

  test('gets no notices until it is paired; status and doctor name the command', async (t) => {
    const its = await hooked(t)
    await bindAsBefore(its, "c'7")
    assert.equal(await target(its), null)
    const command = "tireless channels pair webhook --chat 'c'\\''7'"
    const [[ok, word] = []] = await doctorsWord(its)
    assert.equal(ok, false)
    assert.ok(String(word).includes(command), String(word))
    assert.ok((await degraded(its)).some((line) => line.includes(command)))
    await its.app.run('channels pair', { name: 'webhook', chat: "c'7" })
    assert.deepEqual(await target(its), { channel: 'webhook', chat_id: "c'7", by: 'person' })
    assert.deepEqual([(await doctorsWord(its))[0]?.[0], await degraded(its)], [true, []])
  })

  test('what waited for it in the outbox is not sent there; where the configuration names a chat, notices go to that one', async (t) => {
    const its = await hooked(t, `secret: ${SECRET}, chat_id: ops`)
    await bindAsBefore(its, 'stranger')
    const now = its.clock.now()
    for (const kind of ['notice', 'digest', 'alert'] as const)
      for (const chat_id of ['stranger', 'ops'])
        await commitOne(its.app.context.store, [
          {
            op: 'post',
            message: { id: `${kind}-${chat_id}`, channel: 'webhook', chat_id, kind, text: 'x' },
            ...{ due: now, now },
          },
        ])
    await its.app.run('start', { until_idle: true })
    const chats = its.outside.received.map(({ body }) => (JSON.parse(body) as ChannelMessage).chat_id)
    assert.deepEqual(chats, ['ops', 'ops', 'ops'])
    const failed = (await replies(its)).filter(({ status }) => status === 'failed')
    assert.equal(failed.length, 3)
    assert.match(
      failed[0]?.error ?? '',
      /not paired; do this: if it is yours: tireless channels pair webhook --chat stranger/,
    )
    await its.app.run('channels unpair', { name: 'webhook', chat: 'stranger' })
    assert.deepEqual(await degraded(its), [])
  })
})

describe('POST /api/v1/hooks/webhook', () => {
  test('E12: a signed /notice binds the chat, needs no token, and is answered by the channel', async (t) => {
    const its = await hooked(t)
    await pairedBy(its, 'c7')
    const { status, text } = await send(its, { text: '/notice', chat_id: 'c7' })
    assert.deepEqual([status, JSON.parse(text)], [200, { ok: true, duplicate: false }])
    assert.deepEqual(await target(its), { channel: 'webhook', chat_id: 'c7', by: 'person' })
    await its.app.run('start', { until_idle: true })
    const reply = its.outside.received.at(-1)
    const { kind, chat_id } = JSON.parse(reply?.body ?? '') as ChannelMessage
    assert.deepEqual([kind, chat_id], ['reply', 'c7'])
  })

  test('what came once is acted on once: sent again, signed again, or sent by somebody else under another id', async (t) => {
    const its = await hooked(t, `secret: ${SECRET}, chat_id: ops`)
    const first = its.clock.now()
    await send(its, { text: '/notice' })
    await send(its, { text: '/notice off' }, { delivery: 'd2' })
    assert.equal(await target(its), null)
    await its.clock.advance(1000)
    for (const sent of [{ at: first }, {}, { at: first, delivery: 'd9' }]) {
      const { status, text } = await send(its, { text: '/notice' }, sent)
      assert.deepEqual([status, JSON.parse(text)], [200, { ok: true, duplicate: true }])
    }
    assert.equal(await target(its), null)
    assert.equal((await replies(its)).length, 2)
  })

  for (const [what, word, sent, status, code] of [
    ['another secret', { text: '/notice' }, { secret: 'guessed' }, 401, 'unauthorized'],
    ['of six minutes ago', { text: '/notice' }, { at: -6 * MINUTE }, 401, 'unauthorized'],
    ['no id', { text: '/notice' }, { headers: { 'X-Tireless-Delivery': '' } }, 401, 'unauthorized'],
    ['no words', {}, {}, 400, 'usage'],
    ['more than 64 kB', { text: 'x'.repeat(70_000) }, {}, 401, 'unauthorized'],
    ['more than anybody reads', { text: 'x'.repeat(2_000_000) }, {}, 413, 'usage'],
    ['no JSON', { text: '/notice' }, { headers: { 'Content-Type': 'text/plain' } }, 415, 'usage'],
    ['a page of another site', { text: '/notice' }, { headers: { Origin: 'https://evil.example' } }, 403, 'forbidden'],
  ] as const)
    test(`refused with ${status}: ${what}`, async (t) => {
      const its = await hooked(t)
      const at = 'at' in sent ? { at: its.clock.now() + sent.at } : {}
      const answered = await send(its, word, { ...sent, ...at })
      assert.deepEqual([answered.status, answered.code], [status, code])
      assert.deepEqual([await target(its), await replies(its)], [null, []])
    })

  test('a hook that is not there, a channel that takes nothing in, and one without its secret, which says nothing of that', async (t) => {
    const its = await hooked(t, 'secret_env: NO_SUCH_VARIABLE')
    for (const name of ['lark', 'console'])
      assert.equal((await send(its, { text: 'x' }, {}, `/api/v1/hooks/${name}`)).status, 404)
    const { status, text } = await send(its, { text: '/notice' })
    assert.equal(status, 503)
    assert.ok(!text.includes('NO_SUCH_VARIABLE'))
  })
})
