import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { startHookServer } from '../../../test/support/hook-server.ts'
import { waitUntil } from '../../../test/support/open-app.ts'
import { TirelessError } from '../../domain/error.ts'
import type { ChannelMessage } from '../../domain/message.ts'
import type { Channel } from '../../ports/channel.ts'
import { signBody } from '../../ports/signed-request.ts'
import { channelConformance, channelMessage } from '../../testing/channel-conformance.ts'
import type { ChannelPeer, VisibleMessage } from '../../testing/channel-peer.ts'
import { consoleChannel } from './console.ts'
import { type Desktop, desktopChannel } from './desktop.ts'
import { postRequest } from './post-request.ts'
import { webhookChannel } from './webhook.ts'

const NOW = Date.UTC(2026, 0, 1)
const SECRET = 'the secret of the hook'
const never = new AbortController().signal

const hookTo = (url: string, chat_id: string | null = null): Channel =>
  webhookChannel(() => ({ url, chat_id, replaces: true, secret: () => SECRET }), { now: () => NOW })

async function webhookSide(t: TestContext): Promise<ChannelPeer> {
  const side = await startHookServer(t)
  return {
    channel: hookTo(side.url),
    listArrived: async () => side.received.map(({ body }) => (JSON.parse(body) as ChannelMessage).text),
    async stopAnswering() {
      side.answer = () => {}
      return { reached: waitUntil(() => side.received.length > 0) }
    },
    async startRefusing() {
      side.answer = (response) => response.writeHead(500).end()
    },
    async startLimiting(ms) {
      side.answer = (response) => response.writeHead(429, { 'retry-after': String(ms / 1000) }).end()
    },
    async startGarbage() {
      side.answer = (response) => response.socket?.end('this is not HTTP\r\n\r\n')
    },
    listVisible: async () => shownBy(side.received.map(({ body }) => JSON.parse(body) as WebhookMessage)),
    async writeFile(name, content) {
      const folder = mkdtempSync(join(tmpdir(), 'tireless-files-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    },
  }
}

type WebhookMessage = ChannelMessage & {
  readonly files?: readonly { readonly name: string; readonly base64: string }[]
}

/** What a receiver shows that replaces messages. */
function shownBy(messages: readonly WebhookMessage[]): readonly VisibleMessage[] {
  const shown = new Map(messages.map((message) => [message.replaces ?? message.id, message]))
  return [...shown.values()].map(({ text, card, files = [] }) => ({
    text,
    commands: card?.items.flatMap(({ actions }) => actions.map(({ command }) => command)) ?? [],
    files: files.map(({ name, base64 = '' }) => ({ name, content: Buffer.from(base64, 'base64').toString() })),
  }))
}

function consoleSide(): ChannelPeer {
  const shown: string[] = []
  const channel = consoleChannel({ show: (text) => void shown.push(text), log: () => {} })
  return { channel, listArrived: async () => shown }
}

/** A fake notify-send that records its arguments. */
function desktopSide(t: TestContext): ChannelPeer & { readonly desktop: Desktop; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tireless-desktop-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [program, file] = [join(folder, 'notify-send'), join(folder, 'calls')]
  const replaceProgram = (script: string): void => {
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, 0o700)
  }
  const ran = join(folder, 'ran')
  replaceProgram(`printf '%s\\0' "$@" DISPLAY=$DISPLAY SECRET=$SECRET END >> '${file}'`)
  const desktop: Desktop = {
    platform: 'linux',
    env: { DISPLAY: ':9', SECRET: 'not for children', PATH: '/usr/bin:/bin' },
    programAt: (name) => (name === 'notify-send' && existsSync(program) ? program : undefined),
  }
  const calls = (): string[][] =>
    readFileSync(file, 'utf8')
      .split('END\0')
      .filter((call) => call !== '')
      .map((call) => call.split('\0'))
  const plain = (body = ''): string => body.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  return {
    ...{ desktop, file, channel: desktopChannel(desktop) },
    listArrived: async () => calls().map(([, , , title, body]) => `${title}\n${plain(body)}`),
    async stopAnswering() {
      replaceProgram(`touch '${ran}'; exec sleep 600`)
      return { reached: waitUntil(() => existsSync(ran)) }
    },
    startRefusing: async () => replaceProgram('exit 1'),
  }
}

for (const [kind, open] of [
  ['console', async () => consoleSide()],
  ['desktop', async (t: TestContext) => desktopSide(t)],
  ['webhook', webhookSide],
] as const)
  describe(`the channel ${kind}`, () => {
    for (const { name, run } of channelConformance) test(name, async (t) => run(await open(t), (why) => t.skip(why)))
  })

describe('the desktop', () => {
  test('E12: an alert is urgent; the program gets the variables of the desktop, and no secret', async (t) => {
    const { channel, file } = desktopSide(t)
    await channel.deliver({ ...channelMessage('m', 'title\n<b>body</b>'), kind: 'alert' }, never)
    assert.equal(
      readFileSync(file, 'utf8'),
      ['--app-name=Tireless', '--urgency=critical', '--', 'title', '&lt;b&gt;body&lt;/b&gt;', 'DISPLAY=:9', 'SECRET=']
        .map((word) => `${word}\0`)
        .join('')
        .concat('END\0'),
    )
  })

  test('E12: without a desktop it reports the problem and delivers nothing', async (t) => {
    const { desktop } = desktopSide(t)
    const without = desktopChannel({ ...desktop, programAt: () => undefined })
    assert.match(without.trouble() ?? '', /no notify-send on this machine/)
    await assert.rejects(without.deliver(channelMessage('m', 'x'), never), { code: 'channel_refused' })
    assert.match(desktopChannel({ ...desktop, env: {} }).trouble() ?? '', /no desktop in this session/)
    assert.match(desktopChannel({ ...desktop, platform: 'darwin' }).trouble() ?? '', /no osascript/)
  })
})

describe('the webhook: deliveries', () => {
  test('E12: a delivery has its id, its time, and a signature over time and body', async (t) => {
    const side = await startHookServer(t)
    await hookTo(side.url, 'home').deliver({ ...channelMessage('m1', '你好'), chat_id: null }, never)
    await hookTo(side.url, 'home').deliver({ ...channelMessage('m2', '你好'), chat_id: 'c1' }, never)
    const [first, second] = side.received
    const { id, chat_id, kind, ts } = JSON.parse(first?.body ?? '') as ChannelMessage
    assert.deepEqual(
      { id, chat_id, kind, ts },
      { id: 'm1', chat_id: 'home', kind: 'notice', ts: '2026-01-01T00:00:00.000Z' },
    )
    assert.equal((JSON.parse(second?.body ?? '') as ChannelMessage).chat_id, 'c1')
    assert.equal(first?.headers['x-tireless-delivery'], 'm1')
    assert.equal(first?.headers['x-tireless-timestamp'], String(NOW / 1000))
    assert.equal(first?.headers['x-tireless-signature'], signBody(SECRET, String(NOW / 1000), first?.body ?? ''))
    assert.equal(signBody('key', '1', '{}'), 'sha256=1ba6b8171186efc613e8bcc0cbdab2748f24984d7c5a84faa2637afa0e40d224')
  })

  for (const [status, headers, code, retryAfterMs] of [
    [500, {}, 'channel_unavailable', undefined],
    [429, { 'retry-after': '120' }, 'channel_limited', 120_000],
    [503, { 'retry-after': new Date(NOW + 60_000).toUTCString() }, 'channel_unavailable', 60_000],
    [429, { 'retry-after': 'soon' }, 'channel_limited', undefined],
    [408, {}, 'channel_unavailable', undefined],
    [404, {}, 'channel_refused', undefined],
    [401, {}, 'channel_refused', undefined],
    [302, { location: '/elsewhere' }, 'channel_refused', undefined],
  ] as const)
    test(`E12: ${status} ${JSON.stringify(headers)} is ${code}`, async (t) => {
      const side = await startHookServer(t)
      side.answer = (response) => response.writeHead(status, headers).end()
      await assert.rejects(hookTo(side.url).deliver(channelMessage('m', 'x'), never), (thrown) => {
        assert.ok(thrown instanceof TirelessError)
        assert.deepEqual({ code: thrown.code, retryAfterMs: thrown.retryAfterMs }, { code, retryAfterMs })
        return true
      })
      assert.equal(side.received.length, 1)
    })

  test('E12: a message has its thread; a file above 5 MB is only named; `replaces: false` gives no id', async (t) => {
    const side = await startHookServer(t)
    const folder = mkdtempSync(join(tmpdir(), 'tireless-files-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = { name: 'big.bin', path: join(folder, 'big.bin') }
    writeFileSync(file.path, Buffer.alloc(5 * 1024 * 1024 + 1))
    const settings = { url: side.url, chat_id: null, replaces: false, secret: () => SECRET }
    const channel = webhookChannel(() => settings, { now: () => NOW })
    assert.equal(await channel.deliver({ ...channelMessage('m', ''), thread_id: 't', file }, never), undefined)
    const { thread_id, files } = JSON.parse(side.received[0]?.body ?? '')
    assert.deepEqual({ thread_id, files }, { thread_id: 't', files: [{ name: 'big.bin', size: 5 * 1024 * 1024 + 1 }] })
  })

  test('case 136: no error quotes the address; an endless response is not read', async (t) => {
    const side = await startHookServer(t)
    side.answer = (response) => {
      response.writeHead(200)
      const more = (): void => void (response.destroyed || response.write('x'.repeat(65_536), more))
      more()
    }
    await hookTo(side.url).deliver(channelMessage('m', 'x'), never)
    for (const url of ['http://127.0.0.1:9/s3cr3t', 'http://user:s3cr3t@127.0.0.1:9/', 'http://s3cr3t.invalid/'])
      await assert.rejects(
        postRequest(url, { method: 'GET' }, NOW, never),
        (thrown: Error) => !/s3cr3t/.test(thrown.message),
      )
  })
})

describe('the webhook: incoming messages', () => {
  const hook = hookTo('http://127.0.0.1:9/', 'home')
  const signed = (body: string, { at = NOW, secret = SECRET, delivery = 'd1' } = {}) => ({
    headers: {
      'x-tireless-timestamp': String(at / 1000),
      'x-tireless-signature': signBody(secret, String(at / 1000), body),
      'x-tireless-delivery': delivery,
    },
    ...{ body, now: NOW },
  })
  const receive = (request: ReturnType<typeof signed>) => {
    assert.ok(hook.receive)
    const received = hook.receive(request)
    assert.ok(received.message)
    return received
  }

  test('a signed message is accepted, with its chat, user and id', () => {
    const { message: heard } = receive(signed('{"text":"/status"}'))
    const expected = { channel: 'webhook', chat_id: 'home', user_id: null, message_id: 'd1', text: '/status' }
    assert.deepEqual(heard, expected)
    const whole = '{"text":"你好","chat_id":"c","user_id":"u","message_id":"m","more":1}'
    const named = { channel: 'webhook', chat_id: 'c', user_id: 'u', message_id: 'm', text: '你好' }
    assert.deepEqual(receive(signed(whole)).message, named)
  })

  test('the proof does not depend on the delivery id, which is not signed', () => {
    const [once, again] = [signed('{"text":"x"}'), signed('{"text":"x"}', { delivery: 'd2' })]
    assert.equal(receive(once).proof, receive(again).proof)
    assert.notEqual(receive(once).proof, receive(signed('{"text":"y"}')).proof)
  })

  const MINUTE = 60_000
  for (const [what, request, code] of [
    ['another secret', signed('{"text":"x"}', { secret: 'guessed' }), 'unauthorized'],
    ['another body', { ...signed('{"text":"x"}'), body: '{"text":"y"}' }, 'unauthorized'],
    ['no signature', { ...signed('{"text":"x"}'), headers: {} as never }, 'unauthorized'],
    ['more than five minutes old', signed('{"text":"x"}', { at: NOW - 5 * MINUTE - 1000 }), 'unauthorized'],
    ['more than five minutes ahead', signed('{"text":"x"}', { at: NOW + 5 * MINUTE + 1000 }), 'unauthorized'],
    ['no id', signed('{"text":"x"}', { delivery: '' }), 'unauthorized'],
    ['more than 64 kB', signed(JSON.stringify({ text: 'x'.repeat(65_536) })), 'unauthorized'],
    ['not JSON', signed('text=x'), 'usage'],
    ['no text', signed('{"text":""}'), 'usage'],
    ['a message of another runtime', signed('{"text":"x","kind":"reply"}'), 'usage'],
  ] as const)
    test(`a request is refused: ${what}`, () => {
      assert.throws(() => receive(request), { code })
    })

  test('accepts a time up to five minutes before or after now', () => {
    for (const at of [NOW - 5 * MINUTE, NOW + 5 * MINUTE]) assert.ok(receive(signed('{"text":"x"}', { at })).message)
  })

  test('without a configuration or a secret it reports the problem and accepts nothing', () => {
    const none = webhookChannel(() => undefined, { now: () => NOW })
    assert.equal(none.trouble(), 'channels.webhook is not configured')
    assert.throws(() => none.receive?.(signed('{"text":"x"}')), { code: 'not_found' })
    const secret = (): string => {
      throw new TirelessError('config_invalid', 'the environment variable HOOK is empty')
    }
    const poor = webhookChannel(() => ({ url: 'http://127.0.0.1:9', chat_id: null, replaces: true, secret }), {
      now: () => NOW,
    })
    assert.match(poor.trouble() ?? '', /HOOK is empty/)
  })
})

test('E12: a webhook that cannot replace messages says so', () => {
  const settings = { url: 'http://127.0.0.1:9', chat_id: null, replaces: false, secret: () => SECRET }
  assert.equal(webhookChannel(() => settings, { now: () => NOW }).replaces, false)
})
