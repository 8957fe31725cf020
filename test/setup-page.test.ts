/** How the set-up script builds the page: in a checkout of its own whose packages are there, with a bundler that only pretends. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, it } from 'node:test'

const project = join(import.meta.dirname, '..')
let root: string

const VITE = `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
export async function build({ configFile, build: { outDir } }) {
  const web = join(configFile, '..')
  appendFileSync(join(web, '../built'), 'x')
  const source = readFileSync(join(web, 'index.html'), 'utf8')
  if (source.includes('broken')) throw new Error('line 7 is wrong')
  mkdirSync(outDir, { recursive: true })
  writeFileSync(join(outDir, 'index.html'), source)
}`

beforeEach(() => {
  root = mkdtempSync(join(os.tmpdir(), 'tireless-setup-page-'))
  mkdirSync(join(root, 'scripts'))
  for (const name of ['setup', 'web', 'web-stamp'])
    cpSync(join(project, `scripts/${name}.mjs`), join(root, `scripts/${name}.mjs`))
  write('package-lock.json', '{}')
  write(`node_modules/.tireless/${os.type()}-${os.machine()}`, '{}')
  write('node_modules/vite/package.json', '{"name":"vite","type":"module","exports":"./vite.js"}')
  write('node_modules/vite/vite.js', VITE)
  write('web/index.html', 'first')
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function setUp(): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/setup.mjs')], { encoding: 'utf8' })
  return { status, stderr }
}

const page = (): string => readFileSync(join(root, 'web/dist/index.html'), 'utf8')
const builds = (): number => (existsSync(join(root, 'built')) ? readFileSync(join(root, 'built')).length : 0)

it('builds it once, again when a source has changed, and leaves nothing else behind', () => {
  const first = setUp()
  assert.deepEqual([first.status, page(), builds()], [0, 'first', 1], first.stderr)
  assert.match(first.stderr, /building the page/)
  assert.deepEqual(setUp(), { status: 0, stderr: '' })
  assert.equal(builds(), 1)
  write('web/index.html', 'second')
  assert.equal(setUp().status, 0)
  assert.deepEqual([page(), builds()], ['second', 2])
  write('web/src/new.ts', '')
  setUp()
  assert.equal(builds(), 3, 'a new file is a change')
  assert.deepEqual(readdirSync(join(root, 'web')).toSorted(), ['dist', 'index.html', 'src'])
})

it('keeps the old one where it cannot be built, says what is off and how to try again, and goes on', () => {
  setUp()
  write('web/index.html', 'broken')
  const failed = setUp()
  assert.deepEqual([failed.status, page()], [0, 'first'])
  assert.match(
    failed.stderr,
    /the page could not be built: line 7 is wrong\nThe page in the browser is not available\. To try again: npm run/,
  )
  assert.deepEqual(readdirSync(join(root, 'web')).toSorted(), ['dist', 'index.html'])
})

it('a checkout without a page needs no bundler', () => {
  rmSync(join(root, 'web'), { recursive: true })
  assert.deepEqual(setUp(), { status: 0, stderr: '' })
  assert.equal(builds(), 0)
})
