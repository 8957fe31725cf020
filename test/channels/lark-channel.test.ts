/** What the channel `lark` sends, with the official SDK against a server that speaks Lark's wire. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import { channelConformance, channelMessage } from '../../src/testing/channel-conformance.ts'
import type { ChannelPeer, VisibleMessage } from '../../src/testing/channel-peer.ts'
import { channelTo } from '../support/lark-channels.ts'
import { buttonsOf } from '../support/lark-server/events.ts'
import { type LarkServer, startLarkServer, textOf } from '../support/lark-server.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'

const never = new AbortController().signal

describe('the channel lark', () => {
  for (const { name, run } of channelConformance)
    test(name, async (t) => run(larkPeer(t, await startLarkServer(t)), (why) => t.skip(why)))
})

function larkPeer(t: TestContext, lark: LarkServer): ChannelPeer {
  return {
    channel: channelTo(lark).channel,
    // Lark shows a message with the same key once; the deliveries arrive all the same.
    listArrived: async () =>
      lark.requestsTo(/messages$/).map(({ body }) => textOf(JSON.parse(JSON.parse(body.toString()).content))),
    listVisible: async () => lark.sentMessages().map((message) => visibleMessage(lark, message)),
    async stopAnswering() {
      lark.hangs = /messages/
      return { reached: waitUntil(() => lark.requestsTo(/messages/).length > 0) }
    },
    async startRefusing() {
      lark.fail({ path: /messages/, status: 500, body: {} })
    },
    async startLimiting(ms) {
      const headers = { 'x-ogw-ratelimit-reset': String(ms / 1000) }
      lark.fail({ path: /messages/, status: 429, body: { code: 99991400, msg: '' }, headers })
    },
    async startGarbage() {
      lark.fail({ path: /messages/, status: 200, body: ['this', { is: null }, 'no answer'] })
    },
    async writeFile(name, content) {
      const path = join(freshFolder(t), name)
      writeFileSync(path, content)
      return path
    },
    async say(text) {
      await lark.say(text)
    },
    async disconnect() {
      lark.sockets.closeAll()
    },
  }
}

function visibleMessage(lark: LarkServer, message: ReturnType<LarkServer['sentMessages']>[number]): VisibleMessage {
  const { file_key } = message.content as { readonly file_key?: string }
  const file = file_key === undefined ? undefined : lark.files.get(file_key)
  return {
    text: textOf(message.content),
    commands: buttonsOf(message).map(({ value }) => (value as { readonly command: string }).command),
    files: file ? [{ name: file.name, content: file.bytes.toString() }] : [],
  }
}

describe('messages to Lark', () => {
  test('E16: the same message is shown once, also if its acknowledgement was lost', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    const ids = [
      await channel.deliver(channelMessage('m1', 'a'), never),
      await channel.deliver(channelMessage('m1', 'a'), never),
    ]
    assert.equal(ids[0], ids[1])
    assert.deepEqual(lark.sentTexts('oc_home'), ['a'])
    const [{ uuid } = { uuid: '' }] = lark.sentMessages()
    assert.ok(uuid && uuid.length <= 50)
  })

  test('E16: a card has its items and buttons, and is replaced in place; a deleted one is sent anew', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    const item = {
      id: 'i1',
      text: 'May I **push**?',
      actions: [{ label: 'Allow', command: '/allow i1', style: 'primary' as const }],
    }
    const message = { ...channelMessage('m1', 'May I push? allow i1'), card: { title: 'One thing', items: [item] } }
    const id = String(await channel.deliver(message, never))
    const sent = lark.findMessage(id) ?? assert.fail()
    assert.deepEqual(buttonsOf(sent), [{ label: 'Allow', value: { command: '/allow i1', message: 'm1' } }])
    const answered = {
      ...message,
      replaces: id,
      card: { title: 'Done', items: [{ ...item, text: 'allowed', actions: [] }] },
    }
    assert.equal(await channel.deliver(answered, never), id)
    assert.deepEqual(
      { text: textOf(sent.content), buttons: buttonsOf(sent), edits: sent.edits },
      { text: 'allowed', buttons: [], edits: 1 },
    )
    sent.isDeleted = true
    const again = await channel.deliver(answered, never)
    assert.notEqual(again, id)
    assert.equal(await channel.deliver(answered, never), again)
    assert.deepEqual(lark.sentTexts(), ['allowed', 'allowed'])
  })

  test('E16: an answer to a thread goes into the thread; if its first message is gone, into the chat', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    const root = String(await channel.deliver(channelMessage('m1', 'root'), never))
    await channel.deliver({ ...channelMessage('m2', 'in it'), thread_id: root }, never)
    const rootMessage = lark.findMessage(root) ?? assert.fail()
    rootMessage.isDeleted = true
    await channel.deliver({ ...channelMessage('m3', 'outside'), thread_id: root }, never)
    assert.deepEqual(
      lark.sentMessages().map(({ root_id }) => root_id),
      [undefined, root, undefined],
    )
  })

  test('E16: a file is uploaded and sent with its name; a missing, empty or huge one is refused', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    const folder = freshFolder(t, 'files')
    const path = join(folder, 'x')
    const bytes = Buffer.from([0, 255, 1, 2, 0xc3, 0x28])
    writeFileSync(path, bytes)
    await channel.deliver({ ...channelMessage('m1', 'see'), file: { name: '报告.pdf', path } }, never)
    assert.deepEqual([...lark.files.values()], [{ name: '报告.pdf', type: 'pdf', bytes }])
    assert.deepEqual(
      lark.sentMessages().map(({ msg_type }) => msg_type),
      ['interactive', 'file'],
    )
    writeFileSync(join(folder, 'empty'), '')
    for (const name of ['empty', 'missing'])
      await assert.rejects(
        channel.deliver({ ...channelMessage('m2', ''), file: { name, path: join(folder, name) } }, never),
        { code: 'channel_refused' },
      )
  })

  test('E16: the receiver is named by the form of its id', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    for (const chat of ['oc_home', 'ou_owner', 'on_1', 'me@example.com', '7be5fg9a']) {
      lark.chats.add(chat)
      await channel.deliver({ ...channelMessage(`to ${chat}`, 'x'), chat_id: chat }, never).catch(() => {})
    }
    assert.deepEqual(
      lark.requestsTo(/messages$/).map(({ query }) => query.receive_id_type),
      ['chat_id', 'open_id', 'union_id', 'email', 'user_id'],
    )
  })
})

describe('refusals of Lark', () => {
  test('E16: an access token is used until it expires, and renewed when Lark refuses it', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    const send = (id: string) => channel.deliver(channelMessage(id, id), never)
    for (const id of ['a', 'b']) await send(id)
    assert.equal(lark.requestsTo(/tenant_access_token/).length, 1)
    lark.withdrawTokens()
    await send('c')
    assert.equal(lark.requestsTo(/tenant_access_token/).length, 2)
    assert.deepEqual(lark.sentTexts(), ['a', 'b', 'c'])
  })

  test('E16: a token that is about to expire is renewed before the next message', async (t) => {
    const lark = await startLarkServer(t, { tokenSeconds: 60 })
    const { channel } = channelTo(lark)
    for (const id of ['a', 'b']) await channel.deliver(channelMessage(id, id), never)
    assert.equal(lark.requestsTo(/tenant_access_token/).length, 2)
  })

  const limited = { code: 'channel_limited', retryAfterMs: 1000 }
  for (const [what, status, body, headers, expected] of [
    [
      'the limit of the app',
      429,
      { code: 99991400, msg: '' },
      { 'x-ogw-ratelimit-reset': '7' },
      { ...limited, retryAfterMs: 7000 },
    ],
    ['the limit of the app, status 400', 400, { code: 99991400, msg: '' }, {}, limited],
    ['the limit of a chat', 400, { code: 230020, msg: '' }, {}, limited],
    ['a busy gateway', 429, 'too many', {}, limited],
    ['an internal error', 500, { code: 2200, msg: '' }, {}, { code: 'channel_unavailable', retryAfterMs: undefined }],
    ['no JSON', 200, '<html>', {}, { code: 'channel_unavailable', retryAfterMs: undefined }],
    ['an unknown code', 400, { code: 12345, msg: 'secret' }, {}, { code: 'channel_refused', retryAfterMs: undefined }],
    ['a redirect', 302, {}, { location: '/x' }, { code: 'channel_refused', retryAfterMs: undefined }],
  ] as const)
    test(`E16: ${what} is ${expected.code}`, async (t) => {
      const lark = await startLarkServer(t)
      lark.fail({ path: /messages/, status, body, headers })
      await assert.rejects(channelTo(lark).channel.deliver(channelMessage('m', 'x'), never), (thrown) => {
        assert.ok(thrown instanceof TirelessError)
        assert.deepEqual({ code: thrown.code, retryAfterMs: thrown.retryAfterMs }, expected)
        assert.doesNotMatch(thrown.message, /secret/)
        return true
      })
    })

  test('E16: an unknown chat and a missing permission say what to do', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    const refused = (message: RegExp) => (error: Error) => message.test(error.message)
    await assert.rejects(
      channel.deliver({ ...channelMessage('m', 'x'), chat_id: 'oc_other' }, never),
      refused(/not in the chat.*do this: add the bot/),
    )
    const msg = 'Access denied. One of the following scopes is required: [im:message, im:message:send_as_bot].'
    lark.fail({ path: /messages/, status: 400, body: { code: 99991672, msg } })
    await assert.rejects(
      channel.deliver(channelMessage('m', 'x'), never),
      refused(/lacks a permission.*im:message, im:message:send_as_bot.*Permissions & Scopes/),
    )
  })

  test('E16: wrong keys say where to find the right ones, and are never quoted', async (t) => {
    const lark = await startLarkServer(t)
    const { channel, logged } = channelTo(lark, { appSecret: () => 's3cr3t-and-wrong' })
    await assert.rejects(channel.probe?.(never) ?? assert.fail(), (error: Error) => {
      assert.match(error.message, /App Secret .*10014.*do this: copy App ID and App Secret.*Credentials & Basic Info/)
      return true
    })
    assert.doesNotMatch(logged.join('\n'), /s3cr3t/)
    assert.equal(await channelTo(lark).channel.probe?.(never), 'Tireless')
  })
})
