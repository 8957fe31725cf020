/** Differences on the page: the rows of a unified diff. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unifiedDiff } from '../../src/domain/diff.ts'
import { countChanges, pairLines, parseDiff } from '../../web/src/diff-lines.ts'

const diffOf = (before: string, after: string): string =>
  unifiedDiff({ name: 'a.md', text: before }, { name: 'a.md', text: after })

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join('')

test('Work: a difference has the line numbers of both versions and says how much is left out', () => {
  const before = numbered(1, 30)
  const after = before.replace('line 10\n', 'line ten\n').replace('line 25\n', '')
  const hunks = parseDiff(diffOf(before, after))
  assert.deepEqual(
    hunks.map(({ skipped, lines }) => [skipped, lines.length]),
    [
      [6, 8],
      [8, 7],
    ],
  )
  const changed = hunks.flatMap(({ lines }) => lines).filter(({ kind }) => kind !== 'same')
  assert.deepEqual(
    changed.map(({ kind, before: old, after: now, text }) => [kind, old, now, text]),
    [
      ['removed', 10, null, 'line 10'],
      ['added', null, 10, 'line ten'],
      ['removed', 25, null, 'line 25'],
    ],
  )
  assert.deepEqual(countChanges(hunks), { added: 1, removed: 2 })
})

test('Work: lines that look like a diff are only text', () => {
  const after = '--- a\n+++ b\n@@ -1,1 +1,1 @@\n\\ No newline at end of file\n'
  const [hunk] = parseDiff(diffOf('', after))
  assert.deepEqual(
    hunk?.lines.map(({ text }) => text),
    after.split('\n').slice(0, -1),
  )
  assert.deepEqual(
    hunk?.lines.map((line) => line.after),
    [1, 2, 3, 4],
  )
})

test('Work: side by side, replaced lines are paired and the changed part is marked', () => {
  const [hunk] = parseDiff(diffOf('a\nprice: 10 €\nb\n', 'a\nprice: 12 €\nnew\nb\n'))
  const pairs = pairLines(hunk?.lines ?? [])
  assert.deepEqual(
    pairs.map(({ left, right }) => [left?.text ?? null, right?.text ?? null]),
    [
      ['a', 'a'],
      ['price: 10 €', 'price: 12 €'],
      [null, 'new'],
      ['b', 'b'],
    ],
  )
  const [replaced] = parseDiff(diffOf('price: 10 €\n', 'price: 12 €\n'))
  assert.deepEqual(
    replaced?.lines.map(({ text, changed }) => text.slice(...(changed ?? [0]))),
    ['0', '2'],
  )
  const [rewritten] = parseDiff(diffOf('price: 10 €\n', 'something else\n'))
  assert.deepEqual(
    rewritten?.lines.map(({ changed }) => changed),
    [undefined, undefined],
  )
})

test('Work: half of a surrogate pair is never marked alone', () => {
  const [hunk] = parseDiff(diffOf('see 😀 now\n', 'see 😁 now\n'))
  assert.deepEqual(
    hunk?.lines.map(({ text, changed }) => text.slice(...(changed ?? [0]))),
    ['😀', '😁'],
  )
})
