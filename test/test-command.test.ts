/** scripts/test.mjs: its failures and output, tried in a separate checkout with sample tests. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('..', import.meta.url))
let root: string

beforeEach(() => {
  root = mkdtempSync(join(os.tmpdir(), 'tireless-test-command-'))
  for (const name of ['setup', 'test', 'long-tests', 'bundle-stamp', 'reporter'])
    write(`scripts/${name}.mjs`, readFileSync(join(project, `scripts/${name}.mjs`), 'utf8'))
  write('package.json', '{"type":"module"}')
  write('package-lock.json', '{}')
  write(`node_modules/.tireless/${os.type()}-${os.machine()}`, '{}')
  write('node_modules/typescript/bin/tsc', '')
  write('node_modules/@biomejs/biome/bin/biome', '')
  for (const name of ['strace', 'chromium', 'chromium-headless-shell']) {
    write(`programs/${name}`, '#!/bin/sh\n')
    chmodSync(join(root, 'programs', name), 0o755)
  }
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

const testFile = (body: string): string => `import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
${body}
`

function run(args: readonly string[] = [], extra: Readonly<Record<string, string>> = {}) {
  const env = { HOME: root, PATH: `${join(root, 'programs')}:${process.env.PATH}`, ...extra }
  const ended = spawnSync(
    process.execPath,
    [join(root, 'scripts/test.mjs'), '--results', join(root, 'results'), ...args],
    { env, encoding: 'utf8' },
  )
  return { status: ended.status, output: ended.stdout + ended.stderr, last: ended.stdout.trimEnd().split('\n').at(-1) }
}

/** A line with title and count for each process of the runs so far. */
function passed(): string {
  const results = readFileSync(join(root, 'results'), 'utf8').trimEnd().split('\n')
  return results
    .map((line) => JSON.parse(line))
    .map((result) => `${result.title} ${result.passed}\n`)
    .join('')
}

it('counts types, lint and tests, prints the summary last and exits with 0', () => {
  write('src/a.test.ts', testFile(`it('a', () => {}); describe('s', () => { it('b', () => {}) })`))
  write('test/b.test.ts', testFile(`it('c', (t) => t.diagnostic('7 of 9'))`))
  const { status, last, output } = run()
  assert.equal(last, '5 passed, 0 failed')
  assert.equal(status, 0)
  assert.match(output, /7 of 9/)
})

it('shows a failure in full, with the path to it and the output of the file', () => {
  write(
    'src/a.test.ts',
    testFile(
      `describe('outer', () => { it('inner', () => {
        console.log('a hint')
        assert.equal(1, 2)
      })
      it('fine', () => {}) })`,
    ),
  )
  const { status, last, output } = run()
  assert.equal(status, 1)
  assert.equal(last, '3 passed, 1 failed')
  assert.match(output, /FAIL src\/a\.test\.ts › outer › inner\n {2}src\/a\.test\.ts:3\n/)
  assert.match(output, /1 !== 2/)
  assert.match(output, /a hint/)
})

it('begins its output with the first failure, because logs are often cut', () => {
  const long = "'x\\n'.repeat(40) + 'the end'"
  write('src/a.test.ts', testFile(`it('bad', () => assert.fail(${long}))`))
  write('test/b.test.ts', testFile(`it('fine', () => {})`))
  const [first, summary] = run().output.split('FAIL src/a.test.ts › bad\n').slice(0, 2)
  assert.match(`${first}`, /^FAIL src\/a\.test\.ts {2}0, 1 failed.*\n\n$/)
  assert.doesNotMatch(`${summary}`, /the end/)
})

it('lists skipped tests with their reasons', () => {
  write('src/a.test.ts', testFile(`it('a', { skip: 'needs a moon' }, () => {}); it('b', () => {})`))
  const { status, last, output } = run()
  assert.equal(status, 0)
  assert.equal(last, '3 passed, 0 failed')
  assert.match(output, /skipped src\/a\.test\.ts › a: needs a moon/)
})

it('fails if types or lint fail', () => {
  write('src/a.test.ts', testFile(`it('a', () => {})`))
  write('node_modules/typescript/bin/tsc', `console.log('src/a.ts(1,1): error TS1'); process.exitCode = 2`)
  write('node_modules/@biomejs/biome/bin/biome', `process.exitCode = process.argv.includes('--write') ? 0 : 1`)
  const { status, last, output } = run()
  assert.equal(status, 1)
  assert.equal(last, '1 passed, 2 failed')
  assert.match(output, /error TS1/)
})

it('fails if there is no test, in a file or at all', () => {
  assert.deepEqual({ status: run().status, last: run().last }, { status: 1, last: '2 passed, 1 failed' })
  write('src/a.test.ts', 'export const a = 1')
  const { status, output } = run()
  assert.equal(status, 1)
  assert.match(output, /has no test/)
})

it('fails if a file does not load, throws after its tests, or is killed', () => {
  const broken = {
    'a.test.ts': `import './missing.ts'`,
    'b.test.ts': testFile(`it('b', () => { setImmediate(() => { throw new Error('too late') }) })`),
    'c.test.ts': testFile(`it('c', () => { process.kill(process.pid, 'SIGKILL') })`),
  }
  // Alone, and beside a file that is fine.
  for (const [name, text] of Object.entries(broken))
    for (const folder of [`src/${name[0]}`, `test/${name[0]}`]) write(`${folder}/${name}`, text)
  for (const name of 'abc') write(`test/${name}/fine.test.ts`, testFile(`it('fine', () => {})`))
  const { status, output } = run()
  assert.equal(status, 1)
  for (const folder of ['src', 'test']) {
    assert.match(output, new RegExp(`FAIL ${folder}/a/a\\.test\\.ts[\\s\\S]*ERR_MODULE_NOT_FOUND`))
    assert.match(output, new RegExp(`FAIL ${folder}/b[\\s\\S]*too late`))
  }
  assert.match(output, /FAIL src\/c\/c\.test\.ts › the file itself\n {2}ended with SIGKILL/)
  assert.match(output, /FAIL test\/c \(2 files\) › the file itself\n {2}ended with SIGKILL/)
})

it('names the file of a failure, and one without tests, among several in one process', () => {
  write('src/a.test.ts', testFile(`it('a', () => {})`))
  write('src/b.test.ts', testFile(`describe('outer', () => { it('b', () => assert.fail('wrong')) })`))
  write('src/c.test.ts', 'export const c = 1')
  const { last, output } = run()
  assert.equal(last, '3 passed, 2 failed')
  assert.match(output, /FAIL src \(3 files\) /)
  assert.match(output, /FAIL src\/b\.test\.ts › outer › b\n[\s\S]*wrong/)
  assert.match(output, /FAIL src\/c\.test\.ts › the file itself\n {2}has no test/)
})

it('gives a file that changes its process, or has hooks, a process of its own', () => {
  write('src/a.test.ts', testFile(`it('a', () => { process.env.FROM_A = '1' })`))
  write('src/b.test.ts', testFile(`import { beforeEach } from 'node:test'\nbeforeEach(() => assert.fail())`))
  write('src/c.test.ts', testFile(`it('c', () => assert.equal(process.env.FROM_A, undefined))`))
  const { output } = run()
  for (const name of 'ac') assert.match(passed(), new RegExp(`src/${name}\\.test\\.ts 1`), output)
})

it('runs only the files it is asked for', () => {
  write('src/a.test.ts', testFile(`it('a', () => {})`))
  write('src/b.test.ts', testFile(`it('b', () => { throw new Error() })`))
  assert.equal(run(['src/a.test.ts']).last, '1 passed, 0 failed')
})

it("gives each process an empty home and none of the developer's keys", () => {
  const check = `it('env', () => {
    assert.deepEqual(readdirSync(process.env.HOME), [])
    writeFileSync(process.env.HOME + '/mine', '')
    const { HOME, TIRELESS_HOME, TIRELESS_MODEL, ...env } = process.env
    assert.ok(TIRELESS_HOME.startsWith(HOME))
    assert.match(TIRELESS_MODEL, /^offline/)
    assert.deepEqual(Object.keys(env).filter((name) => /KEY|BASE_URL|GIT|TIRELESS/.test(name)), [])
    console.log(HOME)
    writeFileSync('${root}/home', HOME)
  })`
  for (const name of ['a/a', 'b/b'])
    write(`src/${name}.test.ts`, testFile(`import { readdirSync, writeFileSync } from 'node:fs'\n${check}`))
  const { last, output } = run([], {
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: 'u',
    GIT_DIR: 'g',
    TIRELESS_HOME: 'h',
    TIRELESS_X: 'x',
  })
  assert.equal(last, '4 passed, 0 failed', output)
  assert.equal(existsSync(readFileSync(join(root, 'home'), 'utf8')), false, 'the temporary home was not removed')
})

it('leaves out the long tests unless they are named', () => {
  const long = 'test/package.test.ts'
  write(long, testFile(`it('long', () => {})`))
  write('test/short.test.ts', testFile(`it('short', () => {})`))
  run()
  assert.doesNotMatch(passed(), /package/)
  run([long])
  assert.match(passed(), /test\/package\.test\.ts 1/)
})
