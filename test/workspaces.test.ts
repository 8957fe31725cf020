/** `workspace list|show|log|diff`: the folders of agents and what runs changed in them. */

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App } from '../src/app.ts'
import { render } from '../src/cli/views/views.ts'
import { openApp } from './support/open-app.ts'
import { type ScriptedWork, scriptedWork, WORK_YAML } from './support/scripted-work.ts'

async function setUp(t: TestContext): Promise<{ app: App; work: ScriptedWork }> {
  const work = scriptedWork()
  return { work, app: await openApp(t, { yaml: WORK_YAML, model: work.model, tools: [work.tool] }) }
}

const put =
  (path: string, text: string) =>
  (root: string): void =>
    writeFileSync(join(root, path), text)

test('O7: workspace list, show and log name the runs that wrote, with the paths', async (t) => {
  const { app, work } = await setUp(t)
  const first = await work.run(app, [
    put('a.txt', 'one\n'),
    (root) => mkdirSync(join(root, 'empty')),
    put('b.bin', '\0\0'),
  ])
  const second = await work.run(app, [put('a.txt', 'two\n'), (root) => rmSync(join(root, 'b.bin'))], 'other')
  await work.run(app, [])
  const { items } = await app.run('workspace list', {})
  const [listed] = items
  assert.deepEqual(
    { agents: listed?.agents.toSorted(), sessions: listed?.sessions.length, last: listed?.last_run },
    { agents: ['other', 'writer'], sessions: 3, last: second.dispatch_id },
  )
  assert.deepEqual(
    { files: listed?.files, bytes: listed?.bytes, used: listed?.in_use_by },
    { files: 1, bytes: 4, used: null },
  )
  const log = await app.run('workspace log', {})
  assert.deepEqual(
    log.items.map(({ run_id, added, changed, removed }) => ({ run_id, added, changed, removed })),
    [
      { run_id: second.dispatch_id, added: [], changed: ['a.txt'], removed: ['b.bin'] },
      { run_id: first.dispatch_id, added: ['a.txt', 'b.bin', 'empty/'], changed: [], removed: [] },
    ],
  )
  const shown = await app.run('workspace show', { workspace: 'writer' })
  assert.deepEqual({ paths: shown.paths, runs: shown.runs }, { paths: [{ path: 'a.txt', bytes: 4 }], runs: log.items })
  assert.match(render('workspace show', shown), /a\.txt {2}4[\s\S]*~ a\.txt\n {4}- b\.bin/)
  assert.match(render('workspace list', { items, removed: [] }), /folder .*agents .*sessions/)
  await assert.rejects(app.run('workspace show', { workspace: 'nowhere' }), /no such workspace/)
})

test('workspace diff shows a run, or the files between two runs: text as lines, other files as sizes', async (t) => {
  const { app, work } = await setUp(t)
  const none = await app.run('workspace diff', {})
  assert.deepEqual(none, { workspace: null, from: null, to: null, files: [], more: false })
  assert.equal(render('workspace diff', none), 'No run has written files yet.\n')
  const first = await work.run(app, [put('a.txt', 'one\ntwo\n'), put('b.bin', '\0')])
  const second = await work.run(app, [
    put('a.txt', 'one\n2\n'),
    put('b.bin', '\0\0\0'),
    put('c.txt', 'new\n'),
    (root) => chmodSync(join(root, 'c.txt'), 0o755),
  ])
  const third = await work.run(app, [(root) => chmodSync(join(root, 'a.txt'), 0o600)])
  const diff = await app.run('workspace diff', { run: second.dispatch_id })
  assert.deepEqual(
    diff.files.map(({ path, change, bytes_before, bytes_after }) => [path, change, bytes_before, bytes_after]),
    [
      ['a.txt', 'changed', 8, 6],
      ['b.bin', 'changed', 1, 3],
      ['c.txt', 'added', null, 4],
    ],
  )
  assert.match(diff.files[0]?.diff ?? '', /^--- a\.txt\n\+\+\+ a\.txt\n@@.*@@\n one\n-two\n\+2\n$/)
  assert.match(render('workspace diff', diff), /b\.bin: no text: 1 → 3 bytes\n--- \/dev\/null\n\+\+\+ c\.txt/)
  const both = await app.run('workspace diff', { run: first.dispatch_id, to: third.dispatch_id })
  assert.deepEqual(
    both.files.map(({ path }) => path),
    ['a.txt', 'b.bin', 'c.txt'],
  )
  const last = await app.run('workspace diff', {})
  assert.match(last.files[0]?.diff ?? '', /a\.txt \(mode 644\)\n\+\+\+ a\.txt \(mode 600\)/)
})
