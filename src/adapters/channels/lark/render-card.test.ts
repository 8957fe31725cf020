/** Cards of Lark: what people see, within Lark's limits, whatever the text is. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { buttonsOf } from '../../../../test/support/lark-server/events.ts'
import type { ChannelMessage } from '../../../domain/message.ts'
import { channelMessage } from '../../../testing/channel-conformance.ts'
import { cardMarkdown } from './card-markdown.ts'
import { renderCard } from './render-card.ts'

describe('the Markdown of cards', () => {
  const table = '| a | b |\n|---|---|\n| 1 | 2 |\n'
  for (const [what, text, shown] of [
    ['plain text', '# 标题\n- "a" & `b` > 1 < 2 👍', '# 标题\n- "a" & `b` > 1 < 2 👍'],
    ['a mention of everybody', 'hi <at id=all></at>', 'hi &#60;at id=all>&#60;/at>'],
    ['a mention in what may be code', '\\`<at id=all></at>`', '\\`<\u200bat id=all><\u200b/at>`'],
    ['tags', '<font color=red>x</font>', '&#60;font color=red>x&#60;/font>'],
    ['code', 'a `<b>` c\n```html\n<p>\n```\n<p>', 'a `<b>` c\n```html\n<p>\n```\n&#60;p>'],
    ['a code block that is not closed', '```\n<p>', '```\n<p>'],
    ['a file of this machine', '- [REPORT.md](/home/ada/REPORT.md) [x](javascript:alert(1))', '- REPORT.md x)'],
    ['a picture', '![chart](https://x/y.png) ![](z)', '[chart](https://x/y.png) 🖼'],
    ['control characters', 'a\u0000\u001b[31mb\tc\r\n', 'a[31mb\tc\n'],
    ['half a character', 'a\ud800', 'a\ufffd'],
    ['five tables', table.repeat(5), table.repeat(5)],
  ] as const)
    test(`E16: on a card of Lark: ${what}`, () => assert.equal(cardMarkdown(text), shown))

  test('E16: tables after the fifth are code', () => {
    const shown = cardMarkdown(Array.from({ length: 7 }, () => table).join('\n'))
    assert.equal(shown.split('```').length - 1, 4)
    assert.ok(shown.trimEnd().endsWith('```'))
  })

  test('E16: no text makes a tag outside of code, or notifies anyone', () => {
    const piece = fc.constantFrom(
      '<at id=all></at>',
      '`',
      '```\n',
      '~~~\n',
      '\\',
      '<',
      'at ',
      '\n',
      '|',
      'x',
      '![',
      '](y)',
    )
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (text) => {
          assert.doesNotMatch(cardMarkdown(text), /<\/?at\b/i)
          if (!/[`~]/.test(text)) assert.doesNotMatch(cardMarkdown(text), /<[a-z/]/i)
        },
      ),
    )
  })

  test('E16: long hostile texts take no time', () => {
    for (const piece of ['`', '```\n', '<', '![', '|', '|-', '~~~', '\n    |', '``` \n |'])
      assert.ok(cardMarkdown(piece.repeat(50_000)).length > 0)
  })
})

const itemOf = (at: number, text = `May I do thing ${at}?`) => ({
  ...{ id: `i${at}`, text },
  actions: [
    { label: 'Allow', command: `/allow i${at}`, style: 'primary' as const },
    { label: 'Deny', command: `/deny i${at}`, style: 'danger' as const },
  ],
})

const parsed = (message: ChannelMessage): unknown => JSON.parse(renderCard(message))

describe('cards', () => {
  test('E16: a text is one Markdown element; the list of chats shows its first line', () => {
    assert.deepEqual(parsed(channelMessage('m', '# Report\nall **well**')), {
      schema: '2.0',
      config: { update_multi: true, summary: { content: '# Report' } },
      body: { elements: [{ tag: 'markdown', content: '# Report\nall **well**' }] },
    })
  })

  test('E16: an alert is red, buttons have their style, and know their thread', () => {
    const card = { title: 'Unhealthy', items: [itemOf(1)] }
    const message = { ...channelMessage('m', 'x'), kind: 'alert' as const, thread_id: 'om_1', card }
    const text = renderCard(message)
    assert.match(text, /"template":"red"/)
    assert.match(text, /"type":"primary".*"type":"danger"/)
    assert.deepEqual(buttonsOf({ content: JSON.parse(text) })[0], {
      ...{ label: 'Allow', value: { command: '/allow i1', message: 'm', thread: 'om_1' } },
    })
  })

  test('case 139: twenty things with long arguments fit on one card, each with its buttons', () => {
    const items = Array.from({ length: 20 }, (_, at) => itemOf(at, `push ${at}\n${'参数 "x" '.repeat(2000)}`))
    const message = { ...channelMessage('m', 'x'), card: { title: '20', items } }
    const text = renderCard(message)
    assert.ok(Buffer.byteLength(text) < 30_000)
    assert.equal(buttonsOf({ content: JSON.parse(text) }).length, 40)
    for (let at = 0; at < 20; at += 1) assert.ok(text.includes(`push ${at}\\n`))
  })

  test('E16: any message makes a card within the limits of Lark', () => {
    const action = fc.record({ label: fc.string({ maxLength: 30 }), command: fc.string({ maxLength: 100 }) })
    const item = fc.record({
      id: fc.string(),
      text: fc.string({ unit: 'binary' }),
      actions: fc.array(action, { maxLength: 3 }),
    })
    const card = fc.record({ title: fc.string(), items: fc.array(item, { maxLength: 60 }) })
    const text = fc.string({ unit: 'binary', maxLength: 6000, size: 'max' })
    fc.assert(
      fc.property(text, fc.option(card, { nil: undefined }), (words, made) => {
        const json = renderCard({ ...channelMessage('m', words), ...(made ? { card: made } : {}) })
        assert.ok(Buffer.byteLength(json) < 30_000)
        assert.ok((json.match(/"tag":/g) ?? []).length < 400)
      }),
    )
  })
})
