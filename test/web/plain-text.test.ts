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
  const emptyLines = Array.from({ length: 300 }, (_, n): [string[]] => [['short', '\n'.repeat(n)]])
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const text = lines.join('\n')
      const pieces = cutIntoPieces(text)
      assert.equal(pieces.join('').replaceAll('\n', ''), text.replaceAll('\n', ''))
      // A browser does not draw the last line of a block if it is empty.
      const drawn = pieces.map((piece, at) => (at < pieces.length - 1 ? piece.replace(/\n$/, '') : piece))
      for (const piece of drawn) {
        assert.ok(piece.length <= 2000 && piece.isWellFormed() === text.isWellFormed())
        assert.ok(piece.split('\n').length <= 100)
      }
      if (text.split('\n').every(({ length }) => length < 2000)) assert.equal(drawn.join('\n'), text)
    }),
    { examples: emptyLines, numRuns: 1000 },
  )
})
