/** Threads of a chat: each has a session of its own, and answers go into the thread. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import { frontSessionId } from '../../src/domain/reply-to.ts'
import type { Store } from '../../src/ports/store.ts'
import { chatMessage } from '../support/connecting-channel.ts'
import { openTalkApp, pairTalk, routing, type TalkApp, work } from '../support/conversations.ts'

const sayIn = ({ app }: TalkApp, thread_id: string | undefined, text: string): Promise<unknown> =>
  handleChatMessage(app.context, chatMessage(text, thread_id === undefined ? {} : { thread_id }))

/** What was sent so far, with its thread. */
const sent = async ({ app }: TalkApp): Promise<readonly string[]> =>
  (await app.context.store.outbox({ status: 'sent', limit: 100 }))
    .toReversed()
    .map(({ text, thread_id }) => `${thread_id ?? 'chat'}: ${text}`)

/** Counts the requests in front; every piece of work answers with what it has read. */
async function openThreads(t: TestContext): Promise<TalkApp & { fronts(): number }> {
  let fronts = 0
  const talk = await openTalkApp(t, {
    front() {
      fronts += 1
      return routing({ new: true })
    },
    work({ messages }) {
      const said = JSON.stringify(messages).match(/(?:one|two|three)[abc]/g) ?? []
      return { text: `read ${[...new Set(said)].join(' ')}` }
    },
  })
  await pairTalk(talk)
  return { ...talk, fronts: () => fronts }
}

describe('threads of a chat', () => {
  test('E12: a thread keeps its session: the front is asked once, and answers go into the thread', async (t) => {
    const talk = await openThreads(t)
    for (const [thread, text] of [
      ['t1', 'onea'],
      ['t2', 'oneb'],
      ['t1', 'twoa'],
      ['t2', 'twob'],
      ['t1', 'threea'],
    ] as const) {
      await sayIn(talk, thread, text)
      await work(talk)
    }
    assert.deepEqual(await sent(talk), [
      't1: read onea',
      't2: read oneb',
      't1: read onea twoa',
      't2: read oneb twob',
      't1: read onea twoa threea',
    ])
    assert.equal(talk.fronts(), 2)
    await sayIn(talk, undefined, 'onec')
    await work(talk)
    assert.equal((await sent(talk)).at(-1), 'chat: read onec')
    const sessions = (await talk.app.run('sessions list', {})).items.map(({ session_id }) => session_id)
    assert.equal(sessions.filter((id) => !id.startsWith('chat-')).length, 3)
  })

  test('E12: commands in a thread are answered there; /stop there stops only the thread', async (t) => {
    const talk = await openTalkApp(t, {
      front: () => routing({ new: true }),
      work: () => ({ calls: [{ tool: 'ask_user', args: { question: 'Which one?' } }] }),
    })
    await pairTalk(talk)
    for (const thread of ['t1', 't2', undefined]) await sayIn(talk, thread, `in ${thread}`)
    await work(talk)
    assert.deepEqual((await sent(talk)).toSorted(), ['chat: Which one?', 't1: Which one?', 't2: Which one?'])
    await sayIn(talk, 't1', '/status')
    await sayIn(talk, 't1', '/stop')
    await work(talk)
    const waiting = async () =>
      (await talk.app.run('queue list', { status: 'waiting' })).items.map(({ prompt }) => prompt)
    assert.deepEqual((await waiting()).toSorted(), ['in t2', 'in undefined'])
    assert.ok((await sent(talk)).some((text) => text.startsWith('t1: Kernel[default]')))
    assert.ok((await sent(talk)).some((text) => text.startsWith('t1: Stopped:')))
    await handleChatMessage(talk.app.context, chatMessage('/stop', { message_id: 'all' }))
    assert.deepEqual(await waiting(), [])
  })

  test('E12: a thread whose session was removed starts again in front', async (t) => {
    const talk = await openThreads(t)
    await sayIn(talk, 't1', 'onea')
    await work(talk)
    const name = 'thread ["chat","c9","t1"]'
    const { store } = talk.app.context
    assert.match(String(await store.setting(name)), /^assistant-/)
    await store.commit([{ ops: [{ op: 'prune', before: Date.now() + 1000, limit: 10 }] }])
    assert.equal(await store.setting(name), null)
    await sayIn(talk, 't1', 'twoa')
    await work(talk)
    assert.deepEqual([talk.fronts(), (await sent(talk)).at(-1)], [2, 't1: read twoa'])
  })

  test('E12: messages keep their order, also if the store answers a question about the later one first', async (t) => {
    const { app } = await openThreads(t)
    const { store } = app.context
    let reads = 0
    const setting: Store['setting'] = async (name) => {
      if (reads++ === 0) await pause(50)
      return store.setting(name)
    }
    const context = { ...app.context, store: { ...store, setting } }
    const say = (text: string) => handleChatMessage(context, chatMessage(text, { thread_id: 't1', message_id: text }))
    await Promise.all([say('onea'), say('twoa')])
    const inbox = await store.inbox(frontSessionId({ channel: 'chat', chat: 'c9', thread: 't1' }))
    const texts = inbox.flatMap((one) => (one.type === 'user_message' ? [one.text] : []))
    assert.deepEqual(texts, ['onea', 'twoa'])
  })

  test('E12: no thread has the session of another chat', () => {
    const all = [
      { channel: 'a', chat: 'b', thread: 'c' },
      { channel: 'a', chat: 'b-c' },
      { channel: 'a', chat: 'b+c' },
      { channel: 'a-b', chat: 'c' },
      { channel: 'a', chat: null, thread: 'b-c' },
      { channel: 'a', chat: 'b' },
    ]
    const ids = all.map(frontSessionId)
    // A channel and a chat with a hyphen were always joined like this; names of channels have none.
    assert.equal(new Set(ids.filter((_, i) => i !== 3)).size, all.length - 1)
  })
})
