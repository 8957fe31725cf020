/** The command restore, also killed while it moves files: `npm run crash` at every move, each test run at some. */

import assert from 'node:assert/strict'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createApp } from '../src/app.ts'
import { hasStrace, MAIN, NODE_FLAGS, run } from './crash/kills.ts'
import { digestsOf, homeWithOneRun, makeBackup, sha256Of, tokenOf } from './support/backups.ts'
import { startKernelIn, tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'

const IS_FULL = process.env.CRASH_SWEEP === 'full'

interface Restored {
  readonly from: string
  readonly before: string | null
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

interface Manifest extends Record<string, unknown> {
  readonly files: { path: string; sha256: string }[]
}

function rewriteManifest(dir: string, change: (manifest: Manifest) => void): void {
  const file = join(dir, 'manifest.json')
  const manifest: Manifest = JSON.parse(readFileSync(file, 'utf8'))
  change(manifest)
  writeFileSync(file, JSON.stringify(manifest))
}

/** Makes the manifest agree with the files, so that a change in them is found by its own check only. */
const refreshDigests = (dir: string): void =>
  rewriteManifest(dir, ({ files }) => {
    for (const file of files) file.sha256 = sha256Of(join(dir, file.path))
  })

function setSchema(dir: string, schema: number): void {
  const db = new DatabaseSync(join(dir, 'tireless.db'))
  db.exec(`PRAGMA user_version = ${schema}`)
  db.close()
  refreshDigests(dir)
}

function damageDatabase(dir: string): void {
  const file = join(dir, 'tireless.db')
  const bytes = readFileSync(file)
  bytes.fill(0xff, 8192, 12_288)
  writeFileSync(file, bytes)
  refreshDigests(dir)
}

/** Adds a second entry of the first file, under another path. */
const listAgain = (dir: string, change: { path: string; sha256?: string }): void =>
  rewriteManifest(dir, ({ files }) => files.push(...files.slice(0, 1).map((first) => ({ ...first, ...change }))))

const CORRUPTIONS: readonly { what: string; corrupt: (dir: string) => void; message: RegExp }[] = [
  {
    what: 'no manifest',
    corrupt: (dir) => rmSync(join(dir, 'manifest.json')),
    message: /no readable manifest\.json/,
  },
  {
    what: 'half a manifest',
    corrupt: (dir) => writeFileSync(join(dir, 'manifest.json'), '{"version": 1'),
    message: /no readable manifest\.json/,
  },
  {
    what: 'a manifest of another version',
    corrupt: (dir) => rewriteManifest(dir, (manifest) => Object.assign(manifest, { version: 2 })),
    message: /unknown format/,
  },
  {
    what: 'a changed file',
    corrupt: (dir) => writeFileSync(join(dir, 'token'), 'another'),
    message: /token has changed/,
  },
  {
    what: 'a missing file',
    corrupt: (dir) => rmSync(join(dir, 'tireless.yaml')),
    message: /tireless\.yaml cannot be read/,
  },
  { what: 'an unknown schema', corrupt: (dir) => setSchema(dir, 99), message: /schema 99/ },
  { what: 'a damaged database', corrupt: damageDatabase, message: /damaged/ },
  {
    what: 'a path outside the backup',
    corrupt: (dir) => listAgain(dir, { path: '../outside', sha256: '' }),
    message: /has an unknown format/,
  },
  {
    what: 'a file that is no part of backups',
    corrupt: (dir) => listAgain(dir, { path: 'lock' }),
    message: /does not belong in a backup/,
  },
  {
    what: 'no database',
    corrupt: (dir) => rewriteManifest(dir, (manifest) => Object.assign(manifest, { files: manifest.files.slice(1) })),
    message: /tireless\.db is missing/,
  },
]

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
    for (const { what, corrupt, message } of CORRUPTIONS) {
      const dir = join(freshFolder(t, 'spoilt'), 'backup')
      cpSync(good, dir, { recursive: true, verbatimSymlinks: true })
      corrupt(dir)
      const refused = await tireless(home, 'restore', dir)
      assert.equal(refused.exit, 1, what)
      assert.match(refused.stderr, message, what)
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
      for (let point = 1; ; point += IS_FULL ? 1 : 4) {
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
