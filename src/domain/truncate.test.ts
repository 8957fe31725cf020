/** Truncation of texts, and the distance between two words. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { editDistance } from './edit-distance.ts'
import { type TruncateOptions, truncateText } from './truncate.ts'

type Row = readonly [what: string, text: string, max: number, options: TruncateOptions, truncated: string]

const ROWS: readonly Row[] = [
  ['a short text stays', 'abc', 3, {}, 'abc'],
  ['a long text ends with a mark', 'abcd', 3, {}, 'abc…'],
  ['the mark can count', 'abcd', 3, { includesMark: true }, 'ab…'],
  ['a longer mark can count', 'abcdef', 5, { mark: '...', includesMark: true }, 'ab...'],
  ['the mark can be empty', 'abcd', 3, { mark: '' }, 'abc'],
  ['the mark can name what is missing', 'abcdef', 2, { mark: (n) => ` +${n}` }, 'ab +4'],
  ['a pair of units is not split', 'a😀b', 2, {}, 'a…'],
  ['and counts as missing', 'a😀b', 2, { mark: (n) => ` +${n}` }, 'a +3'],
  ['code points can be counted', '😀😀😀', 2, { unit: 'code_point' }, '😀😀…'],
  ['a text of enough code points stays', '😀😀😀', 3, { unit: 'code_point', includesMark: true }, '😀😀😀'],
  ['the mark counts as code points', '😀😀😀', 2, { unit: 'code_point', includesMark: true }, '😀…'],
  ['no room leaves the mark', 'abc', 0, {}, '…'],
]

describe('truncateText', () => {
  for (const [what, text, max, options, truncated] of ROWS)
    test(what, () => assert.equal(truncateText(text, max, options), truncated))
})

describe('editDistance', () => {
  const pairs: readonly (readonly [from: string, to: string, steps: number])[] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['schedule', 'shedule', 1],
    ['ab', 'ba', 2],
    ['😀', 'x', 1],
  ]
  for (const [from, to, steps] of pairs)
    test(`from ${JSON.stringify(from)} to ${JSON.stringify(to)} are ${steps} steps, and back`, () => {
      assert.equal(editDistance(from, to), steps)
      assert.equal(editDistance(to, from), steps)
    })
})
