/** The list of a chat's messages: complete under a flood, and bounded. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTalkApp, routing } from '../support/conversations.ts'

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
})
