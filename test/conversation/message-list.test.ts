/** The list of a chat's messages: complete under a flood, and bounded. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import { answerApproval, call, getOnlyApproval, LETTER, sendTool } from '../support/approval-fixtures.ts'
import { openTalkApp, routing, work } from '../support/conversations.ts'

describe('the messages of a chat', () => {
  test('O11: messages that come at once are all listed', async (t) => {
    const { app } = await openTalkApp(t, { front: () => routing({ none: true, reply: 'hi' }) })
    const texts = Array.from({ length: 20 }, (_, i) => `message ${i}`)
    await Promise.all(texts.map((text) => app.run('send', { text })))
    const { items, more } = await app.run('messages list', { limit: 20 })
    assert.deepEqual(items.map(({ text }) => text).toSorted(), texts.toSorted())
    assert.equal(more, false)
  })

  test('O11: a message is listed with its run though the program was killed when it was accepted', async (t) => {
    for (const message of [{}, { rules: true }]) {
      const { app } = await openTalkApp(t, { front: () => routing({ none: true, reply: 'hi' }) })
      const { store } = app.context
      const commit = store.commit.bind(store)
      let commits = 0
      // The second commit only adds which run got the message.
      t.mock.method(store, 'commit', (...given: Parameters<typeof commit>) => {
        commits += 1
        return commits === 1 ? commit(...given) : Promise.reject(new TirelessError('store_failed', 'killed'))
      })
      await assert.rejects(app.run('send', { text: 'hello', key: 'one', ...message }), /killed/)
      t.mock.restoreAll()
      await app.run('start', { until_idle: true })
      const { items } = await app.run('messages list', {})
      assert.deepEqual(
        items.map(({ text, runs }) => [text, runs.map(({ status }) => status)]),
        [['hello', ['done']]],
      )
      assert.equal((await app.run('send', { text: 'hello', key: 'one', ...message })).duplicate, true)
      assert.equal((await app.run('messages list', {})).items.length, 1)
    }
  })

  test('O11: an answer is refused if its question is no longer open, unless it has arrived before', async (t) => {
    const asked = ['Which colour?', 'Which shed?']
    const talk = await openTalkApp(t, {
      front: () => routing({ new: true }),
      work() {
        const question = asked.shift()
        return question === undefined ? { text: 'Painted.' } : { calls: [call('ask_user', { question })] }
      },
    })
    await talk.app.run('send', { text: 'paint it' })
    await work(talk)
    const waiting = async () => (await talk.app.run('queue list', { status: 'waiting' })).items[0]
    const first = await waiting()
    const to = { session: first?.session_id, answers: first?.dispatch_id, chat: 'terminal' }
    const blue = { ...to, asked_until: first?.wait?.until ?? undefined, text: 'blue', key: 'one' }
    await talk.app.run('send', blue)
    await work(talk)
    const second = await waiting()
    assert.notEqual(second?.wait?.until, first?.wait?.until)
    assert.equal((await talk.app.run('send', blue)).duplicate, true)
    await assert.rejects(talk.app.run('send', { ...blue, key: 'two' }), /conflict|no longer open/)
    await talk.app.run('send', { ...to, asked_until: second?.wait?.until ?? undefined, text: 'the old one' })
    await work(talk)
    await assert.rejects(talk.app.run('send', { ...to, text: 'green' }), /no longer open.*which is done/s)
    const { items } = await talk.app.run('messages list', {})
    assert.deepEqual(
      items.map(({ text }) => text),
      ['paint it', 'blue', 'the old one'],
    )
  })

  test('O12: while a question is open, a message may be something new', async (t) => {
    const talk = await openTalkApp(t, {
      front: () => routing({ new: true }),
      work: ({ messages }) =>
        JSON.stringify(messages).includes('feed the cat')
          ? { text: 'fed' }
          : { calls: [call('ask_user', { question: 'Which colour?' })] },
    })
    await talk.app.run('send', { text: 'paint it' })
    await work(talk)
    await talk.app.run('send', { text: 'feed the cat', new: true })
    await work(talk)
    const { items } = await talk.app.run('messages list', {})
    assert.deepEqual(
      items.map(({ runs }) => runs.at(-1)?.status),
      ['waiting', 'done'],
    )
  })

  test('O11: of long messages fewer are kept, because the list is written with each of them', async (t) => {
    const { app } = await openTalkApp(t, { front: () => routing({ none: true, reply: 'hi' }) })
    for (let i = 0; i < 40; i++) await app.run('send', { text: `${i} ${'x'.repeat(3990)}` })
    const { items } = await app.run('messages list', { limit: 100 })
    assert.ok(items.length >= 20 && items.length <= 26, `${items.length} messages`)
    assert.match(items.at(-1)?.text ?? '', /^39 /)
  })

  test('O11: a message that answers a question is listed with the question', async (t) => {
    const talk = await openTalkApp(t, {
      front: () => routing({ new: true }),
      work: ({ messages }) =>
        JSON.stringify(messages).includes('blue please')
          ? { text: 'Painted it.' }
          : { calls: [call('ask_user', { question: 'Which colour?' })] },
    })
    for (const text of ['paint the shed', 'blue please']) {
      await talk.app.run('send', { text })
      await work(talk)
    }
    const answered = (await talk.app.run('messages list', {})).items.at(-1)?.runs.at(-1)
    await talk.app.run('send', { text: 'thank you', session: answered?.session_id, chat: 'terminal' })
    await work(talk)
    const { items } = await talk.app.run('messages list', {})
    assert.equal(items.at(-1)?.runs.at(-1)?.session_id, answered?.session_id)
    assert.deepEqual(
      items.map(({ text, asked }) => [text, asked]),
      [
        ['paint the shed', null],
        ['blue please', 'Which colour?'],
        ['thank you', null],
      ],
    )
  })

  test('O11: a run is listed with what the owner decided, and with whether there is something to undo', async (t) => {
    const written = call('create_file', { path: 'a.md', content: 'a' })
    const talk = await openTalkApp(
      t,
      {
        front: () => routing({ new: true }),
        work: ({ messages }) => {
          const said = JSON.stringify(messages)
          if (said.includes('not to Bob') || said.includes('created')) return { text: 'done' }
          return said.includes('write it') ? { calls: [written] } : { calls: [call('send', LETTER)] }
        },
      },
      { tools: [sendTool()] },
    )
    await talk.app.run('send', { text: 'invite Bob' })
    await work(talk)
    const { id } = await getOnlyApproval(talk.app)
    await answerApproval(talk.app, 'deny', id, { reason: 'not to Bob' })
    await work(talk)
    await talk.app.run('send', { text: 'write it' })
    await work(talk)
    const { items } = await talk.app.run('messages list', {})
    const runs = items.map((item) => item.runs.at(-1))
    assert.deepEqual(runs[0]?.decisions, [{ id, tool: 'send', status: 'denied', reason: 'not to Bob' }])
    assert.deepEqual(
      runs.map((run) => [run?.files, run?.undoable]),
      [
        [[], false],
        [['a.md'], true],
      ],
    )
  })
})
