/** The list of a chat's messages: complete under a flood, and bounded. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
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
