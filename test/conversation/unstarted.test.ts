/** Work of a conversation that is over before a run could say anything: the chat is told, once. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { commitOne } from '../../src/ports/store.ts'
import { openTalkApp, pairTalk, receivedTexts, routing, say, type TalkApp, work } from '../support/conversations.ts'
import { freshFolder } from '../support/open-app.ts'

const script = { front: () => routing({ none: true, reply: 'Hello.' }) }

async function pendingId({ app }: TalkApp): Promise<string> {
  const { items } = await app.run('queue list', { status: 'pending' })
  return items[0]?.dispatch_id ?? assert.fail('nothing is pending')
}

/** A worker takes the dispatch and dies. */
async function crash({ app }: TalkApp): Promise<void> {
  const { store, clock } = app.context
  const now = clock.now()
  const [{ epoch }] = await commitOne(store, [{ op: 'join', name: 'w', now, lease_until: now, alone: false }])
  await commitOne(store, [{ op: 'claim', epoch, limit: 1, now }])
}

describe('a dispatch that ends without a run', () => {
  test('cancelled before it began: the chat reads one sentence, in its language, once', async (t) => {
    const talk = await openTalkApp(t, script)
    await pairTalk(talk)
    await say(talk, 'paint the shed')
    const id = await pendingId(talk)
    await talk.app.run('queue cancel', { id })
    await talk.app.run('queue cancel', { id })
    await work(talk)
    assert.deepEqual(receivedTexts(talk), ['**Cancelled** before it began: paint the shed'])
    const { answer } = await talk.app.run('chat', { follow: id })
    assert.match(String(answer), /^\*\*Cancelled\*\* before it began/)
  })

  test('set aside after three crashes: the chat is told when the home is opened again', async (t) => {
    const home = freshFolder(t)
    const first = await openTalkApp(t, script, { home })
    await pairTalk(first)
    await say(first, '粉刷棚子')
    for (let i = 0; i < 3; i += 1) {
      await crash(first)
      if (i < 2) await commitOne(first.app.context.store, [{ op: 'recover', now: first.app.context.clock.now() }])
    }
    await first.app.close()
    const second = await openTalkApp(t, script, { home })
    await work(second)
    assert.deepEqual(receivedTexts(second), ['**没有完成**，程序连续几次崩溃：粉刷棚子'])
    await work(second)
    assert.equal(receivedTexts(second).length, 1)
  })

  test('a run that was cancelled in its work says so itself, once', async (t) => {
    const asking = { calls: [{ tool: 'ask_user', args: { question: 'Which colour?' } }] }
    const talk = await openTalkApp(t, { front: () => routing({ new: true }), work: () => asking })
    await pairTalk(talk)
    await say(talk, 'paint the shed')
    await work(talk)
    const { items } = await talk.app.run('queue list', { status: 'waiting' })
    await talk.app.run('queue cancel', { id: items[0]?.dispatch_id ?? '' })
    await work(talk)
    assert.deepEqual(
      receivedTexts(talk).filter((text) => text.includes('Cancelled')),
      ['**Cancelled.**'],
    )
  })
})
