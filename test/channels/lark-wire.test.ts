/** The official SDK, with its own HTTP client, talks to the server of the tests: the wire is Lark's. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AESCipher, Client, EventDispatcher, LoggerLevel, WSClient } from '@larksuiteoapi/node-sdk'
import { encrypt, messageEvent, signedPost } from '../support/lark-server/events.ts'
import { type LarkServer, startLarkServer } from '../support/lark-server.ts'
import { waitUntil } from '../support/open-app.ts'

const silent = { error() {}, warn() {}, info() {}, debug() {}, trace() {} }
const quiet = { logger: silent, loggerLevel: LoggerLevel.fatal }

const clientOf = ({ appId, appSecret, url }: LarkServer): Client =>
  new Client({ appId, appSecret, domain: url, ...quiet, disableTokenCache: false })

async function connect(t: TestContext, lark: LarkServer, handles: Record<string, (data: unknown) => unknown>) {
  const { appId, appSecret, url: domain } = lark
  const ready = Promise.withResolvers<void>()
  const client = new WSClient({ appId, appSecret, domain, ...quiet, onReady: ready.resolve, onError: ready.reject })
  t.after(() => client.close({ force: true }))
  await client.start({ eventDispatcher: new EventDispatcher(quiet).register(handles) })
  await ready.promise
  return client
}

test('E16: the SDK sends, replies, replaces and uploads; the same uuid makes one message', async (t) => {
  const lark = await startLarkServer(t)
  const client = clientOf(lark)
  const data = { receive_id: 'oc_home', msg_type: 'interactive', content: '{"schema":"2.0"}', uuid: 'u1' }
  const send = () => client.im.message.create({ params: { receive_id_type: 'chat_id' }, data })
  const [first, second] = [await send(), await send()]
  assert.equal(first.data?.message_id, second.data?.message_id)
  const message_id = first.data?.message_id ?? ''
  await client.im.message.patch({ path: { message_id }, data: { content: '{"schema":"2.0","x":1}' } })
  const file = await client.im.file.create({
    data: { file_type: 'stream', file_name: 'a.txt', file: Buffer.from('content') },
  })
  await client.im.message.reply({
    path: { message_id },
    data: { msg_type: 'file', content: JSON.stringify(file), reply_in_thread: true },
  })
  assert.deepEqual(
    lark.messages.map(({ msg_type, edits, root_id }) => ({ msg_type, edits, root_id })),
    [
      { msg_type: 'interactive', edits: 1, root_id: undefined },
      { msg_type: 'file', edits: 0, root_id: message_id },
    ],
  )
  assert.equal(lark.files.get(file?.file_key ?? '')?.bytes.toString(), 'content')
  assert.equal(lark.requestsTo(/tenant_access_token/).length, 1)
})

test('E16: the SDK receives an event in several frames, and answers with what its handler returns', async (t) => {
  const lark = await startLarkServer(t, { chunkBytes: 100 })
  const heard: unknown[] = []
  await connect(t, lark, {
    'im.message.receive_v1': (data) => void heard.push(data),
    'card.action.trigger': () => ({ toast: { content: 'done' } }),
  })
  assert.deepEqual(await lark.say('你好'), { code: 200, data: undefined, attempts: 1 })
  const [{ message }] = heard as [{ message: { content: string } }]
  assert.equal(message.content, '{"text":"你好"}')
  const [stored] = lark.messages
  assert.ok(stored)
  stored.content = { tag: 'button', text: { content: 'Go' }, behaviors: [{ value: { command: '/x' } }] }
  assert.deepEqual((await lark.press(stored.message_id, 'Go')).data, { toast: { content: 'done' } })
  await waitUntil(() => lark.sockets.received.some(({ headers }) => headers.type === 'ping'))
  assert.ok(lark.sockets.received.some(({ headers }) => headers.biz_rt !== undefined))
})

test('E16: an event whose handler fails is sent again', async (t) => {
  const lark = await startLarkServer(t)
  let calls = 0
  await connect(t, lark, {
    'im.message.receive_v1'() {
      calls += 1
      if (calls === 1) throw new Error('not now')
    },
  })
  assert.deepEqual(await lark.say('x'), { code: 200, data: undefined, attempts: 2 })
})

test('E16: the SDK decrypts and verifies a webhook', async (t) => {
  const lark = await startLarkServer(t)
  assert.equal(new AESCipher(lark.encryptKey).decrypt(encrypt('x', lark.encryptKey)), '"x"')
  const { headers, body } = signedPost(messageEvent(lark, { text: 'hello' }), lark.encryptKey, Date.now())
  const heard: unknown[] = []
  const dispatcher = new EventDispatcher({ encryptKey: lark.encryptKey, ...quiet }).register({
    'im.message.receive_v1': (data) => void heard.push(data),
  })
  // The SDK wants the headers on the prototype, so that they are not part of the signed body.
  await dispatcher.invoke(Object.assign(Object.create({ headers }), JSON.parse(body)))
  assert.equal((heard as [{ message: { content: string } }])[0].message.content, '{"text":"hello"}')
})
