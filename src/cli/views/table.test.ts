/** Tables in a terminal: columns are aligned whatever characters their cells have. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { formatTable } from './table.ts'
import { textWidth, truncateToWidth } from './text-width.ts'

describe('tables', () => {
  test('columns are aligned where cells have Chinese characters, emoji or combined characters', () => {
    const names = ['plain', '数据分析', '👩‍💻 dev', 'cafe\u0301', '한국어']
    const table = formatTable(
      names.map((name) => ({ name, status: 'done' })),
      ['name', 'status'],
    )
    const lines = stripVTControlCharacters(table).split('\n')
    const columns = lines.map((line) => textWidth(line.slice(0, line.search(/status|done/))))
    assert.deepEqual(columns, Array(names.length + 1).fill(textWidth('数据分析') + 2))
  })

  test('a long cell is cut at the width of 48 columns, and an id never is', () => {
    const table = formatTable([{ title: '字'.repeat(100), run_id: 'x'.repeat(100) }], ['title', 'run_id'])
    const [, row = ''] = stripVTControlCharacters(table).split('\n')
    assert.equal(row, `${'字'.repeat(23)}…  ${'x'.repeat(100)}`)
  })
})

describe('the width of a text', () => {
  const rows: readonly (readonly [text: string, width: number])[] = [
    ['', 0],
    ['abc', 3],
    ['中文', 4],
    ['ｗｉｄｅ', 8],
    ['👍🏽', 2],
    ['👨‍👩‍👧‍👦', 2],
    ['🇩🇪', 2],
    ['e\u0301', 1],
    ['\u001b[1mbold\u001b[0m', 4],
  ]
  for (const [text, width] of rows)
    test(`${JSON.stringify(text)} takes ${width} columns`, () => assert.equal(textWidth(text), width))

  test('a text is cut between characters, with an ellipsis', () => {
    assert.equal(truncateToWidth('abcdef', 6), 'abcdef')
    assert.equal(truncateToWidth('abcdefg', 6), 'abcde…')
    assert.equal(truncateToWidth('中文中文', 6), '中文…')
    assert.equal(truncateToWidth('👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 3), '👨‍👩‍👧‍👦…')
  })
})
