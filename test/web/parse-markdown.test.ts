/** Markdown of models and strangers, as a tree. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Part, parseMarkdown, readTask } from '../../web/src/parse-markdown.ts'

/** Contract: the tree in one line: `strong(text)`, in order. */
const outline = (parts: readonly Part[]): string =>
  parts
    .filter((part) => part.kind !== 'text' || part.text !== '')
    .map((part) => {
      const task = part.kind === 'list_item' ? readTask(part) : undefined
      const { href, src } = part.attributes
      const content = part.parts.length > 0 ? outline(task?.parts ?? part.parts) : part.text
      if (part.kind === 'text') return content
      return `${task ? (task.isDone ? 'done' : 'todo') : part.kind}${href ?? src ?? ''}(${content})`
    })
    .join('')

const textOf = (parts: readonly Part[]): string =>
  parts
    .map(({ text, attributes, parts: inner }) => [text, ...Object.values(attributes), textOf(inner)].join(' '))
    .join(' ')

const CASES: readonly (readonly [markdown: string, tree: string])[] = [
  ['# A **b**', 'heading(A strong(b))'],
  ['a  \nb\nc', 'paragraph(ahardbreak()bsoftbreak()c)'],
  ['- [ ] a\n- [x] b\n- c', 'bullet_list(todo(a)done(b)list_item(c))'],
  ['1. [x] a\n\n2. [y] b', 'ordered_list(done(paragraph(a))list_item(paragraph([y] b)))'],
  ['- a\n  - *b*', 'bullet_list(list_item(abullet_list(list_item(em(b)))))'],
  ['|a|\n|-|\n|~~b~~|', 'table(thead(tr(th(a)))tbody(tr(td(s(b)))))'],
  ['<b onclick="x()">a</b> &copy; \\*', 'paragraph(<b onclick="x()">a</b> © *)'],
  ['[a](https://b.c/ "t") <https://d.e/>', 'paragraph(linkhttps://b.c/(a) linkhttps://d.e/(https://d.e/))'],
  ['[a](javascript:alert(1)) ![b](https://c.d/)', 'paragraph([a](javascript:alert(1)) imagehttps://c.d/(b))'],
  ['读 https://a.b/c，然后', 'paragraph(读 linkhttps://a.b/c(https://a.b/c)，然后)'],
  ['**注意：**请看*这里。*好', 'paragraph(strong(注意：)请看em(这里。)好)'],
  ['README.md 2 * 3 * 4 snake_case_name', 'paragraph(README.md 2 * 3 * 4 snake_case_name)'],
  ['```js\na\n```\n\n> b\n\n---', 'fence(a\n)blockquote(paragraph(b))hr()'],
]

for (const [markdown, tree] of CASES)
  test(`Markdown: ${JSON.stringify(markdown)}`, () => assert.equal(outline(parseMarkdown(markdown) ?? []), tree))

const UNITS = [
  '> ',
  '- ',
  '* ',
  '1. ',
  '    ',
  '\n',
  '\n\n',
  '`',
  '```\n',
  '~~~\n',
  '<',
  '<!--',
  '[',
  '](',
  ')',
  '# ',
  '=',
]
UNITS.push('===\n', '---\n', '-', '*', '_', '~~', '\\', '&', '"', '- [ ] ', '  - a\n', 'http://', '@', '中', '😀', '!')

test('Markdown: nothing is lost, whatever is combined', () => {
  const unit = fc.oneof(fc.constantFrom(...UNITS), fc.string({ unit: 'binary', maxLength: 3 }))
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
      const words = units.map((_, at) => `w${at}w`)
      const text = units.map((each, at) => `${each}\n${words[at]} `).join('')
      const found = textOf(parseMarkdown(text) ?? assert.fail('it was not parsed'))
      // Definitions of references, languages of code and superfluous cells are not drawn.
      if (/\]:|[`~]{3}.|\|/.test(text)) return
      for (const word of words) assert.ok(found.includes(word), `${word} is missing`)
    }),
    { numRuns: 2000 },
  )
})

test('Markdown: no text keeps the page busy, and one that nests too deep stays text', () => {
  const hostile = [
    '- ',
    '* ',
    '> ',
    '>',
    '> - ',
    '1. ',
    '***a** b ',
    '!',
    'a_',
    '*',
    '_',
    '[',
    '![',
    '`',
    '<',
    '&',
    '\\[',
  ]
  hostile.push('a\n', '|a|b|\n', '>---\n|a|b|\n', '> ~~~\n<div>\n', '*a ', '[a](', 'http://', '-|\n', '- [ ] a\n', ' ')
  for (const unit of hostile)
    for (const start of ['', '- ', '|a|\n|-|\n', 'a']) {
      const text = `${start}${unit.repeat(60_000)}`.slice(0, 59_999).concat('x')
      const before = process.cpuUsage().user
      parseMarkdown(text)
      const ms = (process.cpuUsage().user - before) / 1000
      assert.ok(ms < 1500, `${JSON.stringify(start + unit)} took ${ms} ms`)
    }
  for (const unit of ['- ', '> ', '*a '])
    assert.equal(parseMarkdown(`${unit.repeat(200)}x${' a*'.repeat(200)}`), undefined)
  assert.equal(parseMarkdown('a'.repeat(60_001)), undefined)
})
