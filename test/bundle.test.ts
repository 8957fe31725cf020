/** The bundle of the command line, in a checkout of its own: what it keeps of the sources, and when it is used. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { machine, type } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freshFolder } from './support/open-app.ts'

const PROJECT = join(import.meta.dirname, '..')

const SOURCES = {
  'cli/cli.ts': 'export const runCli = 1\n',
  'testing/index.ts': 'export const testing = 1\n',
  'shared.ts': 'export const shared: object = {}\n',
  'index.ts': "export { shared } from './shared.ts'\n",
  'cli/main.ts': `import { extname } from 'node:path'
import { shared } from '../shared.ts'

const library = await import(import.meta.resolve(\`../index\${extname(import.meta.url)}\`))
const isShared: boolean = library.shared === shared
const [main, folder, file] = [process.argv[1], import.meta.dirname, import.meta.filename]
console.log(JSON.stringify({ main, folder, file, isShared }))
`,
}

function makeCheckout(t: TestContext): string {
  const root = join(realpathSync(freshFolder(t)), 'a checkout')
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const [file, text] of Object.entries(SOURCES)) write(`src/${file}`, text)
  write('package.json', '{"type":"module"}')
  write('package-lock.json', '{}')
  write(`node_modules/.tireless/${type()}-${machine()}`, '{}')
  for (const folder of ['bin', 'scripts', 'node_modules/.bin']) mkdirSync(join(root, folder), { recursive: true })
  for (const file of ['bin/tireless', 'scripts/bundle.mjs', 'scripts/bundle-stamp.mjs'])
    copyFileSync(join(PROJECT, file), join(root, file))
  symlinkSync(process.execPath, join(root, 'node_modules/.bin/node'))
  symlinkSync(realpathSync(join(PROJECT, 'node_modules/vite')), join(root, 'node_modules/vite'))
  return root
}

function bundleIn(root: string): void {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/bundle.mjs')], { encoding: 'utf8' })
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
}

/** Contract: what the program says about itself, and whether it was the bundle. */
function startIn(root: string) {
  const { stdout, stderr } = spawnSync(join(root, 'bin/tireless'), { encoding: 'utf8' })
  assert.equal(stderr, '')
  const { main, ...said } = JSON.parse(stdout) as { main: string; folder: string; file: string; isShared: boolean }
  return { ...said, isBundle: main.startsWith(join(root, 'node_modules/.cache/program/')) }
}

test('the bundle finds files where its sources are, and shares modules with what it loads', (t) => {
  const root = makeCheckout(t)
  const said = { folder: join(root, 'src/cli'), file: join(root, 'src/cli/main.ts'), isShared: true }
  assert.deepEqual(startIn(root), { ...said, isBundle: false })
  bundleIn(root)
  assert.deepEqual(startIn(root), { ...said, isBundle: true })
})

test('the bundle is used only for the sources that it was made of', (t) => {
  const root = makeCheckout(t)
  const extra = join(root, 'src/cli/extra.ts')
  const changes: Readonly<Record<string, () => void>> = {
    'a changed file': () => writeFileSync(join(root, 'src/shared.ts'), 'export const shared = { changed: true }\n'),
    'an added file': () => writeFileSync(extra, 'export const extra = 1\n'),
    'a file with an old time': () => cpSync(join(root, 'src/index.ts'), extra, { preserveTimestamps: true }),
    'a removed file': () => rmSync(extra),
  }
  for (const [what, change] of Object.entries(changes)) {
    bundleIn(root)
    assert.equal(startIn(root).isBundle, true, `before ${what}`)
    change()
    assert.equal(startIn(root).isBundle, false, what)
  }
  bundleIn(root)
  renameSync(root, `${root} moved`)
  assert.deepEqual(startIn(`${root} moved`).isBundle, false, 'another place')
})
