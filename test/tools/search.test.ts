/** The search_files tool, used through whole runs in real folders. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { freshFolder } from '../support/open-app.ts'
import { callStep, runAgent } from '../support/serve-pages.ts'

/** Runs an agent in a repository with these files. */
async function runSearch(
  t: TestContext,
  files: Readonly<Record<string, string | Buffer>>,
  calls: readonly object[],
  writeFiles = (_: string) => {},
) {
  const workspace = join(freshFolder(t, 'given'), 'given')
  mkdirSync(workspace)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), content)
  }
  writeFiles(workspace)
  const git = (...args: string[]) => execFileSync('git', ['-C', workspace, ...args], { stdio: 'ignore' })
  git('init', '-q')
  git('config', 'needle.needle', 'needle')
  git('add', '-A')
  git('-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'all')
  const steps = calls.map((args) => callStep('search_files', args))
  return (await runAgent(t, steps, {}, { workspace })).results
}

describe('search_files', () => {
  test('lists lines with their places, by expression or plain text, without binaries, .git and links', async (t) => {
    const files = {
      'a.txt': 'one\ntwo needle\r\nthree\n',
      'deep/b.md': 'needles (many)\nfoo.bar()\n',
      'deep/bin': Buffer.from([0, 1, 2, ...Buffer.from('needle')]),
    }
    const results = await runSearch(
      t,
      files,
      [
        { pattern: 'needle' },
        { pattern: '^n\\w+s\\b', path: 'deep' },
        { pattern: 'foo.bar(', path: 'deep/b.md' },
        { pattern: 'nothing' },
        { pattern: 'x', path: '../..' },
        { pattern: 'x', path: 'no' },
      ],
      (workspace) => {
        writeFileSync(join(dirname(workspace), 'outside'), 'needle outside\n')
        symlinkSync('../outside', join(workspace, 'link'))
        linkSync(join(dirname(workspace), 'outside'), join(workspace, 'hard'))
      },
    )
    assert.equal(results[0]?.content, 'a.txt:2: two needle\ndeep/b.md:1: needles (many)')
    assert.equal(results[1]?.content, 'deep/b.md:1: needles (many)')
    assert.equal(
      results[2]?.content,
      'deep/b.md:2: foo.bar()\n[the pattern is not a valid regular expression, so it was used as plain text]',
    )
    assert.match(results[3]?.content ?? '', /^no line matches in 2 files$/)
    assert.deepEqual(
      results.slice(4).map(({ status }) => status),
      ['error', 'error'],
    )
  })

  test('a pattern that would take too long is stopped, and blocks nothing else', async (t) => {
    let turns = 0
    const counter = setInterval(() => {
      turns += 1
    }, 20)
    t.after(() => clearInterval(counter))
    const results = await runSearch(t, { 'a.txt': `${'a'.repeat(60)}!\n` }, [{ pattern: '^(a+)+$' }])
    assert.deepEqual(
      { status: results[0]?.status, saysWhy: /took too long/.test(results[0]?.content ?? '') },
      { status: 'error', saysWhy: true },
    )
    assert.ok(turns > 20, 'the program continued meanwhile')
  })

  test('the number of matches is limited, and the result says so', async (t) => {
    const [many, long] = await runSearch(t, { many: 'x\n'.repeat(1000), long: `y${'z'.repeat(5000)}` }, [
      { pattern: 'x' },
      { pattern: 'y' },
    ])
    assert.equal(many?.content.split('\n').filter((line) => line.startsWith('many:')).length, 200)
    assert.match(many?.content ?? '', /only the first 200/)
    assert.ok((long?.content.length ?? 0) < 400)
  })
})
