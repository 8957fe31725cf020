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

const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** The digest of every file below a folder, by path. */
const digestsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    globSync('**', { cwd: folder })
      .filter((path) => lstatSync(join(folder, path)).isFile())
      .toSorted()
      .map((path) => [path, sha256Of(join(folder, path))]),
  )

/** Padded to the minimum length of a token. */
const tokenOf = (name: string): string => `token of ${name} `.padEnd(40, '.')

/** A home with a configuration, a token and one finished run that wrote a file. */

async function homeWithOneRun(t: TestContext, name: string): Promise<string> {
  const home = freshFolder(t, name)
  writeFileSync(join(home, 'tireless.yaml'), `kernel: { max_concurrent: ${name.length} } # ${name}\n`)
  writeFileSync(join(home, 'token'), tokenOf(name), { mode: 0o600 })
  const app = await createApp({ home })
  await app.run('run', { task: `Create made.md with the text "${name}".` })
  await app.close()
  return home
}

async function makeBackup(t: TestContext, home: string): Promise<string> {
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
  test('copies every lasting file with its digest, owner-only; not lock, socket, log or call leftovers', async (t) => {
    const home = await homeWithOneRun(t, 'small')
    const [workspace = ''] = readdirSync(join(home, 'workspaces'))
    const work = join(home, 'workspaces', workspace)
    mkdirSync(join(work, 'empty'))
    writeFileSync(join(work, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
    symlinkSync('/etc/passwd', join(work, 'link'))
    await run('mkfifo', [join(work, 'pipe')])
    mkdirSync(join(home, 'calls', 'left'))
    mkdirSync(join(home, 'before-restore-then'))
    const dir = join(freshFolder(t, 'backup'), 'today')
    const backup = await tirelessJson<Backup>(home, 'backup', dir)
    assert.deepEqual([backup.exit, backup.dir, backup.files], [0, dir, 15])
    assert.deepEqual(backup.skipped, [`workspaces/${workspace}/pipe: not a file, folder or link`])
    assert.match(backup.notes.join(), /secret.*only for you/)
    const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
    assert.deepEqual([manifest.version, manifest.schema], [1, SCHEMA_VERSION])
    assert.ok(manifest.created_at)
    const { 'manifest.json': _, ...files } = digestsOf(dir)
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

  test('refuses a folder that is not empty or is inside the home, and says what to do', async (t) => {
    const home = await homeWithOneRun(t, 'small')
    const full = freshFolder(t, 'full')
    writeFileSync(join(full, 'precious.txt'), 'mine')
    for (const dir of [full, join(home, 'backups'), join(home, 'workspaces', 'b'), join(full, 'precious.txt')]) {
      const refused = await tireless(home, 'backup', dir)
      assert.equal(refused.exit, 2, dir)
      assert.match(refused.stderr, /do this: choose a new or empty folder/)
    }
    assert.deepEqual(digestsOf(full), { 'precious.txt': sha256Of(join(full, 'precious.txt')) })
    symlinkSync(home, join(full, 'way'))
    assert.equal((await tireless(home, 'backup', join(full, 'way', 'in'))).exit, 2)
  })

  test('runs beside a working kernel; restored in another home, the work continues there', async (t) => {
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
    const dir = await makeBackup(t, home)
    const status = await tirelessJson<{ queue: { running: number } }>(home, 'status')
    assert.equal(status.queue.running, 3, 'the backup did not wait for running work')
    holder.kill('SIGKILL')
    await waitForExit(holder)

    const other = freshFolder(t, 'other')
    assert.equal((await tirelessJson(other, 'restore', dir)).exit, 0)
    const before = digestsOf(join(home, 'workspaces'))
    const started = await tirelessJson<{ queue: Record<string, number> }>(other, 'start', '--until-idle')
    assert.deepEqual([started.exit, started.queue.done, started.queue.failed], [0, 3, 0])
    const written = globSync('workspaces/*/out.txt', { cwd: other })
    assert.equal(written.length, 3)
    for (const file of written)
      assert.match(readFileSync(join(other, file), 'utf8'), new RegExp(`line-${steps - 1}\n$`))
    assert.deepEqual(digestsOf(join(home, 'workspaces')), before, 'the restored kernel wrote only to its own home')
  })
})

describe('restore', () => {
  test('is refused by an app that has the home open', async (t) => {
    const home = await homeWithOneRun(t, 'small')
    const app = await createApp({ home })
    t.after(() => app.close())
    await assert.rejects(app.run('restore', { dir: home }), { code: 'usage' })
  })

  test('case 129: while start runs, restore exits with 75 and changes nothing', async (t) => {
    const home = await homeWithOneRun(t, 'small')
    const dir = await makeBackup(t, home)
    const holder = await startKernelIn(t, home)
    const refused = await tireless(home, 'restore', dir)
    assert.equal(refused.exit, 75)
    assert.match(refused.stderr, new RegExp(`process ${holder.pid} \\(start\\) since`))
    assert.deepEqual(
      readdirSync(home).filter((name) => /restore/.test(name)),
      [],
    )
  })

  test('sets the old home aside completely and puts the backup in its place; the log stays', async (t) => {
    const old = await homeWithOneRun(t, 'old')
    const dir = await makeBackup(t, await homeWithOneRun(t, 'new'))
    const digests = digestsOf(old)
    const { exit, before } = await tirelessJson<Restored>(old, 'restore', dir)
    assert.equal(exit, 0)
    assert.ok(before?.startsWith(join(old, 'before-restore-')))
    const setAside = digestsOf(before ?? '')
    const moved = Object.entries(digests).filter(([path]) => !/^(lock|logs|sandbox)/.test(path))
    for (const [path, digest] of moved) assert.equal(setAside[path], digest, path)
    assert.deepEqual(await promptsIn(old), ['Create made.md with the text "new".'])
    assert.equal(readFileSync(join(old, 'token'), 'utf8'), tokenOf('new'))
    assert.ok(existsSync(join(old, 'logs', 'tireless.jsonl')))
    assert.equal((await tirelessJson(old, 'doctor')).exit, 0)
    // Restore a second time, from a backup of the restored home.
    const again = await tirelessJson<Restored>(old, 'restore', await makeBackup(t, old))
    assert.equal(again.exit, 0)
    assert.notEqual(again.before, before)
  })

  test('refuses an incomplete, damaged or unknown backup before it changes anything', async (t) => {
    const home = await homeWithOneRun(t, 'old')
    const good = await makeBackup(t, await homeWithOneRun(t, 'new'))
    const digests = digestsOf(home)
    const manifestOf = (dir: string) => JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
    const rewrite = (
      dir: string,
      change: (manifest: { files: { path: string; sha256: string }[] } & Record<string, unknown>) => void,
    ) => {
      const manifest = manifestOf(dir)
      change(manifest)
      writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest))
    }
    const execInDatabase = (dir: string, sql: string) => {
      const db = new DatabaseSync(join(dir, 'tireless.db'))
      db.exec(sql)
      db.close()
      refreshDigests(dir)
    }
    const refreshDigests = (dir: string) =>
      rewrite(dir, ({ files }) => {
        for (const file of files) file.sha256 = sha256Of(join(dir, file.path))
      })
    const corruptions: Record<string, (dir: string) => void> = {
      'no manifest': (dir) => rmSync(join(dir, 'manifest.json')),
      'half a manifest': (dir) => writeFileSync(join(dir, 'manifest.json'), '{"version": 1'),
      'a manifest of another version': (dir) => rewrite(dir, (manifest) => Object.assign(manifest, { version: 2 })),
      'token has changed': (dir) => writeFileSync(join(dir, 'token'), 'another'),
      'tireless.yaml cannot be read': (dir) => rmSync(join(dir, 'tireless.yaml')),
      'schema 99': (dir) => execInDatabase(dir, 'PRAGMA user_version = 99'),
      damaged: (dir) => {
        const file = join(dir, 'tireless.db')
        const bytes = readFileSync(file)
        bytes.fill(0xff, 8192, 12_288)
        writeFileSync(file, bytes)
        refreshDigests(dir)
      },
      'has an unknown format': (dir) =>
        rewrite(dir, ({ files }) => files.push({ ...files[0], path: '../outside', sha256: '' } as never)),
      'does not belong in a backup': (dir) =>
        rewrite(dir, ({ files }) => files.push({ ...files[0], path: 'lock' } as never)),
      'tireless.db is missing': (dir) =>
        rewrite(dir, (manifest) => Object.assign(manifest, { files: manifest.files.slice(1) })),
    }
    for (const [what, corrupt] of Object.entries(corruptions)) {
      const dir = join(freshFolder(t, 'spoilt'), 'backup')
      cpSync(good, dir, { recursive: true, verbatimSymlinks: true })
      corrupt(dir)
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
      assert.deepEqual(digestsOf(home), digests, what)
    }
  })

  test('killed at any move, restore leaves the old home or one that refuses to open; rerun, it finishes', async (t) => {
    if (!hasStrace) return t.skip('strace is missing')
    const old = await homeWithOneRun(t, 'old')
    const dir = await makeBackup(t, await homeWithOneRun(t, 'new'))
    const counts = { old: 0, shut: 0, done: 0 }
    for (const syscall of ['rename', 'unlink'])
      for (let point = 1; ; point += 2) {
        const home = join(freshFolder(t, 'killed'), 'home')
        cpSync(old, home, { recursive: true, verbatimSymlinks: true })
        chmodSync(home, 0o700)
        const digests = digestsOf(home)
        if (!(await restoreKilledAt(syscall, point, home, dir))) break
        const opened = await promptsIn(home).catch((error: Error & { code?: string }) => error)
        if (opened instanceof Error) {
          assert.match(opened.message, /restore of this home was interrupted.*do this: run the same/)
          counts.shut += 1
        } else if (opened[0]?.includes('new')) {
          counts.done += 1
          continue
        } else {
          assert.deepEqual(opened, ['Create made.md with the text "old".'], `${syscall} ${point}`)
          counts.old += 1
        }
        const { exit, before } = await tirelessJson<Restored>(home, 'restore', dir)
        assert.equal(exit, 0, `${syscall} ${point}`)
        assert.deepEqual(await promptsIn(home), ['Create made.md with the text "new".'], `${syscall} ${point}`)
        assert.equal(readFileSync(join(home, 'token'), 'utf8'), tokenOf('new'))
        const setAside = digestsOf(before ?? '')
        for (const path of [
          'token',
          'tireless.yaml',
          ...Object.keys(digests).filter((name) => name.startsWith('workspaces')),
        ])
          assert.equal(setAside[path], digests[path], `${syscall} ${point}: ${path}`)
        assert.deepEqual(
          readdirSync(home).filter((name) => name.startsWith('restore.')),
          [],
        )
      }
    assert.ok(counts.old >= 1 && counts.shut >= 3, JSON.stringify(counts))
    const { old: untouched, shut: between, done } = counts
    t.diagnostic(`killed: old home untouched ${untouched}, between the two ${between}, after the last move ${done}`)
  })

  test('after a kill, another backup may be restored: the first restore is finished before it', async (t) => {
    if (!hasStrace) return t.skip('strace is missing')
    const home = await homeWithOneRun(t, 'old')
    const first = await makeBackup(t, await homeWithOneRun(t, 'first'))
    const second = await makeBackup(t, await homeWithOneRun(t, 'second'))
    assert.ok(await restoreKilledAt('rename', 4, home, first))
    const { exit, before } = await tirelessJson<Restored>(home, 'restore', second)
    assert.equal(exit, 0)
    assert.deepEqual(await promptsIn(home), ['Create made.md with the text "second".'])
    assert.equal(readFileSync(join(before ?? '', 'token'), 'utf8'), tokenOf('first'))
    assert.equal(readdirSync(home).filter((name) => name.startsWith('before-restore-')).length, 2)
  })
})

/**
 * Resolves to whether the kill came before the restore ended. One thread does the file work, so that its system calls
 * can be counted.
 */
async function restoreKilledAt(syscall: string, point: number, home: string, dir: string): Promise<boolean> {
  // Some systems have only the forms that end in `at`.
  const calls = `/^${syscall}(at2?)?$`
  const env = ['UV_THREADPOOL_SIZE=1', 'NODE_DISABLE_COMPILE_CACHE=1']
  const strace = ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:signal=KILL:when=${point}`]
  const command = [process.execPath, ...NODE_FLAGS, MAIN, 'restore', dir, '--home', home]
  return (await run('env', [...env, 'strace', ...strace, ...command])).exit !== 0
}
