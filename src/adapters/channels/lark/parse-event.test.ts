/** Reading what people and strangers send in Lark. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sdkLogger } from './lark-api.ts'
import { readLarkContent } from './message-content.ts'
import { parseMessageEvent, parsePressEvent } from './parse-event.ts'

describe('the content of messages', () => {
  const line = (...elements: object[]) => JSON.stringify({ title: '', content: [elements] })
  for (const [what, type, content, expected] of [
    ['text', 'text', '{"text":"你好 @_user_1"}', '你好 @_user_1'],
    [
      'a post',
      'post',
      '{"title":"T","content":[[{"tag":"text","text":"a "},{"tag":"a","text":"b","href":"https://x"}],[{"tag":"hr"}]]}',
      '**T**\na [b](https://x)\n---',
    ],
    ['a post with languages', 'post', '{"zh_cn":{"title":"","content":[[{"tag":"md","text":"**x**"}]]}}', '**x**'],
    ['code in a post', 'post', line({ tag: 'code_block', language: 'GO', text: 'x := 1\n' }), '```go\nx := 1\n```'],
    [
      'a mention in a post',
      'post',
      line({ tag: 'at', user_id: '@_user_1', user_name: 'Bot' }, { tag: 'text', text: ' go' }),
      '@_user_1 go',
    ],
    ['an emotion', 'post', line({ tag: 'emotion', emoji_type: 'SMILE' }), '[SMILE]'],
    ['a sticker', 'sticker', '{"file_key":"x"}', '[sticker]'],
    ['a file without a key', 'file', '{}', '[file]'],
    ['broken text', 'text', 'x', ''],
    ['a broken post', 'post', '[]', '[post]'],
  ] as const)
    test(`E16: read from Lark: ${what}`, () => assert.equal(readLarkContent(type, content).text, expected))

  test('E16: pictures, files, sounds and films are files, with keys that are safe in an address', () => {
    for (const [type, content, name] of [
      ['image', { image_key: 'img_v3_a-b' }, 'image.png'],
      ['file', { file_key: 'k', file_name: '../x.csv' }, '../x.csv'],
      ['audio', { file_key: 'k', duration: 1 }, 'audio.opus'],
      ['media', { file_key: 'k', file_name: 'a.mp4' }, 'a.mp4'],
    ] as const)
      assert.equal(readLarkContent(type, JSON.stringify(content)).files[0]?.name, name)
    for (const image_key of ['../../secret', 'a/b', '', 7, 'x'.repeat(300)])
      assert.deepEqual(readLarkContent('image', JSON.stringify({ image_key })).files, [])
  })
})

describe('garbage', () => {
  const anyText = fc.oneof(fc.string(), fc.json())
  const message = fc.record(
    {
      ...{
        message_id: anyText,
        root_id: fc.anything(),
        thread_id: fc.anything(),
        chat_id: anyText,
        chat_type: fc.constantFrom('p2p', 'group', ''),
      },
      ...{
        message_type: fc.constantFrom('text', 'post', 'image', 'file', 'audio', 'media', '__proto__'),
        content: anyText,
      },
      mentions: fc.oneof(
        fc.anything(),
        fc.array(fc.record({ key: fc.constant('@_user_1'), id: fc.anything(), name: fc.anything() })),
      ),
    },
    { requiredKeys: ['message_id', 'chat_id', 'chat_type', 'message_type', 'content'] },
  )
  const event = fc.oneof(
    fc.anything(),
    fc.record({ sender: fc.record({ sender_id: fc.anything(), sender_type: fc.constant('user') }), message }),
  )

  test('E16: no event of a stranger throws; what is read has the form of a message', () => {
    fc.assert(
      fc.property(event, fc.option(fc.string(), { nil: undefined }), (data, bot) => {
        const heard = parseMessageEvent(data, bot)
        if (!heard) return
        assert.ok(heard.message.message_id !== '' && heard.message.chat_id !== '')
        assert.ok(heard.message.text.isWellFormed() && heard.message.text.length <= 100_000)
        for (const { key } of heard.files) assert.match(key, /^[\w.-]+$/)
      }),
    )
  })

  test('E16: no pressed button throws; only commands of cards are passed on', () => {
    const press = fc.record({
      ...{
        event_id: fc.string(),
        operator: fc.anything(),
        context: fc.oneof(fc.anything(), fc.record({ open_chat_id: fc.string() })),
      },
      action: fc.oneof(fc.anything(), fc.record({ value: fc.record({ command: fc.string(), thread: fc.anything() }) })),
    })
    fc.assert(
      fc.property(fc.oneof(fc.anything(), press), (data) => {
        const pressed = parsePressEvent(data)
        if (pressed) assert.ok(pressed.text.startsWith('/') && pressed.message_id !== '')
      }),
    )
  })

  test('case 136: what the SDK logs is reduced to its texts', () => {
    const lines: string[] = []
    const { error, info } = sdkLogger((text) => void lines.push(text))
    error(['[ws]', 'failed', { config: { data: 'app_secret' } }], new Error('token'))
    info('ws url: wss://x?ticket=1')
    error([{}])
    assert.deepEqual(lines, ['[ws] failed'])
  })
})
