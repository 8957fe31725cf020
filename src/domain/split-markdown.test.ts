import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { splitMarkdown } from './split-markdown.ts'

const visible = (text: string): string => text.replaceAll(/\s/g, '')

describe('E12: a long text is split', () => {
  test('a short text stays as it is', () => {
    assert.deepEqual(splitMarkdown('', 20), [''])
    assert.deepEqual(splitMarkdown('  short\n\n', 20), ['  short\n\n'])
  })

  test('between paragraphs; a heading stays with what follows', () => {
    const text = 'first paragraph\n\n# Heading\n\nsecond paragraph, longer'
    assert.deepEqual(splitMarkdown(text, 40), ['first paragraph', '# Heading\n\nsecond paragraph, longer'])
  })

  test('a long paragraph after its sentences, else at spaces', () => {
    const text = 'One sentence is here. Another one follows it. A third.'
    assert.deepEqual(splitMarkdown(text, 30), ['One sentence is here.', 'Another one follows it.', 'A third.'])
    assert.deepEqual(splitMarkdown('aaaa bbbb cccc dddd eeee', 16), ['aaaa bbbb cccc', 'dddd eeee'])
  })

  test('Chinese after its sentences', () => {
    const text = '这是第一句话，说明情况如何。这是第二句话，说明接下来要做的事情。最后一句。'
    const parts = splitMarkdown(text, 20)
    assert.deepEqual(parts.slice(0, 2), ['这是第一句话，说明情况如何。', '这是第二句话，说明接下来要做的事情。'])
    assert.equal(parts.join(''), text)
  })

  test('emoji and joined characters are not cut in half', () => {
    const family = '👨‍👩‍👧‍👦'
    for (const part of splitMarkdown(family.repeat(20), 30)) {
      assert.equal(part.replaceAll(family, ''), '')
      assert.ok(part.length <= 30)
    }
    assert.equal(splitMarkdown('e\u0301'.repeat(40), 17).join(''), 'e\u0301'.repeat(40))
    for (const part of splitMarkdown('e\u0301'.repeat(40), 17)) assert.match(part, /^(e\u0301)+$/)
  })

  test('a code block is closed and opened again', () => {
    const lines = Array.from({ length: 9 }, (_, n) => `  const x${n} = ${n}`)
    const parts = splitMarkdown(['Look:', '', '```ts', ...lines, '```', '', 'Done.'].join('\n'), 80)
    assert.equal(parts[0], 'Look:')
    const blocks = parts.slice(1, -1)
    for (const part of parts.slice(1)) assert.match(part, /^```ts\n[\s\S]*\n```(\n\nDone\.)?$/)
    assert.ok(blocks.length > 1)
    const code = parts
      .slice(1)
      .join('\n')
      .split('\n')
      .filter((line) => line.startsWith('  const'))
    assert.deepEqual(code, lines)
    assert.match(parts.at(-1) ?? '', /Done\.$/)
  })

  test('a fence inside a longer fence does not end it; white space inside code is kept', () => {
    const text = `~~~~md\n${'```\n    deep\n```\n'.repeat(6)}~~~~`
    for (const part of splitMarkdown(text, 50)) assert.match(part, /^~~~~md\n[\s\S]*\n~~~~$/)
    const long = splitMarkdown(`\`\`\`\n${'  a'.repeat(50)}\n\`\`\``, 40)
    assert.equal(long.map((part) => part.slice(4, -4)).join(''), '  a'.repeat(50))
  })

  test('a code block that fits is kept whole', () => {
    const block = '```\na\n\nb\n\nc\n```'
    assert.deepEqual(splitMarkdown(`${'word '.repeat(6).trim()}\n\n${block}`, 35), ['word '.repeat(6).trim(), block])
  })

  test('a table is split between rows, each with its head', () => {
    const head = '| a | b |\n|---|---|'
    const rows = Array.from({ length: 10 }, (_, n) => `| ${n} | x |`)
    const parts = splitMarkdown([head, ...rows].join('\n'), 60)
    assert.ok(parts.length > 1)
    for (const part of parts) assert.ok(part.startsWith(`${head}\n| `))
    assert.deepEqual(
      parts.flatMap((part) => part.split('\n').slice(2)),
      rows,
    )
  })

  test('thousands of blocks and a megabyte without a space are split in time', () => {
    assert.ok(splitMarkdown('a paragraph\n\n'.repeat(20_000), 4000).length > 50)
    assert.equal(splitMarkdown('长'.repeat(1_000_000), 4000).join('').length, 1_000_000)
    assert.ok(splitMarkdown('| a | b |\n'.repeat(50_000), 4000).length > 100)
  })
})

const token = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('\n', '\n\n', '```', '```ts\n', '\n```\n', '~~~', '| a | b |\n|--|--|\n', '| 1 | 2 |\n', '# head\n'),
  fc.constantFrom('你好，世界。', '👩‍🚀', ' '.repeat(30), '- item\n', 'word '),
)

test('E12: parts are short enough and contain everything in order, whatever the text', () => {
  const property = fc.property(
    fc.array(token, { maxLength: 60, size: 'max' }),
    fc.integer({ min: 16, max: 120 }),
    (tokens, max) => {
      const text = tokens.join('')
      const parts = splitMarkdown(text, max)
      for (const part of parts) assert.ok(part.length <= max, `${part.length} > ${max}`)
      // Fences and heads of tables may be repeated, nothing is lost: the text is a subsequence of the parts.
      const all = visible(parts.join(''))
      let at = 0
      for (const character of visible(text)) {
        at = all.indexOf(character, at) + 1
        assert.ok(at > 0, `lost ${JSON.stringify(character)}`)
      }
    },
  )
  fc.assert(property, { numRuns: 2000 })
})

test('E12: without code and tables, the parts are the text', () => {
  const plain = fc
    .string({ unit: 'grapheme', maxLength: 400, size: 'max' })
    .map((text) => text.replaceAll(/[`~|]/g, ''))
  const property = fc.property(plain, fc.integer({ min: 16, max: 60 }), (text, max) => {
    assert.equal(visible(splitMarkdown(text, max).join('')), visible(text))
  })
  fc.assert(property, { numRuns: 1000 })
})
