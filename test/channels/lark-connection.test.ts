/** What the channel `lark` receives over the long connection, held by the official SDK. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import { channelMessage } from '../../src/testing/channel-conformance.ts'
import { channelTo, connectChannel } from '../support/lark-channels.ts'
import { envelope } from '../support/lark-server/events.ts'
import { startLarkServer } from '../support/lark-server.ts'
import { waitUntil } from '../support/open-app.ts'

const never = new AbortController().signal
const BOT = { open_id: 'ou_bot', name: 'Tireless' }

describe('the long connection of Lark', () => {
  test('E16: a message is acknowledged only when it is on disk, and comes again until then', async (t) => {
    const lark = await startLarkServer(t, { ackMs: 30 })
    const stored = Promise.withResolvers<void>()
    const { received } = await connectChannel(t, channelTo(lark).channel, () => stored.promise)
    const said = lark.say('hello')
    await waitUntil(() => lark.sockets.sent > 1)
    const [first] = received
    assert.deepEqual(first, {
      ...{ channel: 'lark', chat_id: 'oc_home', user_id: 'ou_owner', text: 'hello' },
      message_id: lark.messages[0]?.message_id,
    })
    stored.resolve()
    const { code, attempts } = await said
    assert.ok(code === 200 && attempts > 1)
    assert.ok(received.every(({ message_id }) => message_id === first?.message_id))
  })

  test('E16: a message that could not be stored is not acknowledged, and comes again', async (t) => {
    const lark = await startLarkServer(t)
    let failures = 2
    const { received } = await connectChannel(t, channelTo(lark).channel, async () => {
      failures -= 1
      if (failures >= 0) throw new TirelessError('store_failed', 'the disk is full')
    })
    assert.deepEqual(await lark.say('hello'), { code: 200, data: undefined, attempts: 3 })
    assert.equal(received.length, 3)
  })

  test('E16: a pressed button is its command, from that chat and person, who sees that it arrived', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    const { received } = await connectChannel(t, channel)
    const actions = [{ label: 'Allow', command: '/allow i1' }]
    const card = { title: 'Approval', items: [{ id: 'i1', text: 'push?', actions }] }
    const id = String(
      await channel.deliver({ ...channelMessage('m1', 'push?'), thread_id: undefined, card } as never, never),
    )
    const { data } = await lark.press(id, 'Allow', 'ou_colleague')
    assert.deepEqual(data, {
      toast: { type: 'info', content: 'Received', i18n: { zh_cn: '已收到', en_us: 'Received' } },
    })
    await lark.press(id, 'Allow')
    assert.deepEqual(
      received.map(({ chat_id, user_id, text }) => ({ chat_id, user_id, text })),
      ['ou_colleague', 'ou_owner'].map((user_id) => ({ chat_id: 'oc_home', user_id, text: '/allow i1' })),
    )
    assert.equal(new Set(received.map(({ message_id }) => message_id)).size, 2)
  })

  test('E16: 1,000 messages of four chats arrive once each, in the order of their chat', async (t) => {
    const lark = await startLarkServer(t, { ackMs: 600_000 })
    const { received } = await connectChannel(t, channelTo(lark).channel, async ({ text }) => {
      for (let turn = 0; turn < Number(text) % 7; turn += 1) await Promise.resolve()
    })
    const said = Array.from({ length: 1000 }, (_, at) => lark.say({ chat: `oc_${at % 4}`, text: String(at) }))
    await Promise.all(said)
    for (const chat of ['oc_0', 'oc_1', 'oc_2', 'oc_3']) {
      const texts = received.filter(({ chat_id }) => chat_id === chat).map(({ text }) => Number(text))
      assert.deepEqual(
        texts,
        [...texts].sort((a, b) => a - b),
      )
      assert.equal(texts.length, 250)
    }
  })

  test('E16: stopping ends the connection and resolves', async (t) => {
    const lark = await startLarkServer(t)
    const { ended, stop } = await connectChannel(t, channelTo(lark).channel)
    assert.equal(lark.sockets.openCount, 1)
    stop()
    await ended
    await waitUntil(() => lark.sockets.openCount === 0)
  })
})

describe('a lost connection to Lark', () => {
  const lost = { code: 'channel_unavailable', message: 'the connection to Lark was lost' }

  test('case 128: a closed connection rejects, and the SDK makes no other by itself', async (t) => {
    const lark = await startLarkServer(t)
    const { ended } = await connectChannel(t, channelTo(lark).channel)
    lark.sockets.closeAll()
    await assert.rejects(ended, lost)
    assert.equal(lark.sockets.connections, 1)
    assert.equal(lark.requestsTo(/ws\/endpoint/).length, 1)
  })

  test('case 128: a dead socket, which is never closed, rejects; what waited arrives afterwards', async (t) => {
    const lark = await startLarkServer(t, { pingSeconds: 0.05 })
    const { channel } = channelTo(lark, {}, 0.1)
    const { ended } = await connectChannel(t, channel)
    await waitUntil(() => lark.sockets.received.length > 3)
    lark.sockets.isSilent = true
    const said = lark.say('while it was dead')
    await assert.rejects(ended, lost)
    lark.sockets.isSilent = false
    const again = await connectChannel(t, channel)
    assert.equal((await said).code, 200)
    assert.deepEqual(
      again.received.map(({ text }) => text),
      ['while it was dead'],
    )
  })

  for (const [what, status, body, code] of [
    ['wrong keys', 200, { code: 514, msg: 'invalid', data: {} }, 'channel_refused'],
    ['a busy server', 200, { code: 1000040343, msg: 'busy', data: {} }, 'channel_unavailable'],
    [
      'an address of another kind',
      200,
      { code: 0, data: { URL: 'file:///etc/passwd', ClientConfig: {} } },
      'channel_unavailable',
    ],
    [
      'an encrypted address in place of a plain one',
      200,
      { code: 0, data: { URL: 'wss://x', ClientConfig: { PingInterval: 1 } } },
      'channel_unavailable',
    ],
    [
      'no interval of pings',
      200,
      { code: 0, data: { URL: 'ws://127.0.0.1:9/', ClientConfig: {} } },
      'channel_unavailable',
    ],
    [
      'nobody at the address',
      200,
      { code: 0, data: { URL: 'ws://127.0.0.1:9/', ClientConfig: { PingInterval: 1 } } },
      'channel_unavailable',
    ],
    ['garbage', 200, 'x', 'channel_unavailable'],
    ['no answer data', 200, { code: 0 }, 'channel_unavailable'],
    ['a failing server', 503, {}, 'channel_unavailable'],
  ] as const)
    test(`case 128: ${what} when connecting rejects with ${code}`, async (t) => {
      const lark = await startLarkServer(t)
      lark.fail({ path: /ws\/endpoint/, status, body })
      await assert.rejects(connectChannel(t, channelTo(lark).channel), { code })
      assert.equal(lark.requestsTo(/ws\/endpoint/).length, 1)
    })

  test('case 128: an App ID that the SDK refuses rejects with what is expected', async (t) => {
    const lark = await startLarkServer(t)
    Object.assign(lark, { appId: 'cli_short' })
    await assert.rejects(connectChannel(t, channelTo(lark).channel), /refuses the App ID; expected cli_ and 16/)
  })

  test('case 128: a server that does not answer is given up when the connection is stopped', async (t) => {
    const lark = await startLarkServer(t)
    lark.hangs = /ws\/endpoint/
    const controller = new AbortController()
    const listener = { connected() {}, receive: async () => ({ duplicate: false }) }
    const ended = channelTo(lark).channel.connect?.(listener, controller.signal)
    await waitUntil(() => lark.requestsTo(/ws\/endpoint/).length > 0)
    controller.abort()
    await ended
  })
})

describe('which messages are for the bot', () => {
  test('E16: in a group only with a mention of the bot, which is removed; others are shown by name', async (t) => {
    const lark = await startLarkServer(t)
    const { received } = await connectChannel(t, channelTo(lark).channel)
    const group = { chat: 'oc_group', group: true }
    await lark.say({ ...group, text: 'not for the bot' })
    await lark.say({ ...group, text: '@_user_1 look', mentions: [{ open_id: 'ou_ann', name: 'Ann' }] })
    await lark.say({ ...group, text: '@_all look' })
    await lark.say({ ...group, text: '@_user_1 /status', mentions: [BOT] })
    await lark.say({ ...group, text: '@_user_2 ask @_user_1', mentions: [{ open_id: 'ou_ann', name: 'Ann' }, BOT] })
    assert.deepEqual(
      received.map(({ text }) => text),
      ['/status', 'ask @Ann'],
    )
  })

  test('E16: in threads of the bot no mention is needed, also after a restart', async (t) => {
    const lark = await startLarkServer(t)
    const { channel } = channelTo(lark)
    const own = String(await channel.deliver({ ...channelMessage('m1', 'a notice'), chat_id: 'oc_group' }, never))
    const group = { chat: 'oc_group', group: true }
    const { received } = await connectChannel(t, channelTo(lark).channel)
    await lark.say({ ...group, text: 'about it', thread: own })
    await lark.say({ ...group, text: '@_user_1 begin', mentions: [BOT], thread: 'new' })
    const asked = lark.messages.at(-1)?.message_id ?? ''
    await lark.say({ ...group, text: 'more', thread: asked })
    await lark.say({ ...group, text: 'among people' })
    const other = lark.messages.at(-1)?.message_id ?? ''
    for (const text of ['x', 'y']) await lark.say({ ...group, text, thread: other })
    assert.deepEqual(
      received.map(({ text, thread_id }) => ({ text, thread_id })),
      [
        { text: 'about it', thread_id: own },
        { text: 'begin', thread_id: asked },
        { text: 'more', thread_id: asked },
      ],
    )
    assert.equal(lark.requestsTo(new RegExp(`messages/${other}$`)).length, 1)
  })

  test('E16: messages of bots, other events, buttons of others and garbage are acknowledged and ignored', async (t) => {
    const lark = await startLarkServer(t)
    const { received } = await connectChannel(t, channelTo(lark).channel)
    await lark.say({ text: 'I am a bot', isBot: true })
    for (const [type, event] of [
      ['im.message.message_read_v1', {}],
      ['im.message.receive_v1', {}],
      ['im.message.receive_v1', { sender: null, message: { message_id: 1 } }],
      ['card.action.trigger', { action: { value: 'x' } }],
      ['card.action.trigger', { action: { value: { command: 'no command' } }, context: { open_chat_id: 'oc_home' } }],
    ] as const)
      assert.equal((await lark.sockets.deliver(envelope(lark, type, event))).code, 200)
    assert.deepEqual(received, [])
  })

  test('E16: files of a message are read with a limit', async (t) => {
    const lark = await startLarkServer(t)
    const { received } = await connectChannel(t, channelTo(lark).channel)
    lark.files.set('file_1', { name: 'a.csv', type: 'file', bytes: Buffer.from('a,b\n1,2\n') })
    lark.files.set('img_1', { name: '', type: 'image', bytes: Buffer.from([137, 80]) })
    await lark.say({ type: 'file', content: { file_key: 'file_1', file_name: '表.csv' } })
    await lark.say({
      type: 'post',
      content: {
        title: 'T',
        content: [
          [
            { tag: 'text', text: 'see ' },
            { tag: 'img', image_key: 'img_1' },
          ],
        ],
      },
    })
    const [file, post] = received
    assert.equal(file?.files?.[0]?.name, '表.csv')
    assert.equal(Buffer.from((await file?.files?.[0]?.read(100, never)) ?? []).toString(), 'a,b\n1,2\n')
    await assert.rejects(file?.files?.[0]?.read(7, never) ?? assert.fail(), { code: 'channel_refused' })
    assert.equal(post?.text, '**T**\nsee')
    assert.deepEqual([...((await post?.files?.[0]?.read(100, never)) ?? [])], [137, 80])
  })
})
