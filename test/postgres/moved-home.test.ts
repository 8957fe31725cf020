/** A home whose records are in PostgreSQL is moved: its sessions, their folders and their labels follow it. */

import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { workspaceKey } from '../../src/domain/label.ts'
import { commitOne } from '../../src/ports/store.ts'
import { tirelessJson } from '../support/command-line.ts'
import { moveStore, query } from '../support/moved-homes.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { scriptedWork, WORK_YAML } from '../support/scripted-work.ts'

const put =
  (path: string, text: string) =>
  (root: string): void =>
    writeFileSync(join(root, path), text)

const UNTRUSTED = { trust: 'untrusted', private: true } as const

describe('homes on PostgreSQL that move', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  async function homeWithRun(t: TestContext) {
    const url = await server.newDatabase()
    const yaml = `${WORK_YAML}store: ${url}\n`
    const folder = freshFolder(t, 'moved')
    const home = join(folder, 'a home')
    mkdirSync(home)
    const work = scriptedWork()
    const parts = { model: work.model, tools: [work.tool] }
    const app = await openApp(t, { ...parts, home, yaml })
    await work.run(app, [put('a.txt', 'v1')])
    const last = await work.run(app, [put('a.txt', 'v2')])
    const workspace = join(home, 'workspaces/writer')
    await commitOne(app.context.store, [{ op: 'label', of: workspaceKey(workspace), label: UNTRUSTED }])
    await app.close()
    return { url, yaml, folder, home, work, parts, last, workspace }
  }

  test('E17: sessions, undo, labels and new work are in the present folder; other homes see it, too', async (t) => {
    const { yaml, folder, home, work, parts, last } = await homeWithRun(t)
    const moved = join(folder, 'moved home')
    const workspace = join(moved, 'workspaces/writer')
    const other = await openApp(t, { ...parts, home: freshFolder(t, 'other'), yaml })
    renameSync(home, moved)
    const app = await openApp(t, { ...parts, home: moved })
    const { items } = await app.run('workspace list', {})
    assert.deepEqual([items[0]?.workspace, items[0]?.last_run, items.length], [workspace, last.dispatch_id, 1])
    assert.deepEqual(await app.context.store.label(workspaceKey(workspace)), UNTRUSTED)
    const done = await app.run('undo', { target: last.dispatch_id, yes: true })
    assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'v1')
    assert.equal((await app.run('undo', { target: done.id ?? '', yes: true })).status, 'done')
    assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'v2')
    await work.run(app, [put('new.txt', 'x')])
    assert.equal(readFileSync(join(workspace, 'new.txt'), 'utf8'), 'x')
    assert.equal((await other.context.store.session(last.session_id))?.workspace, workspace)
    assert.ok(!existsSync(home))
  })

  test('E17: an undo from before the move is redone in the present folder', async (t) => {
    const { folder, home, parts, last } = await homeWithRun(t)
    const first = await openApp(t, { ...parts, home })
    const { id } = await first.run('undo', { target: last.dispatch_id, yes: true })
    await first.close()
    const moved = join(folder, 'moved')
    renameSync(home, moved)
    const app = await openApp(t, { ...parts, home: moved })
    const [undo] = await app.context.store.undos({ limit: 1 })
    assert.deepEqual(
      undo?.workspaces.map(({ workspace }) => workspace),
      [join(moved, 'workspaces/writer')],
    )
    await app.run('undo', { target: id ?? '', yes: true })
    assert.equal(readFileSync(join(moved, 'workspaces/writer/a.txt'), 'utf8'), 'v2')
    assert.ok(!existsSync(home))
  })

  test('E15: the sessions of a home stay with it while a copy of it has the same id', async (t) => {
    const { folder, home, parts, last, workspace } = await homeWithRun(t)
    const copy = join(folder, 'copy')
    cpSync(home, copy, { recursive: true })
    const app = await openApp(t, { ...parts, home: copy })
    assert.equal((await app.context.store.session(last.session_id))?.workspace, workspace)
  })

  test('E15: records that move between the stores name the folders of the home, on both', async (t) => {
    const { url, folder, home, parts, last, workspace } = await homeWithRun(t)
    assert.equal((await moveStore(home, 'sqlite')).action, 'moved')
    const moved = join(folder, 'moved')
    renameSync(home, moved)
    const app = await openApp(t, { ...parts, home: moved })
    assert.equal((await app.context.store.session(last.session_id))?.workspace, join(moved, 'workspaces/writer'))
    assert.deepEqual(await app.context.store.label(workspaceKey(join(moved, 'workspaces/writer'))), UNTRUSTED)
    await app.run('undo', { target: last.dispatch_id, yes: true })
    await app.close()
    const again = await server.newDatabase()
    assert.equal((await moveStore(moved, again)).action, 'moved')
    const [{ workspaces } = { workspaces: '' }] = await query(
      again,
      'SELECT string_agg(DISTINCT workspace, chr(10)) AS workspaces FROM sessions',
    )
    assert.equal(workspaces, join(moved, 'workspaces/writer'))
    const back = await openApp(t, { ...parts, home: moved })
    assert.deepEqual(await back.context.store.label(workspaceKey(join(moved, 'workspaces/writer'))), UNTRUSTED)
    const [undo] = await back.context.store.undos({ limit: 1 })
    assert.equal((await back.run('undo', { target: undo?.id ?? '', yes: true })).status, 'done')
    assert.equal(readFileSync(join(moved, 'workspaces/writer/a.txt'), 'utf8'), 'v2')
    assert.ok(url !== again && !existsSync(workspace))
  })

  test('E15: restoring a home whose tireless.yaml is a link leaves the linked file as it is', async (t) => {
    const { yaml, folder, home } = await homeWithRun(t)
    const dotfile = join(folder, 'dotfiles.yaml')
    writeFileSync(dotfile, `${yaml}# mcp files: ${home}/servers/mail\n`)
    rmSync(join(home, 'tireless.yaml'))
    symlinkSync(dotfile, join(home, 'tireless.yaml'))
    const backup = join(folder, 'backup')
    assert.equal((await tirelessJson(home, 'backup', backup)).exit, 0)
    const restored = join(folder, 'restored')
    const { exit, notes } = await tirelessJson<{ notes: string[] }>(restored, 'restore', backup)
    assert.equal(exit, 0)
    assert.ok(notes.some((note) => note.startsWith(`tireless.yaml names files of ${home}, from which the backup`)))
    assert.ok(readFileSync(dotfile, 'utf8').includes('store: postgres://'))
    assert.match(readFileSync(join(restored, 'tireless.yaml'), 'utf8'), /^store: sqlite$/m)
  })
})
