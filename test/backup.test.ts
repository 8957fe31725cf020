import assert from 'node:assert/strict'
import {
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SCHEMA_VERSION } from '../src/adapters/stores/sqlite/schema.ts'
import { run } from './crash/kills.ts'
import { type Backup, digestsOf, homeWithOneRun, makeBackup, sha256Of } from './support/backups.ts'
import { createHome, startKernelIn, tireless, tirelessJson, waitForExit } from './support/command-line.ts'
import { freshFolder, waitUntil } from './support/open-app.ts'

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
    assert.deepEqual({ exit: backup.exit, dir: backup.dir, files: backup.files }, { exit: 0, dir, files: 18 })
    assert.deepEqual(
      backup.skipped.map((line) => line.replace(/, [\d.]+ \w+$/, '')),
      [
        'logs: the log, which belongs to this machine',
        `workspaces/${workspace}/link: a link to /etc/passwd; only the link is copied, its content with --follow-links`,
        `workspaces/${workspace}/pipe: not a file, folder or link`,
      ],
    )
    assert.match(backup.notes.join(), /secret.*only for you/)
    const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
    assert.deepEqual({ version: manifest.version, schema: manifest.schema }, { version: 1, schema: SCHEMA_VERSION })
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
      'home-roots.json',
      'manifest.json',
      'sandbox',
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
    assert.deepEqual(
      { exit: started.exit, done: started.queue.done, failed: started.queue.failed },
      { exit: 0, done: 3, failed: 0 },
    )
    const written = globSync('workspaces/*/out.txt', { cwd: other })
    assert.equal(written.length, 3)
    for (const file of written)
      assert.match(readFileSync(join(other, file), 'utf8'), new RegExp(`line-${steps - 1}\n$`))
    assert.deepEqual(digestsOf(join(home, 'workspaces')), before, 'the restored kernel wrote only to its own home')
  })
})
