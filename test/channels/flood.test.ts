/** Floods: the messages of a paired chat are all heard, in their order; strangers cost nothing. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import { frontSessionId } from '../../src/domain/reply-to.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { chatMessage, connectingChannel } from '../support/connecting-channel.ts'
import { openTalkApp, pairTalk, receivedTexts, routing, work } from '../support/conversations.ts'
import { openHttpApp, sendRequest } from '../support/http-app.ts'
import { openApp } from '../support/open-app.ts'

const MESSAGES = 1000
const THREADS = ['t0', 't1', 't2', 't3']
const BURST = 100

/** The texts that the session in front of each thread has to read, in their order. */
async function inboxes(app: App, channel: string, chat: string): Promise<Record<string, readonly string[]>> {
  const entries = THREADS.map(async (thread) => {
    const inbox = await app.context.store.inbox(frontSessionId({ channel, chat, thread }))
    return [thread, inbox.flatMap((one) => (one.type === 'user_message' ? [one.text] : []))] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

const threadOf = (n: number): string => THREADS[n % THREADS.length] ?? ''
const expected = Object.fromEntries(
  THREADS.map((thread) => [
    thread,
    Array.from({ length: MESSAGES }, (_, n) => n)
      .filter((n) => threadOf(n) === thread)
      .map((n) => `message ${n}!`),
  ]),
)

describe('a flood of messages', () => {
  test('E12: 1,000 messages in bursts through a connection: none lost, in order per thread', async (t) => {
    const chat = connectingChannel()
    const model = scriptedModel(() => ({ text: 'unused' }))
    const app = await openApp(t, { channels: [chat], model, yaml: 'server: { port: 0 }\n' })
    await app.run('channels pair', { name: 'chat', chat: 'c9' })
    await app.run('pause', {})
    for (let burst = 0; burst < MESSAGES; burst += BURST)
      await Promise.all(
        Array.from({ length: BURST }, (_, i) => {
          const n = burst + i
          const message = chatMessage(`message ${n}!`, { thread_id: threadOf(n), message_id: `m${n}` })
          // Every tenth comes twice.
          const again = n % 10 === 0 ? [handleChatMessage(app.context, message)] : []
          return Promise.all([handleChatMessage(app.context, message), ...again])
        }),
      )
    assert.deepEqual(await inboxes(app, 'chat', 'c9'), expected)
  })

  test('E12: 1,000 messages in bursts through the webhook: none lost, in order per thread', async (t) => {
    const secret = 'the secret of the hook'
    const webhook = { url: 'http://127.0.0.1:9/', secret, chat_id: 'ops' }
    const yaml = JSON.stringify({ server: { port: 0 }, channels: { webhook } })
    const http = await openHttpApp(t, { yaml, model: scriptedModel(() => ({ text: 'unused' })) })
    const post = (n: number): Promise<{ readonly status: number }> => {
      const body = JSON.stringify({ text: `message ${n}!`, thread_id: threadOf(n) })
      const timestamp = String(Math.floor(http.app.context.clock.now() / 1000))
      const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
      const headers = {
        ...{ 'content-type': 'application/json', 'x-tireless-timestamp': timestamp },
        ...{ 'x-tireless-signature': `sha256=${signature}`, 'x-tireless-delivery': `d${n}` },
      }
      return sendRequest(http, '/api/v1/hooks/webhook', { method: 'POST', headers, body })
    }
    // One sender per thread keeps the order of its own messages.
    await Promise.all(
      THREADS.map(async (thread) => {
        for (let n = 0; n < MESSAGES; n += 1) if (threadOf(n) === thread) assert.equal((await post(n)).status, 200)
      }),
    )
    assert.deepEqual(await inboxes(http.app, 'webhook', 'ops'), expected)
  })

  test('E12: strangers get no reply, no row and no model call, whatever they send', async (t) => {
    let reads = 0
    const talk = await openTalkApp(t, { front: () => routing({ none: true, reply: 'heard' }) })
    await pairTalk(talk)
    const read = async (): Promise<Uint8Array> => {
      reads += 1
      return new Uint8Array()
    }
    const texts = ['hello', '/status', '/stop kernel', 'allow 3f2', '/pair', '/pair WRONGONE', '']
    await Promise.all(
      Array.from({ length: 700 }, (_, n) =>
        handleChatMessage(
          talk.app.context,
          chatMessage(texts[n % texts.length] ?? '', {
            ...{ chat_id: `stranger ${n % 9}`, message_id: `s${n}`, thread_id: 't', files: [{ name: 'x', read }] },
          }),
        ).catch((error: { code: string }) => assert.equal(error.code, 'channel_limited')),
      ),
    )
    await handleChatMessage(talk.app.context, chatMessage('the owner writes'))
    await work(talk)
    assert.deepEqual([receivedTexts(talk), talk.model.requests.length, reads], [['heard'], 1, 0])
    assert.equal((await talk.app.run('sessions list', {})).items.length, 1)
  })
})
