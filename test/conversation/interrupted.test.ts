/** Work of a conversation that is turned around, stopped or killed. */

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { startKernelIn, waitForExit } from '../support/command-line.ts'
import { openTalkApp, routing, work } from '../support/conversations.ts'
import { createGreetingHome } from '../support/greeting-home.ts'
import { replayIn, waitUntil } from '../support/open-app.ts'

const asking = { calls: [{ tool: 'ask_user', args: { question: 'Which colour?' } }] }
const planning = { calls: [{ tool: 'finish', args: { answer: 'I plan again.', next: 'plan' } }] }

describe('send --route', () => {
  test('O12: a session that waits in its work reads the message in the router, and nothing is lost', async (t) => {
    const talk = await openTalkApp(t, {
      front: () => routing({ new: true }),
      work({ messages, tools }) {
        if (!JSON.stringify(messages).includes('in green')) return asking
        return tools.some(({ name }) => name === 'ask_user') ? { text: 'Painted it green.' } : planning
      },
    })
    const { replies } = await talk.app.run('chat', { text: 'paint the shed' })
    const { session_id = '', dispatch_id = '' } = replies.at(-1) ?? {}
    await talk.app.run('send', { session: session_id, text: 'in green', route: true })
    await work(talk)
    const { journal, unread } = await talk.app.run('sessions show', { id: session_id })
    const behaviours = journal.flatMap((record) => (record.kind === 'became' ? [record.behaviour] : []))
    assert.deepEqual(behaviours, ['router', 'plan'])
    assert.equal((await talk.app.run('queue show', { id: dispatch_id })).result, 'Painted it green.')
    assert.deepEqual(unread, [])
    assert.equal((await replayIn(talk.app, dispatch_id)).identical, true)
  })
})

describe('queue pause --how immediate', () => {
  test('stops the step and not the work: the run goes on where it was', async (t) => {
    const asked = Promise.withResolvers<void>()
    let isFirst = true
    // The first answer of the model at work never comes.
    const scripted = scriptedModel(({ tools }) =>
      tools.some(({ name }) => name === 'route') ? routing({ new: true }) : { text: 'Done.' },
    )
    const model: typeof scripted = {
      ...scripted,
      async call(request, ...more) {
        if (request.tools.some(({ name }) => name === 'route') || !isFirst) return scripted.call(request, ...more)
        isFirst = false
        asked.resolve()
        return new Promise(() => {})
      },
    }
    const talk = await openTalkApp(t, { front: () => routing({ new: true }) }, { model })
    const chatting = talk.app.run('chat', { text: 'do it' })
    await asked.promise
    const running = (await talk.app.run('queue list', { status: 'running' })).items[0]?.dispatch_id ?? ''
    await talk.app.run('queue pause', { id: running, how: 'immediate' })
    const stopped = await chatting
    assert.deepEqual([stopped.answer, stopped.replies.at(-1)?.status], [null, 'pending'])
    await talk.app.run('queue resume', { id: running })
    assert.equal((await talk.app.run('chat', { follow: running })).answer, 'Done.')
  })
})

describe('kill -9', () => {
  test('between the end of a run and its delivery: the reply leaves under one id, and is bought once', async (t) => {
    const { home, outside, provider, say } = await createGreetingHome(t)
    // The first delivery never gets an answer.
    outside.answer = () => {}
    const first = await startKernelIn(t, home)
    await say()
    await waitUntil(() => outside.received.length === 1)
    first.kill('SIGKILL')
    await waitForExit(first)
    rmSync(join(home, 'socket'), { force: true })
    outside.answer = (response) => response.end('ok')
    await startKernelIn(t, home)
    await say()
    await waitUntil(() => outside.received.length === 2)
    const replies = outside.received.map(({ body }) => JSON.parse(body))
    assert.equal(new Set(replies.map(({ id }) => id)).size, 1)
    assert.deepEqual(
      replies.map(({ text }) => text),
      ['Hello!', 'Hello!'],
    )
    assert.equal(provider.requests.length, 1)
  })
})
