import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { SCHEMA_VERSION } from '../src/adapters/stores/sqlite/schema.ts'
import { createApp } from '../src/app.ts'
import { hasStrace, MAIN, NODE_FLAGS, run } from './crash/kills.ts'
import { createHome, startKernelIn, tireless, tirelessJson, waitForExit } from './support/command-line.ts'
import { freshFolder, waitUntil } from './support/open-app.ts'

interface Backup {
  readonly dir: string
  readonly files: number
  readonly skipped: readonly string[]
  readonly notes: readonly string[]
}

interface Restored {
  readonly from: string
  readonly before: string | null
}

const sha = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Every file below, by its path, with what is in it. */
const treeOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    globSync('**', { cwd: folder })
      .filter((path) => lstatSync(join(folder, path)).isFile())
      .toSorted()
      .map((path) => [path, sha(join(folder, path))]),
  )

/** What a home is about: its configuration, a secret, one finished run with what it made. */
/** As long as a token has to be. */
const tokenOf = (name: string): string => `token of ${name} `.padEnd(40, '.')

async function smallHome(t: TestContext, name: string): Promise<string> {
  const home = freshFolder(t, name)
  writeFileSync(join(home, 'tireless.yaml'), `kernel: { max_concurrent: ${name.length} } # ${name}\n`)
  writeFileSync(join(home, 'token'), tokenOf(name), { mode: 0o600 })
  const app = await createApp({ home })
  await app.run('run', { task: `Create made.md with the text "${name}".` })
  await app.close()
  return home
}

async function backedUp(t: TestContext, home: string): Promise<string> {
  const dir = join(freshFolder(t, 'backup'), 'new', 'folder')
  const { exit } = await tirelessJson<Backup>(home, 'backup', dir)
  assert.equal(exit, 0)
  return dir
}

async function promptsIn(home: string): Promise<string[]> {
  const app = await createApp({ home })
  try {
    assert.deepEqual(await app.context.store.verify(), [])
    return (await app.context.store.dispatches({ limit: 99 })).map(({ prompt }) => prompt)
  } finally {
    await app.close()
  }
}

describe('backup', () => {
  test('everything that lasts, with its digest, owner-only; not the lock, the socket, the log, nor what calls left', async (t) => {
    const home = await smallHome(t, 'small')
    const [workspace = ''] = readdirSync(join(home, 'workspaces'))
    const work = join(home, 'workspaces', workspace)
    mkdirSync(join(work, 'empty'))
    writeFileSync(join(work, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
    symlinkSync('/etc/passwd', join(work, 'link'))
    await run('mkfifo', [join(work, 'pipe')])
    mkdirSync(join(home, 'calls', 'left'))
    mkdirSync(join(home, 'before-restore-then'))
    const dir = join(freshFolder(t, 'backup'), 'today')
    const made = await tirelessJson<Backup>(home, 'backup', dir)
    assert.deepEqual([made.exit, made.dir, made.files], [0, dir, 15])
    assert.deepEqual(made.skipped, [`workspaces/${workspace}/pipe: not a file, folder or link`])
    assert.match(made.notes.join(), /secret.*only for you/)
    const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
    assert.deepEqual([manifest.version, manifest.schema], [1, SCHEMA_VERSION])
    assert.ok(manifest.created_at)
    const { 'manifest.json': _, ...files } = treeOf(dir)
    const listed = manifest.files as { path: string; sha256: string }[]
    assert.deepEqual(
      Object.fromEntries(
        listed.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map(({ path, sha256 }) => [path, sha256]),
      ),
      files,
    )
    assert.deepEqual(readdirSync(dir).toSorted(), [
      'audit.key',
      'manifest.json',
      'tireless.db',
      'tireless.yaml',
      'token',
      'traces',
      'versions',
      'workspaces',
    ])
    for (const path of [dir, ...globSync('**', { cwd: dir }).map((name) => join(dir, name))])
      if (!lstatSync(path).isSymbolicLink()) assert.equal(statSync(path).mode & 0o077, 0, path)
    assert.equal(readlinkSync(join(dir, 'workspaces', workspace, 'link')), '/etc/passwd')

    const other = join(freshFolder(t), 'other')
    assert.equal((await tirelessJson(other, 'restore', dir)).exit, 0)
    const restored = join(other, 'workspaces', workspace)
    assert.equal(statSync(join(restored, 'run.sh')).mode & 0o777, 0o755)
    assert.ok(statSync(join(restored, 'empty')).isDirectory())
    assert.equal(readlinkSync(join(restored, 'link')), '/etc/passwd')
  })

  test('only into a new or empty folder outside of the home: refused otherwise, with the remedy', async (t) => {
    const home = await smallHome(t, 'small')
    const full = freshFolder(t, 'full')
    writeFileSync(join(full, 'precious.txt'), 'mine')
    for (const dir of [full, join(home, 'backups'), join(home, 'workspaces', 'b'), join(full, 'precious.txt')]) {
      const refused = await tireless(home, 'backup', dir)
      assert.equal(refused.exit, 2, dir)
      assert.match(refused.stderr, /do this: choose a new or empty folder/)
    }
    assert.deepEqual(treeOf(full), { 'precious.txt': sha(join(full, 'precious.txt')) })
    symlinkSync(home, join(full, 'way'))
    assert.equal((await tireless(home, 'backup', join(full, 'way', 'in'))).exit, 2)
  })

  test('beside a running start: consistent while work goes on; restored elsewhere, the work goes on there', async (t) => {
    const steps = 30
    const home = await createHome(t, [
      ...Array.from({ length: steps }, (_, i) => ({
        calls: [{ tool: 'bash', args: { command: `echo line-${i} >> out.txt; sleep 0.2` } }],
      })),
      { text: 'all lines' },
    ])
    const holder = await startKernelIn(t, home)
    for (let i = 0; i < 3; i += 1) await tirelessJson(home, 'enqueue', '--prompt', `write ${i}`)
    await waitUntil(() => globSync('workspaces/*/out.txt', { cwd: home }).length === 3)
    const dir = await backedUp(t, home)
    const still = await tirelessJson<{ queue: { running: number } }>(home, 'status')
    assert.equal(still.queue.running, 3, 'nobody waited for it')
    holder.kill('SIGKILL')
    await waitForExit(holder)

    const other = freshFolder(t, 'other')
    assert.equal((await tirelessJson(other, 'restore', dir)).exit, 0)
    const was = treeOf(join(home, 'workspaces'))
    const started = await tirelessJson<{ queue: Record<string, number> }>(other, 'start', '--until-idle')
    assert.deepEqual([started.exit, started.queue.done, started.queue.failed], [0, 3, 0])
    const written = globSync('workspaces/*/out.txt', { cwd: other })
    assert.equal(written.length, 3)
    for (const file of written)
      assert.match(readFileSync(join(other, file), 'utf8'), new RegExp(`line-${steps - 1}\n$`))
    assert.deepEqual(treeOf(join(home, 'workspaces')), was, 'and not in the home that the backup is of')
  })
})

describe('restore', () => {
  test('an app that has the home open does not do it', async (t) => {
    const home = await smallHome(t, 'small')
    const app = await createApp({ home })
    t.after(() => app.close())
    await assert.rejects(app.run('restore', { dir: home }), { code: 'usage' })
  })

  test('case 129: beside a running start it is refused with 75, and nothing is touched', async (t) => {
    const home = await smallHome(t, 'small')
    const dir = await backedUp(t, home)
    const holder = await startKernelIn(t, home)
    const refused = await tireless(home, 'restore', dir)
    assert.equal(refused.exit, 75)
    assert.match(refused.stderr, new RegExp(`process ${holder.pid} \\(start\\) since`))
    assert.deepEqual(
      readdirSync(home).filter((name) => /restore/.test(name)),
      [],
    )
  })

  test('what is there is set aside as a whole, what was backed up is in its place; the log stays', async (t) => {
    const old = await smallHome(t, 'old')
    const dir = await backedUp(t, await smallHome(t, 'new'))
    const was = treeOf(old)
    const { exit, before } = await tirelessJson<Restored>(old, 'restore', dir)
    assert.equal(exit, 0)
    assert.ok(before?.startsWith(join(old, 'before-restore-')))
    const aside = treeOf(before ?? '')
    const moved = Object.entries(was).filter(([path]) => !/^(lock|logs|sandbox)/.test(path))
    for (const [path, digest] of moved) assert.equal(aside[path], digest, path)
    assert.deepEqual(await promptsIn(old), ['Create made.md with the text "new".'])
    assert.equal(readFileSync(join(old, 'token'), 'utf8'), tokenOf('new'))
    assert.ok(existsSync(join(old, 'logs', 'tireless.jsonl')))
    assert.equal((await tirelessJson(old, 'doctor')).exit, 0)
    // And back again.
    const again = await tirelessJson<Restored>(old, 'restore', await backedUp(t, old))
    assert.equal(again.exit, 0)
    assert.notEqual(again.before, before)
  })

  test('a backup that is not whole, sound and known is refused before anything is touched', async (t) => {
    const home = await smallHome(t, 'old')
    const good = await backedUp(t, await smallHome(t, 'new'))
    const was = treeOf(home)
    const manifestOf = (dir: string) => JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
    const rewrite = (
      dir: string,
      change: (manifest: { files: { path: string; sha256: string }[] } & Record<string, unknown>) => void,
    ) => {
      const manifest = manifestOf(dir)
      change(manifest)
      writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest))
    }
    const inDatabase = (dir: string, sql: string) => {
      const db = new DatabaseSync(join(dir, 'tireless.db'))
      db.exec(sql)
      db.close()
      signed(dir)
    }
    const signed = (dir: string) =>
      rewrite(dir, ({ files }) => {
        for (const file of files) file.sha256 = sha(join(dir, file.path))
      })
    const spoilt: Record<string, (dir: string) => void> = {
      'no manifest': (dir) => rmSync(join(dir, 'manifest.json')),
      'half a manifest': (dir) => writeFileSync(join(dir, 'manifest.json'), '{"version": 1'),
      'a manifest of another version': (dir) => rewrite(dir, (manifest) => Object.assign(manifest, { version: 2 })),
      'token has changed': (dir) => writeFileSync(join(dir, 'token'), 'another'),
      'tireless.yaml cannot be read': (dir) => rmSync(join(dir, 'tireless.yaml')),
      'schema 99': (dir) => inDatabase(dir, 'PRAGMA user_version = 99'),
      damaged: (dir) => {
        const file = join(dir, 'tireless.db')
        const bytes = readFileSync(file)
        bytes.fill(0xff, 8192, 12_288)
        writeFileSync(file, bytes)
        signed(dir)
      },
      'has an unknown format': (dir) =>
        rewrite(dir, ({ files }) => files.push({ ...files[0], path: '../outside', sha256: '' } as never)),
      'does not belong in a backup': (dir) =>
        rewrite(dir, ({ files }) => files.push({ ...files[0], path: 'lock' } as never)),
      'tireless.db is missing': (dir) =>
        rewrite(dir, (manifest) => Object.assign(manifest, { files: manifest.files.slice(1) })),
    }
    for (const [what, spoil] of Object.entries(spoilt)) {
      const dir = join(freshFolder(t, 'spoilt'), 'backup')
      cpSync(good, dir, { recursive: true, verbatimSymlinks: true })
      spoil(dir)
      const refused = await tireless(home, 'restore', dir)
      assert.equal(refused.exit, 1, what)
      assert.match(
        refused.stderr,
        what === 'no manifest' || what.startsWith('half')
          ? /no readable manifest\.json/
          : new RegExp(what.startsWith('a manifest') ? 'unknown format' : what),
        what,
      )
      assert.match(refused.stderr, /do this: /, what)
      assert.deepEqual(treeOf(home), was, what)
    }
  })

  test('killed before every other of its moves, it leaves the old home or one that does not open; run again, it is done', async (t) => {
    if (!hasStrace) return t.skip('strace is missing')
    const old = await smallHome(t, 'old')
    const dir = await backedUp(t, await smallHome(t, 'new'))
    const reached = { old: 0, shut: 0, done: 0 }
    for (const syscall of ['rename', 'unlink'])
      for (let point = 1; ; point += 2) {
        const home = join(freshFolder(t, 'killed'), 'home')
        cpSync(old, home, { recursive: true, verbatimSymlinks: true })
        chmodSync(home, 0o700)
        const was = treeOf(home)
        if (!(await killedAt(syscall, point, home, dir))) break
        const opened = await promptsIn(home).catch((error: Error & { code?: string }) => error)
        if (opened instanceof Error) {
          assert.match(opened.message, /restore of this home was interrupted.*do this: run the same/)
          reached.shut += 1
        } else if (opened[0]?.includes('new')) {
          reached.done += 1
          continue
        } else {
          assert.deepEqual(opened, ['Create made.md with the text "old".'], `${syscall} ${point}`)
          reached.old += 1
        }
        const { exit, before } = await tirelessJson<Restored>(home, 'restore', dir)
        assert.equal(exit, 0, `${syscall} ${point}`)
        assert.deepEqual(await promptsIn(home), ['Create made.md with the text "new".'], `${syscall} ${point}`)
        assert.equal(readFileSync(join(home, 'token'), 'utf8'), tokenOf('new'))
        const aside = treeOf(before ?? '')
        for (const path of [
          'token',
          'tireless.yaml',
          ...Object.keys(was).filter((name) => name.startsWith('workspaces')),
        ])
          assert.equal(aside[path], was[path], `${syscall} ${point}: ${path}`)
        assert.deepEqual(
          readdirSync(home).filter((name) => name.startsWith('restore.')),
          [],
        )
      }
    assert.ok(reached.old >= 1 && reached.shut >= 3, JSON.stringify(reached))
    t.diagnostic(
      `killed with the old home whole ${reached.old}, between the two ${reached.shut}, after the last move ${reached.done}`,
    )
  })

  test('after a kill, another backup may be named: the first is finished, then the other takes its place', async (t) => {
    if (!hasStrace) return t.skip('strace is missing')
    const home = await smallHome(t, 'old')
    const first = await backedUp(t, await smallHome(t, 'first'))
    const second = await backedUp(t, await smallHome(t, 'second'))
    assert.ok(await killedAt('rename', 4, home, first))
    const { exit, before } = await tirelessJson<Restored>(home, 'restore', second)
    assert.equal(exit, 0)
    assert.deepEqual(await promptsIn(home), ['Create made.md with the text "second".'])
    assert.equal(readFileSync(join(before ?? '', 'token'), 'utf8'), tokenOf('first'))
    assert.equal(readdirSync(home).filter((name) => name.startsWith('before-restore-')).length, 2)
  })
})

/** Contract: whether the kill came before the restore was over. One thread does the file work, so that its calls can be counted. */
async function killedAt(syscall: string, point: number, home: string, dir: string): Promise<boolean> {
  // Some systems have only the forms that end in `at`.
  const calls = `/^${syscall}(at2?)?$`
  const env = ['UV_THREADPOOL_SIZE=1', 'NODE_DISABLE_COMPILE_CACHE=1']
  const strace = ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:signal=KILL:when=${point}`]
  const command = [process.execPath, ...NODE_FLAGS, MAIN, 'restore', dir, '--home', home]
  return (await run('env', [...env, 'strace', ...strace, ...command])).exit !== 0
}
