/** kill -9 in the middle of an undo, at each of its changes: the next start finishes it, or it has changed nothing. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { type ScriptedWork, scriptedWork, WORK_YAML } from '../support/scripted-work.ts'
import { listing } from '../undo/listing.ts'

const FULL = process.env.CRASH_SWEEP === 'full'
const MAIN = join(import.meta.dirname, 'undo-main.ts')

const edit = (text: string) => ({ tool: 'edit_state', args: { section: 'notes', text } })
const remember = (text: string) => ({ tool: 'remember', args: { key: 'tea', text } })

async function workADay(app: App, work: ScriptedWork): Promise<string> {
  const before = (root: string): void => {
    mkdirSync(join(root, 'gone/inner'), { recursive: true })
    for (const name of ['gone/a', 'changed', 'odd']) writeFileSync(join(root, name), name)
    chmodSync(join(root, 'odd'), 0o600)
  }
  await work.run(app, [before, edit('morning'), remember('green')])
  const after = (root: string): void => {
    rmSync(join(root, 'gone'), { recursive: true })
    writeFileSync(join(root, 'gone'), 'a file now')
    writeFileSync(join(root, 'changed'), 'evening')
    chmodSync(join(root, 'odd'), 0o755)
    mkdirSync(join(root, 'new/deep'), { recursive: true })
    symlinkSync('/nowhere', join(root, 'new/link'))
  }
  return (await work.run(app, [after, edit('evening'), remember('black')])).dispatch_id
}

async function takeStock(app: App, home: string): Promise<unknown> {
  const { items } = await app.run('memory list', {})
  const facts = items.map(({ key, text }) => [key, text])
  return { files: listing(join(home, 'workspaces/writer')), facts, state: (await app.run('state show', {})).text }
}

const undoIn = (home: string, target: string, at: number) =>
  spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, home, target, String(at)], {
    encoding: 'utf8',
  })

async function withApp<T>(t: TestContext, home: string, use: (app: App, work: ScriptedWork) => Promise<T>): Promise<T> {
  const work = scriptedWork()
  const app = await openApp(t, { home, yaml: WORK_YAML, model: work.model, tools: [work.tool] })
  try {
    return await use(app, work)
  } finally {
    await app.close()
  }
}

test('an undo that is killed at any of its changes is finished at the next start', async (t) => {
  const home = freshFolder(t)
  const [run, evening] = await withApp(t, home, async (app, work) => {
    const id = await workADay(app, work)
    return [id, await takeStock(app, home)] as const
  })
  const first = undoIn(home, run, 0)
  assert.equal(first.status, 0, first.stderr)
  const changes = Number(first.stdout)
  const morning = await withApp(t, home, (app) => takeStock(app, home))
  assert.notDeepEqual(morning, evening)
  let isUndone = true
  let target = await withApp(t, home, async (app) => lastUndo(app))
  for (let at = 1; at <= changes; at += FULL ? 1 : Math.ceil(changes / 4)) {
    const { signal, stderr } = undoIn(home, target, at)
    assert.ok(signal === 'SIGKILL' || signal === null, stderr)
    await withApp(t, home, async (app) => {
      const before = await lastUndo(app)
      await app.run('start', { until_idle: true })
      const isDone = (await lastUndo(app)) !== target
      assert.equal(await lastUndo(app), before, 'an undo that began is not begun again')
      if (isDone) isUndone = !isUndone
      assert.deepEqual(await takeStock(app, home), isUndone ? morning : evening, `killed at ${at} of ${changes}`)
      target = await lastUndo(app)
    })
  }
})

test('O7: a killed undo is not finished over what its owner wrote since; a command does the rest', async (t) => {
  const home = freshFolder(t)
  const folder = join(home, 'workspaces/writer')
  const run = await withApp(t, home, workADay)
  const changes = Number(undoIn(home, run, 0).stdout)
  const undone = await withApp(t, home, lastUndo)
  assert.equal(undoIn(home, undone, Math.floor(changes / 2)).signal, 'SIGKILL')
  writeFileSync(join(folder, 'changed'), 'by the owner')
  const before = listing(folder)
  const id = await withApp(t, home, async (app) => {
    await app.run('start', { until_idle: true })
    assert.deepEqual(listing(folder), before)
    const [open] = (await app.run('status', {})).unfinished_undos
    assert.match(open?.why ?? '', /files were changed since a crash; not changed back: changed \(changed since\)/)
    return open?.id ?? ''
  })
  await withApp(t, home, async (app) => {
    const done = await app.run('undo', { target: id, yes: true })
    assert.deepEqual(
      done.kept.map(({ path }) => path),
      ['changed'],
    )
    const { files, state } = (await takeStock(app, home)) as { files: Record<string, string>; state: string }
    assert.deepEqual(Object.keys(files), ['changed', 'gone', 'new', 'new/deep', 'new/link', 'odd'])
    assert.match(state, /evening/)
    assert.deepEqual((await app.run('status', {})).unfinished_undos, [])
  })
  assert.equal(readFileSync(join(folder, 'changed'), 'utf8'), 'by the owner')
})

async function lastUndo(app: App): Promise<string> {
  const [last] = await app.service('store').undos({ limit: 1 })
  return last?.id ?? ''
}
