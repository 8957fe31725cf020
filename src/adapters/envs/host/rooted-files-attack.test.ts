/** Attacks on the file API: many spellings of outside paths, unusual strings, and files swapped during a read. */

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { OUTSIDE_PATHS, UNUSUAL_NAMES } from '../../../../test/support/path-spellings.ts'
import { TirelessError } from '../../../domain/error.ts'
import type { FileOps } from '../../../ports/env.ts'
import { createRootedFiles, MAX_FILE_BYTES } from './rooted-files.ts'
import { createRootedFolders, type OpenFolder, type RootedFolders } from './rooted-folders.ts'

const SECRET = 'SECRET-4711'

/** A workspace deep in a tree, with a secret at every level that a path could climb to. */
function makeWorkspace(t: TestContext) {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-attack-')))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  const root = join(base, 'home', 'workspaces', 'ws')
  fs.mkdirSync(root, { recursive: true })
  const planted = [
    'secret',
    'home/secret',
    'home/token',
    'home/workspaces/secret',
    'home/workspaces/ws-evil/secret',
    'home/workspaces/WS/secret',
    'etc/passwd',
  ]
  for (const path of planted) {
    fs.mkdirSync(join(base, path, '..'), { recursive: true })
    fs.writeFileSync(join(base, path), SECRET)
    fs.writeFileSync(join(base, path, '..', 'only-outside'), '')
  }
  /** Names and content of everything outside the workspace. Links are not followed. */
  const below = (folder: string): readonly string[] =>
    fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      if (path === root) return []
      return entry.isDirectory()
        ? [path, ...below(path)]
        : [`${path}: ${entry.isFile() && fs.readFileSync(path, 'utf8')}`]
    })
  const outside = (): string => below(base).toSorted().join('\n')
  return { base, root, outside }
}

const VARIANTS = [
  { name: 'anchored', of: (root: string) => createRootedFiles(root), skip: !fs.existsSync('/proc/self/fd') },
  { name: 'by path', of: (root: string) => createRootedFiles(root, createRootedFolders(root, false)), skip: false },
]

/** Asserts that every operation throws a TirelessError or returns something from inside the workspace. */
async function assertNoEscape(file: FileOps, path: string): Promise<void> {
  const operations: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['read', () => file.read(path)],
    ['write', () => file.write(path, 'pwned', null)],
    ['write bytes', () => file.write(path, Buffer.from([0, 1]), null)],
    ['writable', () => file.writable(path)],
    ['list', () => file.list(path, 3, 1000)],
  ]
  for (const [name, operation] of operations) {
    const result = await operation().catch((thrown: unknown) => {
      assert.ok(thrown instanceof TirelessError, `${name} ${JSON.stringify(path)}: ${String(thrown)}`)
      assert.ok(['path_refused', 'conflict', 'not_found', 'tool_failed'].includes(thrown.code), thrown.code)
      return undefined
    })
    assert.doesNotMatch(
      JSON.stringify(result ?? ''),
      new RegExp(`${SECRET}|root:x|only-outside`),
      `${name} ${JSON.stringify(path)}`,
    )
  }
}

for (const variant of VARIANTS)
  describe(`the file API under attack, ${variant.name}`, { skip: variant.skip }, () => {
    test('case 37: no spelling of a path reads, writes, lists or checks anything outside', async (t) => {
      const { root, base, outside } = makeWorkspace(t)
      const file = variant.of(root)
      await file.write('a/b/inside', 'inside', null)
      const before = outside()
      const own = [
        root,
        base,
        `${root}-evil`,
        `${root}/../secret`,
        `${root}/..`,
        root.toUpperCase(),
        `${base}/home/workspaces/WS/secret`,
        `${root}/../WS/secret`,
      ]
      const forms = [...OUTSIDE_PATHS, ...own.flatMap((path) => [path, `${path}/`, `/${path}`, `.${path}`])]
      assert.ok(forms.length > 250)
      for (const path of forms) await assertNoEscape(file, path)
      assert.equal(outside(), before)
    })

    test('unusual strings are either valid names, read back as written, or refused', async (t) => {
      const { root, outside } = makeWorkspace(t)
      const file = variant.of(root)
      const before = outside()
      for (const path of UNUSUAL_NAMES) {
        const written = await file.write(path, path, null).catch((thrown: unknown) => {
          assert.ok(
            thrown instanceof TirelessError && thrown.code === 'path_refused',
            `${JSON.stringify(path)}: ${String(thrown)}`,
          )
        })
        if (written) assert.equal((await file.read(path))?.text, path)
      }
      assert.equal(outside(), before)
    })

    test('links and special files of every kind are refused by every operation', async (t) => {
      const { root, base, outside } = makeWorkspace(t)
      const file = variant.of(root)
      fs.symlinkSync(join(base, 'secret'), join(root, 'soft'))
      fs.symlinkSync('../../../secret', join(root, 'relative'))
      fs.symlinkSync(base, join(root, 'folder'))
      fs.symlinkSync('/proc/self/root', join(root, 'rootfs'))
      fs.symlinkSync('loop', join(root, 'loop'))
      fs.linkSync(join(base, 'secret'), join(root, 'hard'))
      fs.mkdirSync(join(root, 'deep'))
      fs.symlinkSync('../../../..', join(root, 'deep', 'up'))
      execFileSync('mkfifo', [join(root, 'fifo')])
      const before = outside()
      const paths = [
        'soft',
        'relative',
        'folder/secret',
        'folder',
        'folder/home/token',
        `rootfs${base}/secret`,
        'loop',
        'hard',
        'fifo',
        'deep/up/secret',
        'deep/up',
        'soft/..',
        'folder/../folder/secret',
      ]
      for (const path of paths) {
        await assertNoEscape(file, path)
        await assert.rejects(
          async () => (await file.write(path, 'x', createHash('sha256').update(SECRET).digest('hex'))) && path,
          TirelessError,
          path,
        )
      }
      assert.equal(outside(), before)
      assert.deepEqual(
        await file.read('soft/../nothing'),
        undefined,
        '`..` is resolved as text before anything is opened',
      )
    })

    test('a bare repository cannot be written either', async (t) => {
      const { root } = makeWorkspace(t)
      const file = variant.of(root)
      for (const folder of ['objects', 'refs', 'hooks'])
        fs.mkdirSync(join(root, 'store.git', folder), { recursive: true })
      fs.writeFileSync(join(root, 'store.git/HEAD'), 'ref: refs/heads/main\n')
      for (const path of ['store.git/config', 'store.git/hooks/post-receive', 'store.git/a/b'])
        await assert.rejects(file.write(path, 'x', null), { code: 'path_refused' })
      assert.deepEqual(fs.readdirSync(join(root, 'store.git')).sort(), ['HEAD', 'hooks', 'objects', 'refs'])
    })

    test('.git can be read, but not written in any spelling', async (t) => {
      const { root } = makeWorkspace(t)
      const file = variant.of(root)
      fs.mkdirSync(join(root, '.git', 'hooks'), { recursive: true })
      fs.writeFileSync(join(root, '.git', 'HEAD'), 'ref')
      const names = [
        '.git',
        '.GIT',
        '.Git',
        '.git.',
        '.git ',
        'git~1',
        'GIT~1',
        '.g\u200cit',
        '.git::$INDEX_ALLOCATION',
        '.git\u200b',
      ]
      for (const name of names)
        for (const path of [`${name}/hooks/pre-commit`, `${name}/config`, name, `sub/${name}/config`, `${name}/x`])
          await assert.rejects(file.write(path, 'x', null), { code: 'path_refused' }, path)
      assert.deepEqual(fs.readdirSync(join(root, '.git')).sort(), ['HEAD', 'hooks'])
      assert.equal(fs.existsSync(join(root, 'sub')), false)
      assert.equal((await file.read('.git/HEAD'))?.text, 'ref')
      for (const path of ['.gitignore', '.gitattributes', '.github/x', 'a.git/x', 'git/x', 'x.git'])
        await file.write(path, 'x', null)
    })

    test('a file above the size limit is not read, and one cannot be written', async (t) => {
      const { root } = makeWorkspace(t)
      const file = variant.of(root)
      fs.writeFileSync(join(root, 'sparse'), '')
      fs.truncateSync(join(root, 'sparse'), 2 ** 40)
      await assert.rejects(file.read('sparse'), { code: 'path_refused', message: /too large/ })
      await assert.rejects(file.write('big', Buffer.alloc(MAX_FILE_BYTES + 1), null), { code: 'path_refused' })
      assert.equal(fs.existsSync(join(root, 'big')), false)
    })
  })

test('case 37: a hard link that is unlinked while it is open is not read, though its link count is 1', async (t) => {
  const { root, base } = makeWorkspace(t)
  const folders = createRootedFolders(root)
  let swapped = 0
  /** Like `folders`, but unlinks the file as soon as it is open. */
  const attacked: RootedFolders = {
    ...folders,
    async open(names, create) {
      const folder = await folders.open(names, create)
      if (!folder) return undefined
      const confirm: OpenFolder['assertInside'] = async (opened) => {
        await folder.assertInside(opened)
        if (!opened || !fs.existsSync(join(root, 'file'))) return
        swapped += 1
        fs.unlinkSync(join(root, 'file'))
      }
      return { ...folder, assertInside: confirm, [Symbol.asyncDispose]: () => folder.handle.close() }
    },
  }
  fs.linkSync(join(base, 'secret'), join(root, 'file'))
  assert.equal(await createRootedFiles(root, attacked).read('file'), undefined)
  assert.equal(swapped, 1)
})

/** A process that keeps swapping a file for a link, a hard link, a FIFO and a regular file. */
const SWAPPER = `
  const fs = require('node:fs'), { execFileSync } = require('node:child_process')
  const [file, secret] = process.argv.slice(1)
  const tried = (work) => { try { work() } catch {} }
  const fifo = file + '.fifo'
  tried(() => execFileSync('mkfifo', [fifo]))
  process.stdin.on('data', () => {}).on('end', () => process.exit())
  process.stdout.write('ready')
  const swap = () => {
    for (let n = 0; n < 50; n += 1)
      for (const put of [
        () => fs.symlinkSync(secret, file),
        () => fs.linkSync(secret, file),
        () => fs.linkSync(fifo, file),
        () => fs.writeFileSync(file, 'inside'),
      ]) {
        tried(() => fs.unlinkSync(file))
        tried(put)
      }
    setTimeout(swap, 1)
  }
  swap()
`

test('case 37: reading a file that is swapped for a link, a hard link or a FIFO leaks nothing and never blocks', {
  skip: !fs.existsSync('/proc/self/fd') && 'needs /proc',
}, async (t) => {
  const { root, base, outside } = makeWorkspace(t)
  const before = outside()
  const file = createRootedFiles(root)
  const swapper = spawn(process.execPath, ['-e', SWAPPER, join(root, 'file'), join(base, 'secret')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const gone = new Promise((resolve) => swapper.once('exit', resolve))
  const outcomes = { inside: 0, refused: 0, none: 0 }
  try {
    await new Promise((resolve) => swapper.stdout.once('data', resolve))
    for (let n = 0; n < 20_000 && (outcomes.inside < 25 || outcomes.refused < 200); n += 1) {
      const found = await file.read('file').catch(() => 'refused' as const)
      if (found === 'refused') outcomes.refused += 1
      else if (found === undefined) outcomes.none += 1
      else {
        assert.notEqual(found.text, SECRET)
        outcomes.inside += 1
      }
      await file.write('file', 'ours', createHash('sha256').update('inside').digest('hex')).catch(() => {})
    }
  } finally {
    swapper.kill('SIGKILL')
    await gone
  }
  assert.ok(outcomes.inside >= 25 && outcomes.refused >= 200, `no real race happened: ${JSON.stringify(outcomes)}`)
  assert.equal(outside(), before)
})
