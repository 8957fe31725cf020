/** A home that is moved, copied or restored at another path works there, and touches nothing where it was. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App, AppOptions } from '../src/app.ts'
import { workspaceKey } from '../src/domain/label.ts'
import { commitOne } from '../src/ports/store.ts'
import { rowsIn, withDatabase } from './homes/damage-rows.ts'
import { copyKeptHome } from './homes/kept-homes.ts'
import { digestsOf } from './support/backups.ts'
import { createHome, startKernelIn, tirelessJson, waitForExit } from './support/command-line.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'
import { WITHOUT_SANDBOX } from './support/sandbox-available.ts'
import { type ScriptedWork, scriptedWork, WORK_YAML } from './support/scripted-work.ts'

const put =
  (path: string, text: string) =>
  (root: string): void =>
    writeFileSync(join(root, path), text)

const inWriter = (home: string, name: string): string => join(home, 'workspaces/writer', name)

interface UsedHome {
  readonly folder: string
  readonly home: string
  readonly work: ScriptedWork
  readonly parts: Pick<AppOptions, 'model' | 'tools'>
  /** The last run of an agent with a folder of its own. */
  readonly last: { readonly dispatch_id: string; readonly session_id: string }
  /** A run in a folder that was made for it. */
  readonly own: { readonly dispatch_id: string; readonly session_id: string }
}

/** A message is answered by writing a file; any other task without a script is answered at once. */
const answer = (text: string) =>
  text.includes('write again.txt') && !text.includes('created again.txt')
    ? { calls: [{ tool: 'create_file', args: { path: 'again.txt', content: 'again' } }] }
    : { text: 'done' }

/** The name of the home is not plain: spaces, and letters of several bytes. */
async function useHome(t: TestContext, name = 'a home ü 家'): Promise<UsedHome> {
  const folder = freshFolder(t, 'moved')
  const home = join(folder, name)
  mkdirSync(home)
  const work = scriptedWork(answer)
  const parts = { model: work.model, tools: [work.tool] }
  const app = await openApp(t, { ...parts, home, yaml: WORK_YAML })
  await work.run(app, [put('a.txt', 'v1')])
  const last = await work.run(app, [put('a.txt', 'v2'), put('new.txt', 'made')])
  const own = await app.run('run', { task: 'Say hello.' })
  await commitOne(app.context.store, [
    { op: 'label', of: workspaceKey(join(home, 'workspaces/writer')), label: { trust: 'untrusted', private: true } },
  ])
  writeFileSync(inWriter(home, 'AGENTS.md'), '# Be brief')
  await app.run('skills approve', { name: 'AGENTS.md', workspace: join(home, 'workspaces/writer'), yes: true })
  await app.close()
  return { folder, home, work, parts, last, own }
}

/** Contract: the work of before is listed, undone and redone in this home; sessions, forks and labels go on there. */
async function checkWorks(app: App, home: string, { last, own }: UsedHome): Promise<void> {
  const listed = await app.run('workspace list', {})
  assert.ok(listed.items.every(({ workspace }) => workspace.startsWith(`${home}/workspaces/`)))
  const writer = listed.items.find(({ name }) => name === 'writer')
  assert.deepEqual([writer?.files, writer?.last_run, writer?.sessions.length], [3, last.dispatch_id, 2])
  assert.equal((await app.run('workspace log', {})).items[0]?.workspace, join(home, 'workspaces/writer'))
  const label = await app.context.store.label(workspaceKey(join(home, 'workspaces/writer')))
  assert.deepEqual(label, { trust: 'untrusted', private: true })
  const skill = (await app.run('skills list', {})).items.find(({ workspace }) => workspace !== null)
  assert.deepEqual([skill?.workspace, skill?.status], [join(home, 'workspaces/writer'), 'approved'])

  const done = await app.run('undo', { target: last.dispatch_id, yes: true })
  assert.deepEqual(
    [done.status, done.workspaces.map(({ workspace }) => workspace)],
    ['done', [join(home, 'workspaces/writer')]],
  )
  assert.equal(readFileSync(inWriter(home, 'a.txt'), 'utf8'), 'v1')
  assert.ok(!existsSync(inWriter(home, 'new.txt')))
  assert.equal((await app.run('undo', { target: done.id ?? '', yes: true })).status, 'done')
  assert.equal(readFileSync(inWriter(home, 'a.txt'), 'utf8'), 'v2')

  await app.run('send', { session: own.session_id, text: 'write again.txt' })
  await app.run('start', { until_idle: true })
  assert.equal(readFileSync(join(home, 'workspaces', own.session_id, 'again.txt'), 'utf8'), 'again')
  const forked = await app.run('replay', { run: last.dispatch_id, from: 1 })
  assert.ok('workspace' in forked && forked.workspace.startsWith(`${home}/workspaces/`))
  const replayed = await app.run('replay', { run: last.dispatch_id })
  assert.ok('identical' in replayed && replayed.identical)
  const traced = await app.run('trace show', { run: last.dispatch_id })
  assert.equal(traced.manifest.run_id, last.dispatch_id)
}

test('E17: a home that was moved works in its new place, and never creates its old one again', async (t) => {
  const used = await useHome(t)
  const moved = join(used.folder, 'moved home')
  renameSync(used.home, moved)
  const app = await openApp(t, { ...used.parts, home: moved })
  await checkWorks(app, moved, used)
  await used.work.run(app, [put('later.txt', 'x')])
  assert.equal(readFileSync(inWriter(moved, 'later.txt'), 'utf8'), 'x')
  assert.ok(!existsSync(used.home))
})

test('O7: a home restored beside the old one, whose path begins like it, changes only its own files', async (t) => {
  const used = await useHome(t)
  const [backup, restored] = [join(used.folder, 'backup'), `${used.home}2`]
  assert.equal((await tirelessJson(used.home, 'backup', backup)).exit, 0)
  const before = digestsOf(used.home)
  assert.equal((await tirelessJson(restored, 'restore', backup)).exit, 0)
  const app = await openApp(t, { ...used.parts, home: restored })
  await checkWorks(app, restored, used)
  await app.close()
  assert.deepEqual(digestsOf(used.home), before)
})

test('O7: a copy of a home changes only its own files, and the old home goes on with its own', async (t) => {
  const used = await useHome(t)
  const copy = join(used.folder, 'copy')
  cpSync(used.home, copy, { recursive: true, verbatimSymlinks: true })
  const before = digestsOf(used.home)
  const app = await openApp(t, { ...used.parts, home: copy })
  await checkWorks(app, copy, used)
  await app.close()
  assert.deepEqual(digestsOf(used.home), before)
  await checkWorks(await openApp(t, { ...used.parts, home: used.home }), used.home, used)
})

test('E17: a home that is reached through a link, by whatever path, is one home', async (t) => {
  const used = await useHome(t, 'home')
  const link = join(used.folder, 'link')
  symlinkSync(used.folder, link)
  const app = await openApp(t, { ...used.parts, home: `${link}/home/` })
  await checkWorks(app, used.home, used)
  await used.work.run(app, [put('later.txt', 'x')])
  await app.close()
  // The link leads elsewhere, and so the home is elsewhere, too.
  const elsewhere = join(used.folder, 'elsewhere')
  mkdirSync(elsewhere)
  renameSync(used.home, join(elsewhere, 'home'))
  rmSync(link)
  symlinkSync(elsewhere, link)
  const moved = await openApp(t, { ...used.parts, home: join(link, 'home') })
  const [last] = (await moved.run('workspace log', {})).items
  assert.equal(last?.workspace, join(elsewhere, 'home/workspaces/writer'))
  assert.equal((await moved.run('undo', { target: last?.run_id ?? '', yes: true })).status, 'done')
  assert.ok(!existsSync(inWriter(join(elsewhere, 'home'), 'later.txt')))
})

/** Contract: the lines of snapshots are as versions before wrote them. */
function writeEarlierLines(home: string): void {
  const folder = join(home, 'versions/workspaces.git/writers')
  for (const name of readdirSync(folder)) {
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')
    const earlier = lines.map((line) => {
      const { in: workspace, ...rest } = JSON.parse(line)
      return `${JSON.stringify({ ...rest, workspace: join(home, workspace) })}\n`
    })
    writeFileSync(join(folder, name), earlier.join(''))
  }
}

test('E17: a home of a version before, which stored absolute paths, is known in a new place as well', async (t) => {
  const folder = freshFolder(t, 'earlier')
  const [home, moved] = [join(folder, 'home'), join(folder, 'moved')]
  mkdirSync(home)
  copyKeptHome(10, home)
  const inbox = `${home}/inbox`
  withDatabase(join(home, 'tireless.db'), (db) => {
    db.prepare("INSERT INTO labels VALUES (?, 'trusted', 1), (?, 'untrusted', 0)").run(
      ...[workspaceKey(inbox), workspaceKey(`${home}/workspaces/../inbox`)],
    )
  })
  renameSync(home, moved)
  const app = await openApp(t, { home: moved })
  const { items } = await app.run('workspace list', {})
  assert.ok(items.length >= 2)
  const label = await app.context.store.label(workspaceKey(join(moved, 'inbox')))
  assert.deepEqual(label, { trust: 'untrusted', private: true }, 'the lowest of both spellings')
  for (const { workspace } of items) assert.ok(workspace.startsWith(`${moved}/workspaces/`), workspace)
  assert.deepEqual(JSON.parse(readFileSync(join(moved, 'home-roots.json'), 'utf8')), { roots: [home, moved] })
  await app.close()
  const used = await useHome(t)
  writeEarlierLines(used.home)
  const then = join(used.folder, 'then')
  renameSync(used.home, then)
  await checkWorks(await openApp(t, { ...used.parts, home: then }), then, used)
  assert.ok(!existsSync(used.home))
})

test('E17: no record names the path of the home: sessions, labels, undos, messages, snapshots', async (t) => {
  const used = await useHome(t)
  const app = await openApp(t, { ...used.parts, home: used.home })
  await app.run('undo', { target: used.last.dispatch_id, yes: true })
  const file = join(used.home, 'workspaces/writer/a.txt')
  await commitOne(app.context.store, [
    {
      ...{ op: 'post', due: 0, now: 0 },
      message: {
        ...{ id: 'm', channel: 'none', chat_id: null, kind: 'reply', text: 'see' },
        files: [{ name: 'a.txt', path: file, root: join(used.home, 'workspaces/writer') }],
      },
    },
  ] as never)
  const [message] = await app.context.store.outbox({ limit: 1 })
  assert.equal(message?.files?.[0]?.path, file)
  await app.close()
  const rows = rowsIn(join(used.home, 'tireless.db'))
  for (const table of ['sessions', 'labels', 'undos', 'outbox', 'todos', 'approvals', 'dispatches', 'settings']) {
    const found = [...(rows.get(table)?.values() ?? [])].filter((row) => row.includes(used.home))
    assert.deepEqual(found, [], table)
  }
  for (const path of globSync('versions/workspaces.git/writers/*', { cwd: used.home }))
    assert.ok(!readFileSync(join(used.home, path), 'utf8').includes(used.folder), path)
})

test('E17: an agent whose folder is named by the former path of the home works in the home', async (t) => {
  const used = await useHome(t)
  const yaml = WORK_YAML.replaceAll('workspace: workspaces/writer', `workspace: "${used.home}/workspaces/writer"`)
  const moved = join(used.folder, 'moved')
  renameSync(used.home, moved)
  const app = await openApp(t, { ...used.parts, home: moved, yaml })
  await used.work.run(app, [put('later.txt', 'x')])
  assert.equal(readFileSync(inWriter(moved, 'later.txt'), 'utf8'), 'x')
  assert.ok(!existsSync(used.home))
})

test('O7: work in a folder outside of the home is undone once, also by two homes that know of it', async (t) => {
  const used = await useHome(t)
  const outside = join(used.folder, 'outside')
  const app = await openApp(t, { ...used.parts, home: used.home })
  mkdirSync(outside)
  const outsideWork = (workspace: string) => app.run('run', { task: 'please write again.txt', workspace })
  const { dispatch_id, workspace } = await outsideWork(outside)
  assert.equal(workspace, outside)
  await app.close()
  const copy = join(used.folder, 'copy')
  cpSync(used.home, copy, { recursive: true, verbatimSymlinks: true })
  const other = await openApp(t, { ...used.parts, home: copy })
  assert.equal((await other.run('undo', { target: dispatch_id, yes: true })).status, 'done')
  assert.ok(!existsSync(join(outside, 'again.txt')))
  writeFileSync(join(outside, 'again.txt'), 'by the owner')
  const first = await openApp(t, { ...used.parts, home: used.home })
  await assert.rejects(first.run('undo', { target: dispatch_id, yes: true }), { code: 'conflict' })
  assert.equal(readFileSync(join(outside, 'again.txt'), 'utf8'), 'by the owner')
})

test('E17: what an agent keeps in its ~ follows the home', { skip: WITHOUT_SANDBOX }, async (t) => {
  const used = await useHome(t)
  const say = (command: string) => [{ tool: 'bash', args: { command } }]
  const first = await openApp(t, { ...used.parts, home: used.home })
  await used.work.run(first, say('echo kept > ~/kept.txt'))
  await first.close()
  const homes = join(used.home, 'sandbox/homes')
  const named = readdirSync(homes).find((name) => existsSync(join(homes, name, 'kept.txt'))) ?? ''
  // A version before named it by the absolute path of the workspace.
  const earlier = createHash('sha256').update(join(used.home, 'workspaces/writer')).digest('hex').slice(0, 32)
  renameSync(join(homes, named), join(homes, earlier))
  const moved = join(used.folder, 'moved')
  renameSync(used.home, moved)
  const app = await openApp(t, { ...used.parts, home: moved })
  await used.work.run(app, say('cp ~/kept.txt here.txt'))
  assert.equal(readFileSync(inWriter(moved, 'here.txt'), 'utf8'), 'kept\n')
  await app.close()
  const again = join(used.folder, 'again')
  renameSync(moved, again)
  await used.work.run(await openApp(t, { ...used.parts, home: again }), say('cp ~/kept.txt there.txt'))
  assert.equal(readFileSync(inWriter(again, 'there.txt'), 'utf8'), 'kept\n')
})

test('E6: a run that was killed in a command goes on in the new place of its home', async (t) => {
  const hook = 'r/.git/hooks/pre-commit'
  const command = `git init -q r; mkdir -p r/.git/hooks; echo echo > ${hook}; echo begun > begun.txt; sleep 30`
  const home = await createHome(t, [
    { calls: [{ tool: 'bash', args: { command } }] },
    { calls: [{ tool: 'create_file', args: { path: 'after.txt', content: 'after' } }] },
    { text: 'done' },
  ])
  const folder = freshFolder(t, 'moved')
  const yaml = join(home, 'tireless.yaml')
  if (WITHOUT_SANDBOX === false) writeFileSync(yaml, readFileSync(yaml, 'utf8').replace('sandbox: off', ''))
  const kernel = await startKernelIn(t, home)
  const { session_id, dispatch_id } = await tirelessJson<Record<string, unknown>>(home, 'enqueue', '--prompt', 'work')
  await waitUntil(() => globSync('workspaces/*/begun.txt', { cwd: home }).length === 1)
  kernel.kill('SIGKILL')
  await waitForExit(kernel)
  const moved = join(folder, 'home')
  cpSync(home, moved, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/\/(socket|sandbox\/dev)$/.test(path),
  })
  const before = digestsOf(join(home, 'workspaces'))
  const ended = await tirelessJson<{ queue: Record<string, number> }>(moved, 'start', '--until-idle')
  assert.deepEqual([ended.exit, ended.queue.done], [0, 1])
  // What git would obey is taken out of the workspace after a crash, if commands run in a sandbox.
  assert.ok(existsSync(join(home, 'workspaces', String(session_id), hook)))
  if (WITHOUT_SANDBOX === false) assert.ok(!existsSync(join(moved, 'workspaces', String(session_id), hook)))
  assert.equal(readFileSync(join(moved, 'workspaces', String(session_id), 'after.txt'), 'utf8'), 'after')
  assert.deepEqual(digestsOf(join(home, 'workspaces')), before)
  // What appeared between the kill and the start is not certainly the run's, so it is asked for.
  const undone = await tirelessJson(moved, 'undo', String(dispatch_id), '--uncertain', '--yes')
  assert.equal(undone.exit, 0, JSON.stringify(undone))
  assert.deepEqual(digestsOf(join(home, 'workspaces')), before)
  assert.deepEqual(digestsOf(join(moved, 'workspaces')), {})
})
