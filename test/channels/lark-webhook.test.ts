/** What the channel `lark` receives in webhook mode: only what Lark signed, encrypted and sent just now. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { TirelessError } from '../../src/domain/error.ts'
import type { Channel, IncomingRequest } from '../../src/ports/channel.ts'
import { channelTo } from '../support/lark-channels.ts'
import {
  encrypt,
  envelope,
  type LarkEvent,
  messageEvent,
  pressEvent,
  signedPost,
  type WebhookPost,
} from '../support/lark-server/events.ts'
import { type LarkServer, startLarkServer } from '../support/lark-server.ts'

const MINUTE = 60_000

async function openHook(t: TestContext, keys: 'both' | 'token' = 'both') {
  const lark = await startLarkServer(t)
  const { channel } = channelTo(lark, {
    ...{ mode: 'webhook', verificationToken: () => lark.verificationToken },
    encryptKey: () => (keys === 'both' ? lark.encryptKey : undefined),
  })
  const now = Date.now()
  const receive = (post: WebhookPost, at = now) => receiveIn(channel, { ...post, now: at })
  const sign = (event: LarkEvent, at = now, key = lark.encryptKey): WebhookPost => signedPost(event, key, at)
  return { lark, channel, receive, sign, now }
}

const receiveIn = (channel: Channel, request: IncomingRequest) => (channel.receive ?? assert.fail())(request)
const hello = (lark: LarkServer): LarkEvent => messageEvent(lark, { text: 'hello' })

describe('the webhook of Lark', () => {
  test('E16: a signed and encrypted message is received, with a proof of its own', async (t) => {
    const { lark, receive, sign } = await openHook(t)
    const event = hello(lark)
    const [first, second] = [receive(sign(event)), receive(sign(event))]
    assert.ok(first.message && second.message)
    assert.deepEqual(first.message, {
      ...{ channel: 'lark', chat_id: 'oc_home', user_id: 'ou_owner', text: 'hello' },
      message_id: lark.messages[0]?.message_id,
    })
    assert.notEqual(first.proof, second.proof)
  })

  test('E16: the same request has the same proof, so a replay is recognised', async (t) => {
    const { lark, receive, sign } = await openHook(t)
    const post = sign(hello(lark))
    const proofs = [receive(post), receive(post)].map((received) => (received.message ? received.proof : ''))
    assert.ok(proofs[0] !== '' && proofs[0] === proofs[1])
  })

  test('E16: the check of the address is answered with its challenge, signed or not', async (t) => {
    const { lark, receive } = await openHook(t)
    const check = { challenge: 'c-1', token: lark.verificationToken, type: 'url_verification' }
    const unsigned = { headers: {}, body: JSON.stringify({ encrypt: encrypt(check, lark.encryptKey) }) }
    assert.deepEqual(receive(unsigned), { answer: { challenge: 'c-1' } })
    assert.deepEqual(receive(signedPost(check, lark.encryptKey, Date.now())), { answer: { challenge: 'c-1' } })
    assert.throws(() => receive(signedPost({ ...check, token: 'other' }, lark.encryptKey, Date.now())), {
      code: 'unauthorized',
    })
    assert.throws(() => receive({ headers: {}, body: JSON.stringify(check) }), { code: 'unauthorized' })
  })

  test('E16: a pressed button is received and answered with what the person sees', async (t) => {
    const { lark, receive, sign } = await openHook(t)
    hello(lark)
    const card = lark.messages[0] ?? assert.fail()
    const pressed = receive(sign(pressEvent(lark, card, { command: '/deny i1', message: 'm1' })))
    assert.equal(pressed.message?.text, '/deny i1')
    assert.deepEqual((pressed.answer as { toast: { type: string } }).toast.type, 'info')
  })

  test('E16: other events, bots and groups without a mention are answered and ignored', async (t) => {
    const { lark, receive, sign } = await openHook(t)
    const ignored = [
      envelope(lark, 'im.chat.updated_v1', {}),
      messageEvent(lark, { text: 'x', isBot: true }),
      messageEvent(lark, { text: 'x', group: true }),
    ]
    for (const event of ignored) assert.deepEqual(receive(sign(event)), { answer: {} })
  })

  test('E16: with a verification token only, token and time of the event are checked', async (t) => {
    const { lark, receive, now } = await openHook(t, 'token')
    const post = (event: LarkEvent) => ({ headers: {}, body: JSON.stringify(event) })
    const event = hello(lark)
    assert.equal(receive(post(event)).message?.text, 'hello')
    const with_ = (header: Record<string, string>) => post({ ...event, header: { ...event.header, ...header } })
    const old = String(now - 6 * MINUTE)
    for (const header of [
      { token: 'guessed' },
      { token: '' },
      { create_time: old },
      { create_time: '' },
      { app_id: 'cli_x' },
    ])
      assert.throws(() => receive(with_(header)), { code: 'unauthorized' }, JSON.stringify(header))
  })
})

describe('requests that Lark did not send', () => {
  for (const [what, forge] of [
    ['another key', (lark, at) => signedPost(hello(lark), 'guessed', at)],
    ['no signature', (lark, at) => ({ ...signedPost(hello(lark), lark.encryptKey, at), headers: {} })],
    [
      'an empty signature',
      (lark, at) => withHeaders(signedPost(hello(lark), lark.encryptKey, at), { 'x-lark-signature': '' }),
    ],
    [
      'another body',
      (lark, at) => ({
        ...signedPost(hello(lark), lark.encryptKey, at),
        body: signedPost(hello(lark), lark.encryptKey, at).body,
      }),
    ],
    [
      'another nonce',
      (lark, at) => withHeaders(signedPost(hello(lark), lark.encryptKey, at), { 'x-lark-request-nonce': 'n' }),
    ],
    [
      'another time',
      (lark, at) =>
        withHeaders(signedPost(hello(lark), lark.encryptKey, at), {
          'x-lark-request-timestamp': String(Math.floor(at / 1000) + 1),
        }),
    ],
    [
      'no time',
      (lark, at) => withHeaders(signedPost(hello(lark), lark.encryptKey, at), { 'x-lark-request-timestamp': '' }),
    ],
    ['more than five minutes old', (lark, at) => signedPost(hello(lark), lark.encryptKey, at - 5 * MINUTE - 1000)],
    ['more than five minutes ahead', (lark, at) => signedPost(hello(lark), lark.encryptKey, at + 5 * MINUTE + 1000)],
    ['not encrypted', (lark) => ({ headers: {}, body: JSON.stringify(hello(lark)) })],
    [
      'another app',
      (lark, at) =>
        signedPost({ ...hello(lark), header: { ...hello(lark).header, app_id: 'cli_other' } }, lark.encryptKey, at),
    ],
    [
      'another token',
      (lark, at) =>
        signedPost({ ...hello(lark), header: { ...hello(lark).header, token: 'other' } }, lark.encryptKey, at),
    ],
    ['an event of version 1', (lark, at) => signedPost({ ...hello(lark), schema: '1.0' }, lark.encryptKey, at)],
    ['too large', (lark, at) => signedPost({ ...hello(lark), more: 'x'.repeat(1024 * 1024) }, lark.encryptKey, at)],
    ['no JSON', () => ({ headers: {}, body: 'x' })],
  ] as readonly (readonly [string, (lark: LarkServer, at: number) => WebhookPost])[])
    test(`E16: Lark did not send it: ${what}`, async (t) => {
      const { lark, receive, now } = await openHook(t)
      assert.throws(() => receive(forge(lark, now)), { code: 'unauthorized' })
    })

  test('E16: in connection mode, and without a configuration, there is no webhook', async (t) => {
    const lark = await startLarkServer(t)
    const post = { ...signedPost(hello(lark), lark.encryptKey, Date.now()), now: Date.now() }
    const keys = { encryptKey: () => lark.encryptKey, verificationToken: () => lark.verificationToken }
    assert.throws(() => receiveIn(channelTo(lark, keys).channel, post), { code: 'not_found' })
    const none = channelTo(lark, {
      ...keys,
      mode: 'webhook',
      encryptKey: () => undefined,
      verificationToken: () => undefined,
    })
    assert.throws(() => receiveIn(none.channel, post), { code: 'unauthorized' })
  })

  test('E16: whatever is signed, encrypted or sent, nothing but a TirelessError is thrown', async (t) => {
    const { lark, receive, now } = await openHook(t)
    const anyPost = fc.oneof(
      fc.record({ body: fc.string(), headers: fc.dictionary(fc.string(), fc.string()) }),
      fc.json().map((body) => ({ body, headers: {} })),
      fc.string().map((text) => ({ body: JSON.stringify({ encrypt: text }), headers: {} })),
      fc.anything().map((value) => signedPost(value ?? null, lark.encryptKey, now)),
      fc
        .anything()
        .map((event) => signedPost({ ...envelope(lark, 'im.message.receive_v1', {}), event }, lark.encryptKey, now)),
      fc
        .anything()
        .map((event) => signedPost({ ...envelope(lark, 'card.action.trigger', {}), event }, lark.encryptKey, now)),
    )
    fc.assert(
      fc.property(anyPost, (post) => {
        try {
          receive(post)
        } catch (thrown) {
          assert.ok(thrown instanceof TirelessError, String(thrown))
        }
      }),
    )
  })
})

const withHeaders = (post: WebhookPost, headers: Readonly<Record<string, string>>): WebhookPost => ({
  ...{ ...post, headers: { ...post.headers, ...headers } },
})
