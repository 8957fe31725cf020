/** What a chat is asked: questions and approvals, and their answers in the chat. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'
import { openTalkApp, pairTalk, receivedTexts, routing, say, type TalkApp, work } from '../support/conversations.ts'
import { payTool } from '../support/paying-chat.ts'

const asking = (question: string): ScriptedStep => ({ calls: [{ tool: 'ask_user', args: { question } }] })

const openPaired = async (...given: Parameters<typeof openTalkApp>): Promise<TalkApp> => {
  const talk = await openTalkApp(...given)
  await pairTalk(talk)
  return talk
}

describe('asked in a chat', () => {
  test('O11: a question comes to the chat; the next message there answers it', async (t) => {
    const talk = await openPaired(t, {
      front: () => routing({ new: true }),
      work: ({ messages }) =>
        JSON.stringify(messages).includes('blue') ? { text: 'Painted it blue.' } : asking('Which colour?'),
    })
    await say(talk, 'paint the shed')
    await work(talk)
    assert.deepEqual(receivedTexts(talk), ['Which colour?'])
    await say(talk, 'blue')
    await work(talk)
    assert.deepEqual(receivedTexts(talk), ['Which colour?', 'Painted it blue.'])
    assert.equal((await talk.app.run('queue list', {})).items.filter(({ status }) => status === 'done').length, 2)
  })

  test('O11: a call that needs approval is told in the chat, and allowed by /allow or a plain yes', async (t) => {
    for (const answer of ['/allow', '可以']) {
      const { tool, paid } = payTool()
      const talk = await openPaired(
        t,
        {
          front: () => routing({ new: true }),
          work: ({ messages }) =>
            JSON.stringify(messages).includes('"pay')
              ? { text: '付好了。' }
              : { calls: [{ tool: 'pay', args: { to: 'Ann' } }] },
        },
        { tools: [tool] },
      )
      await say(talk, '付钱给 Ann')
      await work(talk)
      assert.match(receivedTexts(talk)[0] ?? '', /^\*\*pay 需要你批准\*\*\n.*Ann.*\n.*it costs money\n.*`\/allow /)
      assert.deepEqual(paid, [])
      await say(talk, answer)
      await work(talk)
      assert.deepEqual(paid, ['Ann'])
      assert.match(receivedTexts(talk)[1] ?? '', /pay/)
      assert.equal(receivedTexts(talk).at(-1), '付好了。')
    }
  })

  test('case 76: several open questions with one deadline: the person is asked which one is meant', async (t) => {
    const talk = await openPaired(t, {
      front: () => routing({ new: true }),
      work: () => ({ calls: [{ tool: 'wait', args: { for: 'user_message', until: '2099-01-01T00:00:00Z' } }] }),
    })
    await say(talk, 'first')
    await work(talk)
    await say(talk, '/to chat-chat-c9 second')
    await work(talk)
    const before = receivedTexts(talk).length
    await say(talk, 'the red one')
    await work(talk)
    const [told = ''] = receivedTexts(talk).slice(before)
    assert.match(told, /^Several things wait for your answer/)
    const [, session = ''] = /`\/to (\S+) …`/.exec(told) ?? []
    await say(talk, `/to ${session} the red one`)
    await work(talk)
    assert.match(receivedTexts(talk).at(-1) ?? '', /^Sent to assistant-/)
  })

  test('unknown commands and /approvals are answered; nothing in a chat is swallowed', async (t) => {
    const talk = await openPaired(t, { front: () => routing({ none: true, reply: 'hi' }) })
    for (const text of ['/approvals', '/allow', '/to nobody hello', '/dance']) await say(talk, text)
    await work(talk)
    const [approvals, allow, to, dance] = receivedTexts(talk)
    assert.equal(approvals, 'Nothing waits for your approval.')
    assert.match(allow ?? '', /^Which call do you mean\?/)
    assert.match(to ?? '', /^No single session is called "nobody"/)
    assert.match(dance ?? '', /^Write what you want in your own words/)
  })
})
