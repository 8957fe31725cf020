/** The set-up script builds the page: tried in a separate checkout with its packages in place and a fake bundler. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, it } from 'node:test'

const project = join(import.meta.dirname, '..')
let root: string

const FAKE_VITE = `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  write('node_modules/vite/vite.js', FAKE_VITE)
  write('web/index.html', 'first')
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function runSetup(): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/setup.mjs')], { encoding: 'utf8' })
  return { status, stderr }
}

const builtPage = (): string => readFileSync(join(root, 'web/dist/index.html'), 'utf8')
const buildCount = (): number => (existsSync(join(root, 'built')) ? readFileSync(join(root, 'built')).length : 0)

it('builds the page once, again after a source change, and leaves no other files', () => {
  const first = runSetup()
  assert.deepEqual(
    { status: first.status, builtPage: builtPage(), buildCount: buildCount() },
    { status: 0, builtPage: 'first', buildCount: 1 },
    first.stderr,
  )
  assert.match(first.stderr, /building the page/)
  assert.deepEqual(runSetup(), { status: 0, stderr: '' })
  assert.equal(buildCount(), 1)
  write('web/index.html', 'second')
  assert.equal(runSetup().status, 0)
  assert.deepEqual({ builtPage: builtPage(), buildCount: buildCount() }, { builtPage: 'second', buildCount: 2 })
  write('web/src/new.ts', '')
  runSetup()
  assert.equal(buildCount(), 3, 'a new file is a change')
  assert.deepEqual(readdirSync(join(root, 'web')).toSorted(), ['dist', 'index.html', 'src'])
})

it('if the build fails, keeps the old page, says how to try again, and exits with 0', () => {
  runSetup()
  write('web/index.html', 'broken')
  const failed = runSetup()
  assert.deepEqual({ status: failed.status, builtPage: builtPage() }, { status: 0, builtPage: 'first' })
  assert.match(
    failed.stderr,
    /the page could not be built: line 7 is wrong\nThe page in the browser is not available\. To try again: npm run/,
  )
  assert.deepEqual(readdirSync(join(root, 'web')).toSorted(), ['dist', 'index.html'])
})

it('needs no bundler in a checkout without a page', () => {
  rmSync(join(root, 'web'), { recursive: true })
  assert.deepEqual(runSetup(), { status: 0, stderr: '' })
  assert.equal(buildCount(), 0)
})
