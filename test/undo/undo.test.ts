/** `undo`: files, STATE.md and facts go back; later work refuses it; an undo can be undone. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { render } from '../../src/cli/views/views.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { blockCommits } from '../support/blocking-store.ts'
import { freshFolder, openApp, readLogs } from '../support/open-app.ts'
import { type ScriptedWork, scriptedWork, WORK_YAML } from '../support/scripted-work.ts'

interface Setup {
  readonly app: App
  readonly work: ScriptedWork
  /** A path in the workspace. */
  at(path: string): string
}

async function setUp(t: TestContext): Promise<Setup> {
  const work = scriptedWork()
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: WORK_YAML, model: work.model, tools: [work.tool] })
  return { app, work, at: (path) => join(home, 'workspaces/writer', path) }
}

const put =
  (path: string, text: string) =>
  (root: string): void =>
    writeFileSync(join(root, path), text)

const remember = (key: string, text: string) => ({ tool: 'remember', args: { key, text } })
const editState = (section: string, text: string) => ({ tool: 'edit_state', args: { section, text } })

const knownFacts = async (app: App): Promise<unknown> =>
  Object.fromEntries((await app.run('memory list', {})).items.map(({ key, text }) => [key, text]))
const stateText = async (app: App): Promise<string> => (await app.run('state show', {})).text

test('the plan changes nothing; undo restores files, STATE.md and facts; its undo gives them back', async (t) => {
  const { app, work, at } = await setUp(t)
  await work.run(app, [put('kept.txt', 'morning'), remember('tea', 'green'), editState('notes', 'morning')])
  const morning = await stateText(app)
  const { dispatch_id } = await work.run(app, [
    put('kept.txt', 'evening'),
    (root) => mkdirSync(join(root, 'new/empty'), { recursive: true }),
    put('new/file.txt', 'x'),
    remember('tea', 'black'),
    remember('milk', 'oat'),
    editState('notes', 'evening'),
    { tool: 'forget', args: { key: 'nothing' } },
  ])
  const evening = await stateText(app)
  await assert.rejects(app.run('undo', { target: dispatch_id }), { code: 'confirmation_needed' })
  const plan = await app.run('undo', { target: 'last', plan: true })
  assert.deepEqual(
    { status: plan.status, id: plan.id, facts: plan.facts.map(({ key, becomes }) => [key, becomes]).toSorted() },
    {
      ...{ status: 'planned', id: null },
      facts: [
        ['milk', 'undone'],
        ['tea', 'known'],
        ['tea', 'undone'],
      ],
    },
  )
  assert.deepEqual(
    plan.workspaces.map(({ restored, removed, changed_back }) => ({ restored, removed, changed_back })),
    [{ restored: [], removed: ['new/empty/', 'new/file.txt'], changed_back: ['kept.txt'] }],
  )
  assert.deepEqual(
    plan.not_undone.map(({ kind }) => kind),
    ['forgotten'],
  )
  assert.equal(readFileSync(at('kept.txt'), 'utf8'), 'evening')
  const done = await app.run('undo', { target: dispatch_id, yes: true })
  assert.match(render('undo', done), /Undone: .*To take this back: tireless undo undo-/)
  assert.deepEqual([readFileSync(at('kept.txt'), 'utf8'), existsSync(at('new'))], ['morning', false])
  assert.deepEqual([await knownFacts(app), await stateText(app)], [{ tea: 'green' }, morning])
  const shown = [await app.run('queue show', { id: dispatch_id }), (await app.run('trace list', {})).items[0]]
  assert.deepEqual(
    shown.map((one) => one?.undone_by),
    [done.id, done.id],
  )
  assert.match(render('queue list', await app.run('queue list', {})), /done \(undone\)/)
  await app.run('undo', { target: done.id ?? '', yes: true })
  assert.equal((await app.run('queue show', { id: dispatch_id })).undone_by, null)
  assert.deepEqual(
    [readFileSync(at('kept.txt'), 'utf8'), existsSync(at('new/empty')), readFileSync(at('new/file.txt'), 'utf8')],
    ['evening', true, 'x'],
  )
  assert.deepEqual([await knownFacts(app), await stateText(app)], [{ tea: 'black', milk: 'oat' }, evening])
})

test('O7: where only things are left that cannot be undone, "nothing to undo" is not said', async (t) => {
  const { app, work } = await setUp(t)
  const { dispatch_id } = await work.run(app, [{ tool: 'forget', args: { key: 'tea' } }])
  const plan = await app.run('undo', { target: dispatch_id, plan: true })
  assert.equal(plan.status, 'nothing')
  assert.match(render('undo', plan), /^Nothing of \S+ can be undone:\n.*forgotten for good/s)
  assert.doesNotMatch(render('undo', plan), /There is nothing to undo|Cannot be undone/)
})

test('O7: a file whose content of before is no longer stored stays, and is named; the others go back', async (t) => {
  const { app, work, at } = await setUp(t)
  const { dispatch_id: first } = await work.run(app, [put('lost.txt', 'lost'), put('kept.txt', 'kept')])
  const { dispatch_id } = await work.run(app, [put('lost.txt', '2'), put('kept.txt', '2')])
  const id = createHash('sha1').update('blob 4\0lost').digest('hex')
  rmSync(at(`../../versions/workspaces.git/objects/${id.slice(0, 2)}/${id.slice(2)}`))
  const plan = await app.run('undo', { target: dispatch_id, plan: true })
  assert.deepEqual(
    plan.kept.map(({ path, why }) => [path, why]),
    [['lost.txt', 'content_lost']],
  )
  await app.run('undo', { target: dispatch_id, yes: true })
  assert.deepEqual([readFileSync(at('lost.txt'), 'utf8'), readFileSync(at('kept.txt'), 'utf8')], ['2', 'kept'])
  assert.equal((await app.run('status', {})).unfinished_undos.length, 0)
  await assert.rejects(app.run('undo', { target: first, yes: true }), /lost\.txt was changed later/)
})

test('who changed a file after an undo was undone is not said to be that undo', async (t) => {
  const { app, work, at } = await setUp(t)
  const { dispatch_id: target } = await work.run(app, [put('c.txt', '1')])
  const undone = await app.run('undo', { target, yes: true })
  await app.run('undo', { target: undone.id ?? '', yes: true })
  writeFileSync(at('c.txt'), 'by the owner')
  await assert.rejects(app.run('undo', { target, yes: true }), /c\.txt was changed later by you or another program/)
})

test('work that others built on is not undone: the refusal names them, and changes nothing', async (t) => {
  const { app, work, at } = await setUp(t)
  const first = await work.run(app, [put('a.txt', '1'), put('b.txt', '1')])
  const second = await work.run(app, [put('b.txt', '2'), put('c.txt', '2')], 'other')
  const undoFirst = (): Promise<unknown> => app.run('undo', { target: first.dispatch_id, yes: true })
  await assert.rejects(undoFirst(), (error: Error) => {
    assert.match(error.message, /b\.txt was changed later by run/)
    assert.match(error.message, /undo the later work first: tireless undo/)
    return true
  })
  assert.ok(existsSync(at('a.txt')))
  writeFileSync(at('c.txt'), 'by the owner')
  await assert.rejects(
    app.run('undo', { target: second.dispatch_id, yes: true }),
    /c\.txt was changed later by you or another program/,
  )
  writeFileSync(at('c.txt'), '2')
  writeFileSync(at('own.txt'), 'mine')
  await app.run('undo', { target: second.dispatch_id, yes: true })
  assert.deepEqual([readFileSync(at('b.txt'), 'utf8'), existsSync(at('c.txt'))], ['1', false])
  await undoFirst()
  assert.deepEqual([existsSync(at('a.txt')), existsSync(at('b.txt')), existsSync(at('own.txt'))], [false, false, true])
  const again = await app.run('undo', { target: first.dispatch_id, yes: true })
  assert.equal(again.status, 'nothing')
})

test('a fact or a line of STATE.md that was changed later is not undone', async (t) => {
  const { app, work, at } = await setUp(t)
  const first = await work.run(app, [put('a.txt', '1'), remember('tea', 'green'), editState('notes', 'one')])
  await work.run(app, [remember('tea', 'black')])
  const undoFirst = app.run('undo', { target: first.dispatch_id, yes: true })
  await assert.rejects(undoFirst, /the fact "tea" was replaced later in session/)
  const other = await work.run(app, [editState('notes', 'two')])
  await work.run(app, [editState('notes', 'three')])
  await assert.rejects(
    app.run('undo', { target: other.dispatch_id, yes: true }),
    /STATE\.md: version \d+ by writer changed the same lines/,
  )
  assert.ok(existsSync(at('a.txt')))
})

test('a day and a session can be undone; unknown targets are refused', async (t) => {
  const { app, work, at } = await setUp(t)
  const { session_id } = await work.run(app, [put('a.txt', '1')])
  await work.run(app, [put('b.txt', '2')])
  await app.run('undo', { target: session_id, yes: true })
  assert.deepEqual([existsSync(at('a.txt')), existsSync(at('b.txt'))], [false, true])
  const { runs } = await app.run('undo', { target: 'today', yes: true })
  assert.deepEqual([runs.length, existsSync(at('b.txt'))], [1, false])
  assert.equal((await app.run('undo', { target: 'yesterday', yes: true })).status, 'nothing')
  await assert.rejects(app.run('undo', { target: 'gibberish', yes: true }), /a run, a session, a day/)
})

test('a person who only looked at the repository does not stop its undo; one who committed does', async (t) => {
  const { app, work, at } = await setUp(t)
  const git = (root: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...args], { cwd: root, encoding: 'utf8' })
  await work.run(app, [
    put('a.txt', 'one'),
    (root) => git(root, 'init', '-q'),
    (root) => git(root, 'add', '-A'),
    (root) => git(root, 'commit', '-qm', 'first'),
  ])
  await work.run(app, [
    put('b.txt', 'two'),
    (root) => git(root, 'add', '-A'),
    (root) => git(root, 'commit', '-qm', 'b'),
  ])
  // Another time stamp makes git write the index again.
  utimesSync(at('a.txt'), 1, 1)
  const before = readFileSync(at('.git/index'))
  git(at(''), 'status')
  assert.notDeepEqual(readFileSync(at('.git/index')), before)
  await app.run('undo', { target: 'last', yes: true })
  assert.equal(git(at(''), 'log', '--format=%s').trim(), 'first')
  assert.equal(git(at(''), 'status', '--short'), '')
  const { dispatch_id } = await work.run(app, [put('c.txt', 'x'), (root) => git(root, 'add', '-A')])
  git(at(''), 'commit', '-qm', 'mine')
  await assert.rejects(app.run('undo', { target: dispatch_id, yes: true }), /a later change|you or another program/)
})

test('a process that joins the home while it undoes something does not finish the same undo as well', async (t) => {
  const { app: first, work, at } = await setUp(t)
  const { dispatch_id } = await work.run(first, [put('a.txt', '1')])
  await first.close()
  const blocked = blockCommits(({ op }) => op === 'undo_end')
  const releaseWhenJoined = definePlugin({
    name: 'release when joined',
    needs: ['documents'],
    setup(host) {
      const documents = host.get('documents')
      const { catchUp } = documents
      // The last thing that a process does before it looks for an interrupted undo.
      Object.assign(documents, { catchUp: () => catchUp.call(documents).finally(() => setImmediate(blocked.release)) })
    },
  })
  const plugins = [blocked.plugin, releaseWhenJoined]
  const app = await openApp(t, { home: at('../..'), model: work.model, tools: [work.tool], plugins })
  const undone = app.run('undo', { target: dispatch_id, yes: true })
  while (!blocked.isBlocked()) await new Promise((resolve) => setImmediate(resolve))
  const ran = work.run(app, [put('b.txt', '2')])
  assert.deepEqual([(await undone).status, (await ran).status], ['done', 'done'])
  assert.deepEqual([existsSync(at('a.txt')), existsSync(at('b.txt'))], [false, true])
  const told = (await readLogs(app, 50)).items.filter(({ event }) => event.startsWith('undo'))
  assert.deepEqual(told, [])
})
