/** `workspace files`, and the history of one file: through the same rooted file API as the tools. */

import assert from 'node:assert/strict'
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { render } from '../src/cli/views/views.ts'
import { openHttpApp, sendRequest } from './support/http-app.ts'
import { freshFolder, openApp } from './support/open-app.ts'
import { scriptedWork, WORK_YAML } from './support/scripted-work.ts'

test('workspace files lists folders first, part by part; links are listed, not followed', async (t) => {
  const app = await openApp(t)
  const { workspace, session_id } = await app.run('enqueue', { prompt: 'later', at: '1h' })
  mkdirSync(join(workspace, 'zeta'), { recursive: true })
  mkdirSync(join(workspace, '.hidden'))
  for (const name of ['b.txt', 'a <script>.html', '.env']) writeFileSync(join(workspace, name), 'text')
  symlinkSync('/etc', join(workspace, 'away'))
  for (let n = 0; n < 1200; n += 1) writeFileSync(join(workspace, 'zeta', `f${String(n).padStart(4, '0')}`), '')
  const list = (path: string | undefined, more = {}) => app.run('workspace files', { workspace, path, ...more })
  const top = await list(undefined)
  assert.deepEqual(
    top.items.map(({ name, kind, bytes }) => [name, kind, bytes]),
    [
      ['.hidden', 'folder', 0],
      ['zeta', 'folder', 0],
      ['.env', 'file', 4],
      ['a <script>.html', 'file', 4],
      ['away', 'link', 0],
      ['b.txt', 'file', 4],
    ],
  )
  assert.deepEqual({ total: top.total, session: top.session_id }, { total: 6, session: session_id })
  const part = await list('zeta', { offset: 1190, limit: 100 })
  assert.deepEqual([part.total, part.items.length, part.items[0]?.name], [1200, 10, 'f1190'])
  assert.match(render('workspace files', await list('zeta', { limit: 2 })), /f0000 .*\n.*\n.* 1198 more/)
  assert.match(render('workspace files', await list('.hidden')), /empty/)
  assert.deepEqual(await list('').then(({ total }) => total), 6)
})

test('workspace files shows nothing outside of the workspace, and no secrets of the home', async (t) => {
  const served = await openHttpApp(t)
  const { session_id: session, workspace } = await served.app.run('enqueue', { prompt: 'later', at: '1h' })
  const outside = freshFolder(t, 'outside')
  writeFileSync(join(outside, 'secret.txt'), 'hunter2')
  assert.equal((await served.app.run('workspace files', { workspace: session })).total, 0, 'not created yet')
  mkdirSync(workspace, { recursive: true })
  symlinkSync(outside, join(workspace, 'away'))
  linkSync(join(outside, 'secret.txt'), join(workspace, 'hard.txt'))
  symlinkSync(join(served.home, 'token'), join(workspace, 'token'))
  const paths = [
    '..',
    '../..',
    'away',
    'away/',
    '/',
    '/etc',
    served.home,
    '~',
    'a\0b',
    'file:///etc',
    '..\\..',
    '../../',
  ]
  for (const path of paths) {
    const query = new URLSearchParams({ workspace: session, path })
    const { status, text } = await sendRequest(served, `/api/v1/workspace/files?${query}`, { headers: served.bearer })
    assert.ok(status === 400 || status === 404, `${path}: ${status} ${text}`)
    assert.doesNotMatch(text, /secret\.txt|"token"/, path)
  }
  for (const path of ['token', 'hard.txt', 'away/secret.txt', '../../token', '../../secrets.json']) {
    const query = new URLSearchParams({ session, path })
    const { status, text } = await sendRequest(served, `/api/v1/files?${query}`, { headers: served.bearer })
    assert.ok(status === 400 || status === 404, `${path}: ${status}`)
    assert.ok(!text.includes(served.token) && !text.includes('hunter2'), path)
  }
  const anonymous = await sendRequest(served, `/api/v1/workspace/files?workspace=${session}`)
  assert.equal(anonymous.status, 401)
})

test('workspace log and diff show the history of one file, and all that a session changed', async (t) => {
  const work = scriptedWork()
  const app = await openApp(t, { yaml: WORK_YAML, model: work.model, tools: [work.tool] })
  const put = (path: string, text: string) => (root: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const first = await work.run(app, [put('a.md', 'one\n'), put('deep/b.md', 'b\n')])
  const second = await work.run(app, [put('a.md', 'two\n'), (root) => rmSync(join(root, 'deep/b.md'))])
  await work.run(app, [put('ab.md', 'other\n')])
  const runsOf = async (path: string, more = {}): Promise<readonly string[]> =>
    (await app.run('workspace log', { workspace: 'writer', path, ...more })).items.map(({ run_id }) => run_id)
  assert.deepEqual(await runsOf('a.md'), [second.dispatch_id, first.dispatch_id])
  assert.deepEqual(await runsOf('deep'), [second.dispatch_id, first.dispatch_id])
  assert.deepEqual(await runsOf('a.md', { offset: 1 }), [first.dispatch_id])
  assert.deepEqual(await runsOf('c.md'), [])
  const page = await app.run('workspace log', { workspace: 'writer', limit: 2 })
  assert.deepEqual([page.items.length, page.more, page.items[0]?.kind], [2, true, 'run'])

  const only = await app.run('workspace diff', { run: second.dispatch_id, path: 'deep' })
  assert.deepEqual(
    only.files.map(({ path, change }) => [path, change]),
    [['deep/b.md', 'removed']],
  )
  const { session_id: session } = await app.run('queue show', { id: second.dispatch_id })
  const whole = await app.run('workspace diff', { session })
  assert.deepEqual(
    whole.files.map(({ path }) => path),
    ['a.md', 'deep/b.md'],
  )
  const cut = await app.run('workspace diff', { session, limit: 1 })
  assert.deepEqual([cut.files.length, cut.more], [1, true])
  assert.match(render('workspace diff', cut), /more files/)
  await assert.rejects(app.run('workspace diff', { session, run: first.dispatch_id }), /both a run and a session/)

  await app.run('undo', { target: second.dispatch_id, yes: true })
  const after = await app.run('workspace log', { workspace: 'writer', path: 'a.md' })
  assert.deepEqual(
    after.items.map(({ kind, undone_by }) => [kind, undone_by !== null]),
    [
      ['undo', false],
      ['run', true],
      ['run', false],
    ],
  )
})

test('workspace list is read part by part, searched, and names folders shortly', async (t) => {
  const app = await openApp(t)
  for (let n = 0; n < 5; n += 1) await app.run('enqueue', { prompt: `task ${n}`, at: '1h' })
  const [first, second] = [freshFolder(t, 'one'), freshFolder(t, 'two')].map((folder) => join(folder, 'same'))
  for (const workspace of [first, second]) {
    mkdirSync(workspace ?? '')
    await app.run('enqueue', { prompt: 'there', at: '1h', workspace: workspace ?? '' })
  }
  const all = await app.run('workspace list', {})
  assert.equal(all.total, 7)
  const same = await app.run('workspace list', { search: 'SAME' })
  assert.deepEqual(
    same.items.map(({ name }) => name),
    [second, first],
  )
  const part = await app.run('workspace list', { offset: 2, limit: 2 })
  assert.deepEqual([part.total, part.items.length], [7, 2])
  for (const { name, workspace } of all.items)
    assert.equal((await app.run('workspace show', { workspace: name })).workspace, workspace)
})
