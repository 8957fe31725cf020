/** Files that people send: saved in the workspace of the session that works with them, within limits, untrusted. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { workspaceKey } from '../../src/domain/label.ts'
import type { ChatMessage, ReceivedFile } from '../../src/domain/message.ts'
import { distinctNames, safeFileName } from '../../src/domain/received-file-name.ts'
import { isFrontSession } from '../../src/domain/reply-to.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { chatMessage } from '../support/connecting-channel.ts'
import { openTalkApp, pairTalk, receivedTexts, routing, type TalkApp, work } from '../support/conversations.ts'
import { openHttpApp, sendRequest } from '../support/http-app.ts'

const file = (name: string, content: string | Uint8Array = 'content'): ReceivedFile => ({
  name,
  read: async () => Buffer.from(content),
})

async function openWithFiles(t: TestContext): Promise<TalkApp> {
  const talk = await openTalkApp(t, { front: () => routing({ new: true }), work: () => ({ text: 'Read it.' }) })
  await pairTalk(talk)
  return talk
}

const sendFiles = ({ app }: TalkApp, text: string, ...files: readonly ReceivedFile[]): Promise<unknown> =>
  handleChatMessage(app.context, chatMessage(text, { message_id: `m ${text} ${files.length}`, files }))

interface WorkingSession {
  readonly session_id: string
  readonly workspace: string
  readonly prompt: string
}

/** The workspace and the task of the session that works. */
async function workingSession({ app }: TalkApp): Promise<WorkingSession> {
  const all = (await app.run('queue list', {})).items
  const { session_id, prompt } = all.find((one) => !isFrontSession(one.session_id)) ?? assert.fail('no session works')
  const { workspace } = (await app.context.store.session(session_id)) ?? assert.fail('no session')
  return { session_id, workspace: workspace ?? '', prompt }
}

describe('files in a chat', () => {
  test('E16: files come into the workspace of the session that gets the message, whose text names them', async (t) => {
    const talk = await openWithFiles(t)
    await sendFiles(talk, 'compare these', file('报告 1.pdf', 'one'), file('a.txt', 'two'), file('A.TXT', 'three'))
    await work(talk)
    const { workspace, prompt } = await workingSession(talk)
    const paths = prompt.match(/inbox\/[0-9a-f]{8}\/[^\n]+/g) ?? []
    assert.deepEqual(
      paths.map((path) => [path.slice('inbox/12345678/'.length), readFileSync(join(workspace, path), 'utf8')]),
      [
        ['报告 1.pdf', 'one'],
        ['a.txt', 'two'],
        ['A-2.TXT', 'three'],
      ],
    )
    assert.equal((await talk.app.context.store.label(workspaceKey(workspace)))?.trust, 'untrusted')
    assert.deepEqual(receivedTexts(talk), ['Read it.'])
  })

  test('E16: names cannot leave the folder, hide a file or deceive; equal names are numbered', () => {
    const unsafe: readonly [string, string][] = [
      ['../../etc/passwd', 'passwd'],
      ['..\\..\\boot.ini', 'boot.ini'],
      ['/absolute', 'absolute'],
      ['.bashrc', 'bashrc'],
      ['...', 'file'],
      ['', 'file'],
      ['a\u0000b\n.txt', 'a_b_.txt'],
      ['exe.\u202efdp.txt', 'exe._fdp.txt'],
      ['CON.txt', '_CON.txt'],
      [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(96)}.pdf`],
    ]
    for (const [name, safe] of unsafe) assert.equal(safeFileName(name), safe, JSON.stringify(name))
    assert.deepEqual(distinctNames(['a.b', 'A.b', 'a.b', 'c']), ['a.b', 'A-2.b', 'a-3.b', 'c'])
  })

  test('E16: too large, too many, unreadable: refused with a reply; without text no model is asked', async (t) => {
    const talk = await openWithFiles(t)
    const large = file('large.bin', new Uint8Array(20 * 1024 * 1024 + 1))
    const refusing: ReceivedFile = {
      name: 'gone.bin',
      read: () => Promise.reject(new TirelessError('channel_refused', 'it was deleted')),
    }
    await sendFiles(talk, '', large, refusing)
    await work(talk)
    assert.deepEqual(receivedTexts(talk), [
      'These files were not accepted:\n- large.bin: larger than 20 MB\n- gone.bin: it was deleted',
    ])
    assert.equal(talk.model.requests.length, 0)
    await sendFiles(talk, 'read all', ...Array.from({ length: 12 }, (_, n) => file(`${n}.txt`)))
    await work(talk)
    assert.match(receivedTexts(talk).join('\n'), /- 10\.txt: a message may have at most 10 files\n- 11\.txt/)
    assert.match((await workingSession(talk)).prompt, /read all/)
  })

  test('E16: a file that may come later makes the message come again; nothing is stored', async (t) => {
    const talk = await openWithFiles(t)
    const later = { name: 'x', read: () => Promise.reject(new TirelessError('channel_unavailable', 'busy')) }
    await assert.rejects(sendFiles(talk, 'read it', later), { code: 'channel_unavailable' })
    assert.equal((await talk.app.run('sessions list', {})).items.length, 0)
  })

  test('E16: a link in the place of the folder is not followed', async (t) => {
    const talk = await openWithFiles(t)
    const outside = join(talk.app.service('home').root, 'outside')
    mkdirSync(outside)
    // More than the folder for received files may have, if its size were counted.
    writeFileSync(join(outside, 'large'), '')
    truncateSync(join(outside, 'large'), 2 * 1024 ** 3)
    await sendFiles(talk, 'first', file('a.txt'))
    const front = (await talk.app.run('sessions list', {})).items[0]?.session_id ?? ''
    const { workspace } = (await talk.app.context.store.session(front)) ?? assert.fail('no session')
    rmSync(join(workspace ?? '', 'inbox'), { recursive: true })
    symlinkSync(outside, join(workspace ?? '', 'inbox'))
    await sendFiles(talk, 'second', file('b.txt'), file('c.txt'))
    assert.deepEqual([existsSync(join(outside, 'b.txt')), readdirSync(outside)], [false, ['large']])
    const [reply] = (await talk.app.run('notices list', {})).items
    assert.match(reply?.text ?? '', /^These files were not accepted:\n- b\.txt/)
    assert.doesNotMatch(reply?.text ?? '', /is full/)
  })

  test('E16: /to takes files along; other commands and answers say that they were ignored', async (t) => {
    const talk = await openWithFiles(t)
    await sendFiles(talk, 'begin', file('first.txt'))
    await work(talk)
    const { session_id, workspace } = await workingSession(talk)
    await sendFiles(talk, `/to ${session_id} compare it`, file('second.txt', 'two'))
    const [said] = await talk.app.context.store.inbox(session_id)
    const [path = ''] = (said?.type === 'user_message' && said.files) || []
    assert.match(path, /^inbox\/[0-9a-f]{8}\/second\.txt$/)
    assert.equal(readFileSync(join(workspace, path), 'utf8'), 'two')
    const replyTo = async (text: string): Promise<string> => {
      await sendFiles(talk, text, file('third.txt'))
      return (await talk.app.run('notices list', { limit: 1 })).items[0]?.text ?? ''
    }
    for (const command of ['/help', '/queue list', '/to nobody x'])
      assert.match(await replyTo(command), /\nThe files of this message were ignored/, command)
  })

  test('E12: a slow download holds up neither other chats and threads nor the commands of its own', async (t) => {
    const talk = await openWithFiles(t)
    await talk.app.run('channels pair', { name: 'chat', chat: 'c8' })
    const arrives = Promise.withResolvers<Uint8Array>()
    const handled: string[] = []
    const send = (what: string, more: Partial<ChatMessage>): Promise<unknown> =>
      handleChatMessage(talk.app.context, chatMessage(what, more)).then(() => handled.push(what))
    const slow = send('read it', { files: [{ name: 'slow.txt', read: () => arrives.promise }] })
    const next = send('and this', {})
    await send('in another chat', { chat_id: 'c8' })
    await send('in a thread', { thread_id: 't' })
    await send('/queue list', {})
    arrives.resolve(Buffer.from('content'))
    await Promise.all([slow, next])
    assert.deepEqual(handled, ['in another chat', 'in a thread', '/queue list', 'read it', 'and this'])
  })

  test('E16: the webhook takes threads and files; a wrong signature is refused before parsing', async (t) => {
    const secret = 'the secret of the hook'
    const webhook = { url: 'http://127.0.0.1:9/', secret, chat_id: 'ops' }
    const yaml = JSON.stringify({ server: { port: 0 }, channels: { webhook } })
    const http = await openHttpApp(t, { yaml, model: scriptedModel(() => ({ text: 'unused' })) })
    const post = async (message: object | string, key = secret, delivery = 'd1'): Promise<number> => {
      const body = typeof message === 'string' ? message : JSON.stringify(message)
      const timestamp = String(Math.floor(http.app.context.clock.now() / 1000))
      const signature = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')
      const headers = {
        ...{ 'content-type': 'application/json', 'x-tireless-timestamp': timestamp },
        ...{ 'x-tireless-signature': `sha256=${signature}`, 'x-tireless-delivery': delivery },
      }
      return (await sendRequest(http, '/api/v1/hooks/webhook', { method: 'POST', headers, body })).status
    }
    const bytes = Buffer.alloc(3 * 1024 * 1024, 'x')
    const message = { thread_id: 't1', files: [{ name: '../big.bin', content_base64: bytes.toString('base64') }] }
    assert.equal(await post('{ not json', 'another secret'), 401)
    assert.equal(await post(message, 'another secret'), 401)
    assert.equal(await post({ text: '', files: [{ name: 'x', content_base64: '!!' }] }), 400)
    assert.equal(await post({ text: 'x'.repeat(70_000) }), 401)
    assert.equal(await post({ text: 'x'.repeat(2_000_000) }), 413)
    assert.equal(await post(message), 200)
    const [session] = (await http.app.run('sessions list', {})).items
    assert.equal(session?.session_id, 'chat-webhook-ops+t1')
    const { workspace } = (await http.app.context.store.session(session?.session_id ?? '')) ?? assert.fail('no session')
    const [said] = await http.app.context.store.inbox(session?.session_id ?? '')
    const [path = ''] = (said?.type === 'user_message' && said.files) || []
    assert.match(path, /^inbox\/[0-9a-f]{8}\/big\.bin$/)
    assert.equal(readFileSync(join(workspace ?? '', path)).length, bytes.length)
  })
})
