/** kill -9 in a step that writes: what its owner writes before the restart is not undone as work of the run. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { render } from '../../src/cli/views/views.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { WORK_YAML } from '../support/scripted-work.ts'
import { interruptedWork } from './interrupted-work.ts'

const MAIN = join(import.meta.dirname, 'interrupted-work-main.ts')

interface Resumed {
  readonly app: App
  readonly run: string
  read(name: string): string | null
}

/** The owner writes while nothing runs; then the run goes on to its end. */
async function resumeAfterOwner(t: TestContext, owner: (folder: string) => void): Promise<Resumed> {
  const home = freshFolder(t)
  const folder = join(home, 'workspaces/writer')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(home, 'tireless.yaml'), WORK_YAML)
  for (const name of ['removed.txt', 'owned.txt']) writeFileSync(join(folder, name), 'before')
  const died = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, home], { encoding: 'utf8' })
  assert.equal(died.signal, 'SIGKILL', died.stderr)
  owner(folder)
  const app = await openApp(t, { home, ...interruptedWork({ dies: false }) })
  await app.run('start', { until_idle: true })
  const [run] = (await app.run('queue list', {})).items
  assert.equal(run?.status, 'done')
  const read = (name: string): string | null =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : null
  return { app, run: run?.dispatch_id ?? '', read }
}

const asOwner = (folder: string): void => {
  writeFileSync(join(folder, 'mine.txt'), 'an hour of work')
  writeFileSync(join(folder, 'owned.txt'), 'by the owner')
  writeFileSync(join(folder, 'twice.txt'), 'by the owner')
}

test('O7: undo keeps and names what changed between a kill and the restart; its own work goes back', async (t) => {
  const { app, run, read } = await resumeAfterOwner(t, asOwner)
  assert.equal(read('twice.txt'), 'by the owner, second')
  const plan = await app.run('undo', { target: run, plan: true })
  assert.deepEqual(
    plan.uncertain.map(({ path, does }) => `${path} ${does}`),
    ['begun.txt stays', 'mine.txt stays', 'owned.txt stays', 'removed.txt goes_back', 'twice.txt goes_back'],
  )
  assert.match(render('undo', plan), /Not certain whose work.*stays: mine\.txt.*tireless undo .* --uncertain/s)
  const done = await app.run('undo', { target: run, yes: true })
  assert.deepEqual(done.uncertain, plan.uncertain)
  assert.deepEqual(
    ['sure.txt', 'later.txt', 'begun.txt', 'mine.txt', 'owned.txt', 'removed.txt', 'twice.txt'].map(read),
    [null, null, 'by the run', 'an hour of work', 'by the owner', 'before', 'by the owner'],
  )
  await app.run('undo', { target: done.id ?? '', yes: true })
  assert.deepEqual(['sure.txt', 'removed.txt', 'twice.txt'].map(read), ['by the run', null, 'by the owner, second'])
})

test('O7: what is uncertain is undone if it is asked for', async (t) => {
  const { app, run, read } = await resumeAfterOwner(t, () => {})
  await app.run('undo', { target: run, uncertain: true, yes: true })
  assert.deepEqual(['sure.txt', 'later.txt', 'begun.txt', 'twice.txt', 'owned.txt', 'removed.txt'].map(read), [
    null,
    null,
    null,
    null,
    'before',
    'before',
  ])
})
