/** The file API on real files: refused paths, contents, listings, errors. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeWorkspace, sha, VARIANTS } from '../../../../test/support/rooted-workspace.ts'
import { TirelessError } from '../../../domain/error.ts'
import { requireOps } from '../../../ports/env.ts'
import { systemClock } from '../../system/clock.ts'
import { hostEnvs } from './host.ts'
import { createRootedFiles, MAX_FILE_BYTES } from './rooted-files.ts'
import { splitPathBelow } from './split-path.ts'

const refusal = (what?: RegExp) => (error: unknown) =>
  error instanceof TirelessError && error.code === 'path_refused' && (what === undefined || what.test(error.message))

for (const variant of VARIANTS)
  describe(`files, ${variant.name}`, { skip: variant.skip }, () => {
    test('case 37: a path that names the outside is refused by every operation', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      const outside = [
        ...[
          '..',
          '../',
          '../ws-evil/secret',
          'a/../../ws-evil/secret',
          './../ws-evil/secret',
          'a/b/../../../ws-evil/secret',
        ],
        ...['/etc/passwd', '/', '//etc/passwd', '/../etc/passwd', w.evil, `${w.evil}/secret`, `${w.root}-evil/secret`],
        ...[
          `${w.root}/../ws-evil/secret`,
          `${w.root}/..`,
          `${w.root}/a/../../ws-evil/secret`,
          `${'../'.repeat(40)}etc/passwd`,
        ],
        ...[`file://${w.evil}/secret`, `file:${w.evil}/secret`, 'file:///etc/passwd', 'FILE:///etc/passwd', 'file:a'],
        ...['a\0b', '\0', '../ws-evil/secret\0.txt', '/etc/passwd\0', 'a\nb', 'a\r', '\x7f', '\ud800'],
        ...[
          '~',
          '~/',
          '~/.ssh/id_rsa',
          '..\\ws-evil\\secret',
          '..\\..\\etc\\passwd',
          'a\\..\\..\\b',
          '\\etc\\passwd',
          'C:\\x',
          '',
        ],
      ]
      for (const path of outside) {
        await assert.rejects(file.read(path), refusal(), `read ${JSON.stringify(path)}`)
        await assert.rejects(file.write(path, 'x', null), refusal(), `write ${JSON.stringify(path)}`)
        await assert.rejects(file.list(path, 3, 10), refusal(), `list ${JSON.stringify(path)}`)
      }
      assert.deepEqual(fs.readdirSync(w.root), [])
      assert.deepEqual(fs.readdirSync(w.evil), ['secret'])
    })

    test('case 37: a name that only looks like an escape stays inside', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      for (const path of [
        '...',
        '..a',
        'a..',
        '%2e%2e/%2e%2e/x',
        '..%2f..%2fetc',
        ' /etc/x',
        'a/../b',
        `${w.root}/c`,
        'ws-evil/secret',
        '.a/./b',
        'é中/😀',
        '-rf',
        '$(id)',
        '~a',
      ])
        await file.write(path, 'inside', null)
      assert.deepEqual(fs.readdirSync(w.base).sort(), ['ws', 'ws-evil'])
      assert.equal((await file.read('ws-evil/secret'))?.text, 'inside')
      assert.equal((await file.read(`${w.root}/./x/../c`))?.text, 'inside')
    })

    test('case 37: a symbolic link at any component is refused, and nothing behind it is touched', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      fs.mkdirSync(join(w.root, 'a/b'), { recursive: true })
      fs.writeFileSync(join(w.root, 'a/b/real'), 'real')
      fs.symlinkSync(w.evil, join(w.root, 'first'))
      fs.symlinkSync(w.evil, join(w.root, 'a/middle'))
      fs.symlinkSync(join(w.evil, 'secret'), join(w.root, 'a/b/last'))
      fs.symlinkSync('../../../ws-evil/secret', join(w.root, 'a/b/relative'))
      fs.symlinkSync(join(w.evil, 'new'), join(w.root, 'dangling'))
      fs.symlinkSync('loop', join(w.root, 'loop'))
      fs.symlinkSync('/dev/zero', join(w.root, 'zero'))
      // A link to the inside is refused too, because it may change between two steps.
      fs.symlinkSync('a', join(w.root, 'inner'))
      for (const path of [
        'first/secret',
        'a/middle/secret',
        'a/b/last',
        'a/b/relative',
        'dangling',
        'loop',
        'zero',
        'inner/b/real',
      ]) {
        await assert.rejects(file.read(path), refusal(/symbolic link/), `read ${path}`)
        await assert.rejects(file.write(path, 'x', null), refusal(/symbolic link/), `write ${path}`)
        await assert.rejects(file.write(path, 'x', sha('secret')), refusal(/symbolic link/), `overwrite ${path}`)
      }
      for (const path of ['first', 'a/middle', 'inner', 'inner/b'])
        await assert.rejects(file.list(path, 1, 10), refusal(/symbolic link/), `list ${path}`)
      await assert.rejects(file.write('first/new/deep', 'x', null), refusal(/symbolic link/))
      assert.deepEqual(fs.readdirSync(w.evil), ['secret'])
      assert.equal(fs.readFileSync(join(w.evil, 'secret'), 'utf8'), 'secret')
    })

    test('case 37: hard links, folders, FIFOs and sockets are refused and do not block', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      fs.linkSync(join(w.evil, 'secret'), join(w.root, 'hard'))
      fs.mkdirSync(join(w.root, 'folder'))
      execFileSync('mkfifo', [join(w.root, 'fifo')])
      const server = createServer().listen(join(w.root, 'socket'))
      await new Promise((resolve) => server.once('listening', resolve))
      try {
        for (const [path, what] of [
          ['hard', /hard link/],
          ['folder', /folder/],
          ['.', /folder/],
          ['fifo', /regular/],
          ['socket', /regular/],
        ] as const) {
          await assert.rejects(file.read(path), refusal(what), `read ${path}`)
          await assert.rejects(file.write(path, 'x', sha('secret')), refusal(what), `write ${path}`)
        }
        await assert.rejects(file.read('fifo/x'), refusal(/not a folder/))
        await assert.rejects(file.list('hard', 1, 1), refusal(/not a folder/))
        assert.equal(fs.readFileSync(join(w.evil, 'secret'), 'utf8'), 'secret')
      } finally {
        server.close()
      }
    })

    test('case 37: a device is refused', async (t) => {
      using w = makeWorkspace()
      try {
        execFileSync('mknod', [join(w.root, 'zero'), 'c', '1', '5'], { stdio: 'ignore' })
      } catch {
        return t.skip('only root can create a device')
      }
      await assert.rejects(variant.of(w.root).read('zero'), refusal())
    })

    test('files above the size limit can be neither read nor written; a file of exactly the limit can', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      fs.writeFileSync(join(w.root, 'huge'), '')
      fs.truncateSync(join(w.root, 'huge'), 1024 ** 4)
      await assert.rejects(file.read('huge'), refusal(/too large/))
      await assert.rejects(file.write('new', 'x'.repeat(MAX_FILE_BYTES + 1), null), refusal(/too large/))
      await file.write('fits', 'x'.repeat(MAX_FILE_BYTES), null)
      assert.equal((await file.read('fits'))?.text.length, MAX_FILE_BYTES)
      assert.equal(fs.existsSync(join(w.root, 'new')), false)
    })

    test('content that is not UTF-8 is refused as binary; text is read back byte for byte', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      for (const bytes of [Buffer.from([0xff, 0xfe, 0x41]), Buffer.from([0xc3]), Buffer.from('a\0b')]) {
        fs.writeFileSync(join(w.root, 'binary'), bytes)
        await assert.rejects(file.read('binary'), refusal(/binary/))
      }
      for (const text of ['a\0b', '\ud800']) await assert.rejects(file.write('b', text, null), refusal(/binary/))
      for (const text of ['', '\ufeffwith a mark', 'a\r\nb\r\n', '中文 😀', 'no end']) {
        fs.rmSync(join(w.root, 'text'), { force: true })
        const { sha: written } = await file.write('text', text, null)
        assert.deepEqual(await file.read('text'), { text, sha: written })
        assert.equal(written, sha(fs.readFileSync(join(w.root, 'text'))))
      }
    })

    test('a missing file or folder reads as undefined; a file used as a folder is refused', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      fs.writeFileSync(join(w.root, 'f'), 'x')
      assert.equal(await file.read('none'), undefined)
      assert.equal(await file.read('no/such/folder'), undefined)
      await assert.rejects(file.read('f/x'), refusal(/not a folder/))
      await assert.rejects(file.write('f/x', '', null), refusal(/not a folder/))
      await assert.rejects(file.write('n'.repeat(256), '', null), refusal(/too long/))
      await assert.rejects(file.write(`${'d/'.repeat(3000)}x`, '', null), refusal(/too long/))
      assert.deepEqual(fs.readdirSync(w.root), ['f'], 'no folder was created for it')
      await assert.rejects(
        file.list('none', 1, 1),
        (error) => error instanceof TirelessError && error.code === 'not_found',
      )
    })

    test('a listing is sorted by path, has a limit, and follows no link', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      for (const path of ['b', 'a/x', 'a/deep/y', 'a-b', 'a.txt']) await file.write(path, '12', null)
      for (const path of ['.git/objects', 'z/.git']) fs.mkdirSync(join(w.root, path), { recursive: true })
      for (const path of ['.git/objects/o', 'z/.git/config']) fs.writeFileSync(join(w.root, path), '12')
      fs.symlinkSync(w.evil, join(w.root, 'out'))
      const all = await file.list('.', 9, 100)
      const paths = ['.git/', 'a-b', 'a.txt', 'a/', 'a/deep/', 'a/deep/y', 'a/x', 'b', 'out', 'z/', 'z/.git/']
      assert.deepEqual(
        all.entries.map((entry) => entry.path),
        paths,
      )
      assert.deepEqual(
        all.entries.map((entry) => entry.path),
        [...paths].sort(),
      )
      assert.equal(all.more, false)
      assert.equal(all.entries[1]?.bytes, 2)
      assert.deepEqual(await file.list('.', 9, 3), { entries: all.entries.slice(0, 3), more: true })
      assert.deepEqual((await file.list('.', 9, 11)).more, false)
      assert.deepEqual(
        (await file.list('a', 1, 100)).entries.map((entry) => entry.path),
        ['a/deep/', 'a/x'],
      )
      assert.deepEqual((await file.list('.', 0, 100)).entries, [])
    })
  })

test('case 37: the text of a path is checked before anything is opened', () => {
  for (const path of ['..', '../ws-evil', '/ws-evil', '/ws-evil/x', '/ws/../x', '/', 'a/../../b', '/w', '/wsx'])
    assert.throws(() => splitPathBelow('/ws', path), refusal(/outside/), path)
  for (const [path, names] of [
    ['/ws', []],
    ['.', []],
    ['/ws/a', ['a']],
    ['a/./b//c/', ['a', 'b', 'c']],
    ['..a', ['..a']],
  ] as const)
    assert.deepEqual(splitPathBelow('/ws', path), names)
  assert.deepEqual(splitPathBelow('/', '/../etc/x'), ['etc', 'x'])
})

test('a root behind a link is opened at its real path, and a missing root is created', async () => {
  using w = makeWorkspace()
  fs.symlinkSync(w.root, join(w.base, 'alias'))
  const envs = hostEnvs({ callsDir: join(w.base, 'calls'), clock: systemClock, env: {} })
  assert.equal((await envs.open(join(w.base, 'alias'))).root, w.root)
  const env = await envs.open(join(w.root, 'made/here'))
  const file = requireOps(env, 'file')
  await file.write('f', 'x', null)
  assert.ok(fs.existsSync(join(w.root, 'made/here/f')))
  fs.renameSync(env.root, `${env.root}-moved`)
  fs.symlinkSync(w.evil, env.root)
  await assert.rejects(file.read('secret'), /cannot be opened/)
})

test('no handle is left open after successes and errors', { skip: !fs.existsSync('/proc/self/fd') }, async () => {
  using w = makeWorkspace()
  const file = createRootedFiles(w.root)
  fs.symlinkSync(w.evil, join(w.root, 'link'))
  await file.write('a/b/c', 'x', null)
  const before = fs.readdirSync('/proc/self/fd').length
  for (let n = 0; n < 20; n += 1) {
    await file.read('a/b/c')
    await file.list('.', 5, 1)
    for (const path of ['a', 'none/x', 'link/x', 'a/b/c/d', '../x']) await file.read(path).catch(() => {})
    for (const path of ['a', 'link/x', 'a/b/c']) await file.write(path, 'y', null).catch(() => {})
  }
  assert.ok(fs.readdirSync('/proc/self/fd').length <= before + 1)
})
