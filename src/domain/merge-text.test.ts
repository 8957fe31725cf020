import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyLineChanges, diffLines, linesWithBreaks, unifiedDiff } from './diff.ts'
import { mergeText } from './merge-text.ts'

/** Few different lines, so that they repeat; with and without a final line break. */
const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd\r\n', '## e\n'), { maxLength: 12 })
  .chain((lines) => fc.constantFrom('', 'a', 'end').map((last) => lines.join('') + last))

const applied = (before: string, after: string): string =>
  applyLineChanges(linesWithBreaks(before), diffLines(linesWithBreaks(before), linesWithBreaks(after))).join('')

test('E2: lines join to the text, and applying its changes gives the other text', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(linesWithBreaks(a).join(''), a)
      assert.equal(applied(a, b), b)
      assert.deepEqual(diffLines(linesWithBreaks(a), linesWithBreaks(a)), [])
    }),
  )
})

test('E2: no more lines change than necessary; texts with little in common are one change', () => {
  const changes = diffLines(linesWithBreaks('a\nb\nc\nd\ne\n'), linesWithBreaks('a\nB\nc\ne\nf\n'))
  assert.deepEqual(changes, [
    { from: 1, to: 2, lines: ['B\n'] },
    { from: 3, to: 4, lines: [] },
    { from: 5, to: 5, lines: ['f\n'] },
  ])
  const long = (word: string): string => Array.from({ length: 20_000 }, (_, i) => `${word} ${i}\n`).join('')
  assert.equal(diffLines(linesWithBreaks(long('old')), linesWithBreaks(long('new'))).length, 1)
  assert.equal(applied(long('old'), long('new')), long('new'))
})

test('E2: a change by one side wins; equal changes count once; order matters only for insertions in one place', () => {
  fc.assert(
    fc.property(text, text, text, (base, ours, theirs) => {
      assert.equal(mergeText(base, ours, base), ours)
      assert.equal(mergeText(base, base, theirs), theirs)
      assert.equal(mergeText(base, ours, ours), ours)
      const [one, other] = [mergeText(base, ours, theirs), mergeText(base, theirs, ours)]
      const sorted = (merged: string): string[] => linesWithBreaks(merged).toSorted()
      if (one !== null && other !== null) assert.deepEqual(sorted(one), sorted(other))
      for (const line of diffLines(linesWithBreaks(base), linesWithBreaks(theirs)).flatMap((change) => change.lines))
        assert.ok(one === null || linesWithBreaks(one).includes(line))
    }),
  )
})

test('E2: edits in different lines are both kept, also side by side; in the same lines they conflict', () => {
  const base = '# state\n## plan\n(none)\n## notes\n- a\n'
  const merged = (ours: string, theirs: string): string | null => mergeText(base, ours, theirs)
  assert.equal(
    merged(base.replace('(none)', 'ship it'), base.replace('## plan', '## the plan')),
    '# state\n## the plan\nship it\n## notes\n- a\n',
  )
  assert.equal(merged(`${base}- b\n`, `${base}- c\n`), `${base}- b\n- c\n`)
  assert.equal(merged(base.replace('(none)\n', ''), base.replace('(none)', '(nothing)')), null)
  assert.equal(merged(base.replace('(none)', 'ship'), base.replace('(none)', 'wait')), null)
  assert.equal(mergeText('', 'ours\n', 'theirs\n'), 'ours\ntheirs\n')
  assert.equal(mergeText('a', 'a\nb', 'a\nc'), null)
  assert.equal(mergeText('a\n', 'a\nb', 'a\nc\n'), null, 'two lines without a break between them')
})

test('E2: git apply accepts the diff', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tireless-diff-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const numbers = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join('')
  for (const [from, to] of [
    [numbers, numbers.replace('line 3\n', '').replace('line 20\n', 'line 20\nand a half\n')],
    ['', 'new\n'],
    ['gone\n', ''],
    ['a\nb', 'a\nb\n'],
    ['a\r\nb\r\n', 'a\r\nc'],
  ] as const) {
    writeFileSync(join(folder, 'f'), from)
    const input = unifiedDiff({ name: 'f', text: from }, { name: 'f', text: to })
    const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
    execFileSync('git', ['apply', '-p0', '--unsafe-paths', '--whitespace=nowarn', '-'], { cwd: folder, env, input })
    assert.equal(readFileSync(join(folder, 'f'), 'utf8'), to)
  }
  assert.equal(unifiedDiff({ name: 'f', text: numbers }, { name: 'f', text: numbers }), '')
})
