/** Who answers a message: an existing session, a new one, or the agent at once. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { defineTool } from '../../src/ports/define-tool.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'
import { lastRequest, openTalkApp, pairTalk, receivedTexts, routing, say, work } from '../support/conversations.ts'

/** Scripted steps, one after the other. */
const steps = (...all: readonly ScriptedStep[]): (() => ScriptedStep) => {
  const left = [...all]
  return () => left.shift() ?? { text: 'nothing is left to say' }
}

describe('route', () => {
  test('case 71: none answers at once; both, neither or no reply is an error that the model reads', async (t) => {
    const talk = await openTalkApp(t, {
      front: steps(
        routing({ none: true, new: true, reply: 'x' }),
        routing({ reply: 'x' }),
        routing({ none: true }),
        routing({ session: 'nobody' }),
        routing({ session: 'chat-terminal' }),
        routing({ none: true, reply: 'Hello.' }),
      ),
    })
    const { answer, replies } = await talk.app.run('chat', { text: 'hello' })
    assert.deepEqual({ answer, count: replies.length }, { answer: 'Hello.', count: 1 })
    const shown = lastRequest(talk)
    for (const part of [
      'got: new, none, reply',
      'got: reply',
      'reply is the whole answer',
      'no such session; got nobody',
    ])
      assert.ok(shown.includes(part), part)
    assert.match(shown, /no such session; got chat-terminal/)
    assert.equal((await talk.app.run('sessions list', {})).items.length, 1)
  })

  test('case 71: the first of several routes in one answer counts; the others do nothing', async (t) => {
    const args = [{ none: true, reply: 'Hello.' }, { new: true }, { none: true, reply: 'Hello again.' }] as const
    const calls = args.map((each) => ({ tool: 'route', args: each }))
    const talk = await openTalkApp(t, { front: () => ({ calls }) })
    assert.equal((await talk.app.run('chat', { text: 'hello' })).answer, 'Hello.')
    assert.equal((await talk.app.run('sessions list', {})).items.length, 1)
  })

  test('O12: a message that comes while another one is routed is routed on its own, and answered', async (t) => {
    const talk = await openTalkApp(t, {
      front({ messages }) {
        const isFirst = !JSON.stringify(messages).includes('second')
        if (isFirst) second.resolve(say(talk, 'the second one'))
        return isFirst ? routing({ new: true }) : routing({ none: true, reply: 'And the second.' })
      },
      work: () => ({ text: 'The first.' }),
    })
    const second = Promise.withResolvers<{ readonly duplicate: boolean }>()
    await pairTalk(talk)
    await say(talk, 'the first one')
    await work(talk)
    assert.deepEqual(await second.promise, { duplicate: false })
    await work(talk)
    assert.deepEqual(receivedTexts(talk).sort(), ['And the second.', 'The first.'])
  })

  test('the chat that asked gets the answer, also if another one writes to the session', async (t) => {
    const nudge = defineTool({
      ...{ name: 'nudge', description: 'somebody writes', args: z.strictObject({}) },
      effect: () => ({ recovery: 'pure', reach: 'none' }),
      async run(_, { origin }) {
        await talk.app.run('send', { session: origin.session_id, chat: 'desk', text: 'in green' })
        return { status: 'ok', content: 'written' }
      },
    })
    const script = {
      front: () => routing({ new: true }),
      work: steps({ calls: [{ tool: 'nudge' }] }, { text: 'Painted.' }),
    }
    const talk = await openTalkApp(t, script, { tools: [nudge] })
    await pairTalk(talk)
    await say(talk, 'paint the shed')
    await work(talk)
    assert.match(lastRequest(talk), /in green/)
    assert.deepEqual(receivedTexts(talk), ['Painted.'])
  })

  test('O1: new starts a session with the message as its task; the quick reply comes first', async (t) => {
    const talk = await openTalkApp(t, {
      front: steps(routing({ new: 'Words', reply: 'I am on it.' })),
      work: steps(
        { calls: [{ tool: 'create_file', args: { path: 'REPORT.md', content: '3' } }] },
        { text: 'Three words.' },
      ),
    })
    const { answer, replies } = await talk.app.run('chat', { text: 'count the words' })
    const [, worked] = replies
    assert.match(answer ?? '', /^I am on it\.\n\nThree words\.\n\n\*\*Files\*\*\n- \[REPORT\.md\]\(\/.*REPORT\.md\)$/)
    const { metadata, prompt } = await talk.app.run('queue show', { id: worked?.dispatch_id ?? '' })
    assert.deepEqual(
      [metadata.title, metadata.reply_to, prompt],
      ['Words', { session: 'chat-terminal' }, 'count the words'],
    )
  })

  test('case 71, case 73: routed to an ended session, that session answers and the router does not', async (t) => {
    let session = ''
    const talk = await openTalkApp(t, { front: () => routing({ session }), work: () => ({ text: 'The third one.' }) })
    session = (await talk.app.run('run', { task: 'make three drafts' })).session_id
    const { answer, replies } = await talk.app.run('chat', { text: 'which draft is best?' })
    assert.equal(answer, 'The third one.')
    assert.deepEqual(
      replies.map(({ session_id, text }) => [session_id, text]),
      [
        ['chat-terminal', null],
        [session, 'The third one.'],
      ],
    )
  })

  test('the session in front learns what came of a message, and is not woken by it', async (t) => {
    const talk = await openTalkApp(t, {
      front: steps(routing({ new: true }), routing({ none: true, reply: 'As I said.' })),
      work: () => ({ text: 'The answer is 42.' }),
    })
    await talk.app.run('chat', { text: 'compute it' })
    const asked = talk.model.requests.length
    await work(talk)
    assert.equal(talk.model.requests.length, asked)
    await talk.app.run('chat', { text: 'what was it?' })
    assert.match(lastRequest(talk), /event reply.*The answer is 42\./s)
  })
})

describe('messages', () => {
  test('case 72: a message with a key is processed once; with a session, nothing is resolved', async (t) => {
    const talk = await openTalkApp(t, {
      front: () => routing({ none: true, reply: 'ok' }),
      work: () => ({ text: 'done' }),
    })
    const first = await talk.app.run('send', { text: 'hi', key: 'd1' })
    assert.deepEqual([first.session_id, first.duplicate], ['chat-terminal', false])
    assert.equal((await talk.app.run('send', { text: 'hi', key: 'd1' })).duplicate, true)
    await work(talk)
    assert.equal((await talk.app.run('send', { text: 'hi', key: 'd1' })).duplicate, true)
    await work(talk)
    assert.equal(talk.model.requests.length, 1)
    const { session_id } = await talk.app.run('run', { task: 'a' })
    await talk.app.run('send', { text: 'b', session: session_id })
    await work(talk)
    assert.equal((await talk.app.run('sessions list', {})).items.length, 2)
  })

  test('twenty messages at once are all read, and none starts a run of its own', async (t) => {
    const talk = await openTalkApp(t, { front: () => routing({ none: true, reply: 'ok' }) })
    await Promise.all(Array.from({ length: 20 }, (_, n) => talk.app.run('send', { text: `message ${n}!` })))
    await work(talk)
    const shown = talk.model.requests.map(({ messages }) => JSON.stringify(messages)).join()
    for (let n = 0; n < 20; n += 1) assert.ok(shown.includes(`message ${n}!`), `message ${n}`)
    assert.ok(talk.model.requests.length <= 2)
    assert.deepEqual((await talk.app.run('sessions show', { id: 'chat-terminal' })).unread, [])
  })

  test('a message of a paired chat is answered there, once; a repeated delivery changes nothing', async (t) => {
    const talk = await openTalkApp(t, {
      front: () => routing({ new: true, reply: '马上开始。' }),
      work: steps(
        { calls: [{ tool: 'create_file', args: { path: '报告.md', content: '3' } }] },
        { text: '共三个词。' },
      ),
    })
    assert.deepEqual(await say(talk, '数一下词数', 'm1'), { duplicate: false })
    await work(talk)
    assert.deepEqual(receivedTexts(talk), [], 'the chat is not paired yet')
    await pairTalk(talk)
    assert.deepEqual(await say(talk, '数一下词数', 'm1'), { duplicate: false })
    assert.deepEqual(await say(talk, '数一下词数', 'm1'), { duplicate: true })
    await work(talk)
    assert.deepEqual(await say(talk, '数一下词数', 'm1'), { duplicate: true })
    await work(talk)
    const [quick, result, ...more] = receivedTexts(talk)
    assert.equal(quick, '马上开始。')
    assert.match(result ?? '', /^共三个词。\n\n\*\*文件\*\*\n- \[报告\.md\]/)
    assert.deepEqual(more, [])
  })

  test('a failure is told in the language of the message', async (t) => {
    const talk = await openTalkApp(t, {
      front: () => routing({ new: true }),
      work: () => ({ calls: [{ tool: 'no_such_tool', args: {} }] }),
    })
    await pairTalk(talk)
    await say(talk, '做点什么')
    await work(talk)
    assert.match(receivedTexts(talk)[0] ?? '', /^\*\*没有完成。\*\*/)
    assert.equal(receivedTexts(talk).length, 1)
  })
})
