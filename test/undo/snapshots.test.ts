/** Undo when snapshots are not complete: folders too large, objects that are gone, times of files. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { render } from '../../src/cli/views/views.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { type ScriptedWork, scriptedWork, WORK_YAML } from '../support/scripted-work.ts'

const MORE_THAN_A_SNAPSHOT_TAKES = 5_100

interface Setup {
  readonly app: App
  readonly work: ScriptedWork
  readonly home: string
  /** A path in the workspace. */
  at(path: string): string
}

async function setUp(t: TestContext): Promise<Setup> {
  const work = scriptedWork()
  const home = freshFolder(t)
  const at = (path: string): string => join(home, 'workspaces/writer', path)
  mkdirSync(at(''), { recursive: true })
  const app = await openApp(t, { home, yaml: WORK_YAML, model: work.model, tools: [work.tool] })
  return { app, work, home, at }
}

const put =
  (path: string, text: string) =>
  (root: string): void =>
    writeFileSync(join(root, path), text)

const remove =
  (path: string) =>
  (root: string): void =>
    rmSync(join(root, path), { recursive: true })

const fill =
  (folder: string) =>
  (root: string): void => {
    mkdirSync(join(root, folder), { recursive: true })
    for (let n = 0; n < MORE_THAN_A_SNAPSHOT_TAKES; n += 1) writeFileSync(join(root, folder, String(n)), '')
  }

/** The file of the stored version of a content. */
function objectOf(home: string, content: string): string {
  const id = createHash('sha1').update(`blob ${content.length}\0${content}`).digest('hex')
  return join(home, 'versions/workspaces.git/objects', id.slice(0, 2), id.slice(2))
}

/** The file of a folder in the first snapshot of the run. */
function treeOf(home: string, run_id: string, folder: string): string {
  const repository = join(home, 'versions/workspaces.git')
  const [first = ''] = readFileSync(join(repository, 'writers', run_id), 'utf8').split('\n')
  const { tree } = JSON.parse(first) as { tree: string }
  const id = execFileSync('git', ['--git-dir', repository, 'rev-parse', `${tree}:${folder}`], {
    encoding: 'utf8',
  }).trim()
  return join(repository, 'objects', id.slice(0, 2), id.slice(2))
}

const undo = (app: App, target: string) => app.run('undo', { target, yes: true })
const checkOf = async (app: App, fix = false) =>
  (await app.run('doctor', { fix })).checks.find(({ name }) => name === 'snapshots') ?? assert.fail('no such check')

test('O7: a folder that grows too large in the middle of a run: what was covered before goes back', async (t) => {
  const { app, work, at } = await setUp(t)
  writeFileSync(at('.env'), 'KEY=precious')
  const { dispatch_id, cannot_undo } = await work.run(app, [remove('.env'), fill('build'), put('small.txt', 'x')])
  assert.deepEqual(cannot_undo, ['This run can be undone only in part; not build (too large).'])
  assert.deepEqual((await app.run('queue show', { id: dispatch_id })).cannot_undo, cannot_undo)
  const done = await undo(app, dispatch_id)
  assert.deepEqual(
    done.not_covered.map(({ path, why }) => [path, why]),
    [['build', 'too_large']],
  )
  assert.match(render('undo', done), /build: too large for snapshots: stays as it is/)
  assert.equal(readFileSync(at('.env'), 'utf8'), 'KEY=precious')
  assert.equal(existsSync(at('small.txt')), false)
  assert.equal(readdirSync(at('build')).length, MORE_THAN_A_SNAPSHOT_TAKES)
  await undo(app, done.id ?? '')
  assert.deepEqual([existsSync(at('.env')), existsSync(at('small.txt'))], [false, true])
})

test('O7: a run in a folder that is too large says so at its start; once it has shrunk, all is covered', async (t) => {
  const { app, work, at } = await setUp(t)
  fill('data')(at(''))
  writeFileSync(at('a.txt'), 'one')
  const notes: string[] = []
  await app.run('run', { task: 'look', agent: 'writer' }, (progress) => {
    if (progress.kind === 'note') notes.push(`${progress.text} ${progress.zh ?? ''}`)
  })
  assert.ok(
    notes.includes(
      'This run can be undone only in part; not data (too large). 这次任务只能撤销一部分；不含 data（过大）。',
    ),
    notes.join('\n'),
  )
  const first = await work.run(app, [put('a.txt', 'two'), put('data/0', 'changed')])
  await undo(app, first.dispatch_id)
  assert.deepEqual([readFileSync(at('a.txt'), 'utf8'), readFileSync(at('data/0'), 'utf8')], ['one', 'changed'])
  rmSync(at('data'), { recursive: true })
  writeFileSync(at('b.txt'), 'one')
  const second = await work.run(app, [put('b.txt', 'two')])
  assert.deepEqual(second.cannot_undo, [])
  const done = await undo(app, second.dispatch_id)
  assert.deepEqual([readFileSync(at('b.txt'), 'utf8'), done.not_covered], ['one', []])
})

test('O7: after old snapshots were deleted, later ones are complete: what a run destroys goes back', async (t) => {
  const { app, work, at } = await setUp(t)
  const first = await work.run(app, [put('a.txt', 'a')])
  writeFileSync(at('owner.txt'), 'v2')
  await app.run('undo', { target: first.dispatch_id, plan: true })
  await app.service('engine').snapshots.forget(['another', first.dispatch_id])
  const { dispatch_id } = await work.run(app, [put('owner.txt', 'bad')])
  await undo(app, dispatch_id)
  assert.equal(readFileSync(at('owner.txt'), 'utf8'), 'v2')
  assert.equal((await checkOf(app)).ok, true)
})

test('O7: a damaged stored version is written again while a folder still has the content', async (t) => {
  const { app, work, home, at } = await setUp(t)
  writeFileSync(at('a.txt'), 'precious')
  await work.run(app, [put('b.txt', 'b')])
  for (const length of [0, 7]) {
    truncateSync(objectOf(home, 'precious'), length)
    const { dispatch_id } = await work.run(app, [remove('a.txt')])
    await undo(app, dispatch_id)
    assert.equal(readFileSync(at('a.txt'), 'utf8'), 'precious')
  }
})

test('O7: an undo keeps and names exactly the files whose content is lost; doctor takes them out', async (t) => {
  const { app, work, home, at } = await setUp(t)
  const lost = ['damaged.txt', 'missing.txt']
  for (const name of [...lost, 'whole.txt']) writeFileSync(at(name), name)
  const broken = await work.run(app, [...lost.map(remove), put('whole.txt', 'changed')])
  const other = await work.run(app, [put('c.txt', 'c')])
  truncateSync(objectOf(home, 'damaged.txt'), 3)
  rmSync(objectOf(home, 'missing.txt'))
  const plan = await app.run('undo', { target: broken.dispatch_id, plan: true })
  assert.deepEqual(
    plan.kept.map(({ path, why }) => [path, why]),
    lost.map((path) => [path, 'content_lost']),
  )
  assert.deepEqual([plan.workspaces[0]?.changed_back, plan.workspaces[0]?.restored], [['whole.txt'], []])
  await undo(app, other.dispatch_id)
  assert.equal(existsSync(at('c.txt')), false)
  const found = await checkOf(app)
  assert.deepEqual([found.ok, found.fixable], [false, true])
  assert.match(found.found, /missing or damaged files in the snapshots of: .*\(damaged\.txt, missing\.txt\)/)
  const done = await undo(app, broken.dispatch_id)
  assert.match(render('undo', done), /damaged\.txt: .*the content of before is missing or damaged/)
  assert.deepEqual(
    [readFileSync(at('whole.txt'), 'utf8'), ...lost.map((name) => existsSync(at(name)))],
    [...['whole.txt', false, false]],
  )
  const fixed = await checkOf(app, true)
  assert.match(fixed.found, /cannot be undone any more, because the stored content was lost: .*damaged\.txt/)
  assert.equal((await checkOf(app)).ok, true)
})

test('O7: an undo whose snapshot is lost is refused, and changes nothing; after doctor --fix it goes on', async (t) => {
  const { app, work, home, at } = await setUp(t)
  mkdirSync(at('sub'))
  writeFileSync(at('sub/a.txt'), 'a')
  writeFileSync(at('b.txt'), 'kept')
  const { dispatch_id } = await work.run(app, [put('sub/a.txt', 'new'), put('b.txt', 'changed')])
  truncateSync(treeOf(home, dispatch_id, 'sub'), 3)
  const refused = /snapshots that it needs are missing or damaged, so nothing was undone; .*doctor --fix/
  await assert.rejects(undo(app, dispatch_id), refused)
  await assert.rejects(app.run('undo', { target: dispatch_id, plan: true }), refused)
  assert.equal(readFileSync(at('b.txt'), 'utf8'), 'changed')
  assert.match((await checkOf(app, true)).found, /cannot be undone any more/)
  const done = await undo(app, dispatch_id)
  assert.deepEqual(
    [readFileSync(at('b.txt'), 'utf8'), done.not_covered.map(({ path, why }) => [path, why])],
    ['kept', [['sub', 'lost']]],
  )
})

test('O7: doctor --fix stores again what a folder still has', async (t) => {
  const { app, work, home, at } = await setUp(t)
  writeFileSync(at('a.txt'), 'still here')
  const { dispatch_id } = await work.run(app, [put('b.txt', 'b')])
  rmSync(objectOf(home, 'still here'))
  assert.equal((await checkOf(app)).ok, false)
  assert.match((await checkOf(app, true)).found, /^repaired: files of \d runs/)
  assert.ok(existsSync(objectOf(home, 'still here')))
  assert.equal((await undo(app, dispatch_id)).status, 'done')
})

test('O7: a file that goes back is as old as it was; another time alone is no change', async (t) => {
  const { app, work, at } = await setUp(t)
  const then = Date.parse('2020-02-03T04:05:06Z')
  for (const name of ['changed.txt', 'removed.txt', 'touched.txt']) {
    writeFileSync(at(name), name)
    utimesSync(at(name), then / 1000, then / 1000)
  }
  linkSync(at('changed.txt'), at('linked.txt'))
  const touch = (root: string): void => utimesSync(join(root, 'touched.txt'), 1, 1)
  const { dispatch_id } = await work.run(app, [put('changed.txt', 'x'), remove('removed.txt'), touch])
  const done = await undo(app, dispatch_id)
  assert.deepEqual(done.workspaces[0]?.changed_back, ['changed.txt', 'linked.txt'])
  assert.deepEqual(done.workspaces[0]?.restored, ['removed.txt'])
  assert.equal(statSync(at('linked.txt')).nlink, 2)
  for (const name of ['changed.txt', 'linked.txt', 'removed.txt']) assert.equal(statSync(at(name)).mtimeMs, then, name)
  const touched = await work.run(app, [touch])
  assert.equal((await undo(app, touched.dispatch_id)).status, 'nothing')
})
