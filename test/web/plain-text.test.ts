/** Long texts of the page, cut into pieces. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cutIntoPieces } from '../../web/src/text-pieces.ts'

test('pieces have all characters in their order, and break only at line breaks or in lines that are too long', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.integer({ min: 1990, max: 5000 }).map((n) => '文😀'.repeat(n)),
    fc.integer({ min: 90, max: 300 }).map((n) => '\n'.repeat(n)),
    fc.constant('short'),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const text = lines.join('\n')
      const pieces = cutIntoPieces(text)
      assert.equal(pieces.join('').replaceAll('\n', ''), text.replaceAll('\n', ''))
      for (const piece of pieces) {
        assert.ok(piece.length <= 2000 && piece.isWellFormed() === text.isWellFormed())
        assert.ok(piece.split('\n').length <= 100)
      }
      if (text.split('\n').every(({ length }) => length < 2000))
        assert.equal(pieces.map((piece) => (piece === '\n' ? '' : piece)).join('\n'), text)
    }),
  )
})
