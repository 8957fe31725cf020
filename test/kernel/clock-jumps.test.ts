/** A clock that jumps ahead deletes, expires and denies nothing; results stay until their owner removes them. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { askAndWait, drainQueue, getOnlyApproval, sendTool } from '../support/approval-fixtures.ts'
import { diligentScript, listDispatches, NOON, runOnce } from '../support/kernels.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

const DAY = 86_400_000
const HOUR = 3_600_000

const CONFIG = {
  kernel: {
    timezone: 'UTC',
    planner: { mode: 'static' },
    agents: [{ agent_id: 'a', prompt: 'work', workspace: null }],
  },
}

interface Options extends Pick<AppOptions, 'model' | 'tools'> {
  readonly config?: object
}

async function openAt(
  t: TestContext,
  home: string,
  wall: number,
  { config = {}, model = scriptedModel(diligentScript), ...more }: Options = {},
): Promise<{ app: App; clock: FakeClock }> {
  const clock = new FakeClock({ now: wall })
  const yaml = JSON.stringify({ ...CONFIG, ...config })
  return { app: await openApp(t, { home, clock, model, yaml, ...more }), clock }
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder).map((name) => `${name}: ${readFileSync(join(folder, name), 'utf8')}`)

async function remembered(app: App): Promise<readonly string[]> {
  return (await app.run('memory list', {})).items.map(({ key }) => key)
}

test('O7, E6: cycles 400 days ahead and 91 days later delete no run, result, undo or fact', async (t) => {
  const home = freshFolder(t)
  const first = await openAt(t, home, NOON)
  const run = await first.app.run('run', { task: 'write it' })
  const result = join(home, 'workspaces', run.session_id, 'done.md')
  assert.equal(readFileSync(result, 'utf8'), 'done')
  const memory = first.app.service('memory')
  await memory.remember({ agent: 'a', key: 'wifi', text: 'guest', until: NOON + 30 * DAY })
  await first.app.close()
  const traces = filesIn(join(home, 'traces', run.dispatch_id))

  const ahead = await openAt(t, home, NOON + 400 * DAY)
  await runOnce(ahead.app)
  await ahead.app.service('memory').remember({ agent: 'a', key: 'other', text: 'x' })
  const { degraded, health } = await ahead.app.run('status', {})
  assert.ok(health.ok, health.reasons.join())
  assert.match(degraded.join('\n'), /400 days ahead of the last record \(2030-03-10\)/)
  const asked = (await ahead.app.run('needs list', {})).items.filter(({ kind }) => kind === 'clock')
  assert.deepEqual(
    asked.map(({ choices }) => choices.map(({ id }) => id)),
    [['accept', 'wait']],
  )
  await ahead.app.close()

  const later = await openAt(t, home, NOON + 91 * DAY)
  await runOnce(later.app)
  await later.app.close()

  const { app } = await openAt(t, home, NOON + HOUR)
  await runOnce(app)
  assert.ok((await listDispatches(app)).some(({ dispatch_id }) => dispatch_id === run.dispatch_id))
  assert.deepEqual(filesIn(join(home, 'traces', run.dispatch_id)), traces)
  assert.equal(readFileSync(result, 'utf8'), 'done')
  assert.deepEqual((await remembered(app)).toSorted(), ['other', 'wifi'])
  assert.deepEqual(
    (await app.run('status', {})).degraded.filter((text) => text.includes('clock')),
    [],
  )
  assert.deepEqual((await app.run('needs list', {})).items, [])
  const undone = await app.run('undo', { target: run.dispatch_id, yes: true })
  assert.deepEqual(
    undone.workspaces.map(({ removed }) => removed),
    [['done.md']],
  )
})

test('O7, E17: results outlive their runs, and go when their owner removes them', async (t) => {
  const home = freshFolder(t)
  const config = { retention: { days: 2 } }
  const { app, clock } = await openAt(t, home, NOON, { config })
  const { session_id, dispatch_id } = await app.run('run', { task: 'write it' })
  const result = join(home, 'workspaces', session_id, 'done.md')
  for (let day = 0; day < 3; day += 1) {
    await clock.advance(DAY)
    await runOnce(app)
  }
  assert.equal(
    (await listDispatches(app)).some((run) => run.dispatch_id === dispatch_id),
    false,
  )
  assert.equal(readFileSync(result, 'utf8'), 'done')
  const listed = (await app.run('workspace list', {})).items.find(({ name }) => name === session_id)
  assert.deepEqual(
    { sessions: listed?.sessions, files: listed?.files, bytes: listed?.bytes },
    { sessions: [], files: 1, bytes: 4 },
  )

  const removed = await app.run('workspace remove', { workspace: session_id })
  assert.equal(existsSync(result), false)
  assert.ok(removed.id)
  assert.deepEqual((await app.run('workspace list', {})).removed, [removed])
  await app.run('undo', { target: removed.id, yes: true })
  assert.equal(readFileSync(result, 'utf8'), 'done')

  const again = await app.run('workspace remove', { workspace: session_id })
  for (let day = 0; day < 8; day += 1) {
    await clock.advance(DAY)
    await runOnce(app)
  }
  assert.deepEqual((await app.run('workspace list', {})).removed, [])
  await assert.rejects(app.run('undo', { target: again.id ?? '', yes: true }), { code: 'not_found' })
})

test('O7: a workspace is deleted at once only if its owner confirms it', async (t) => {
  const home = freshFolder(t)
  const { app } = await openAt(t, home, NOON)
  const { session_id } = await app.run('run', { task: 'write it' })
  const result = join(home, 'workspaces', session_id, 'done.md')
  await assert.rejects(app.run('workspace remove', { workspace: session_id, now: true }), {
    code: 'confirmation_needed',
  })
  assert.ok(existsSync(result))
  const { id, files, bytes } = await app.run('workspace remove', { workspace: session_id, now: true, yes: true })
  assert.deepEqual({ id, files, bytes, isThere: existsSync(result) }, { id: null, files: 1, bytes: 4, isThere: false })
})

test('E6: days without commits do not count: a home that was off for 100 days keeps its runs', async (t) => {
  const home = freshFolder(t)
  const config = { retention: { days: 90 } }
  const first = await openAt(t, home, NOON, { config })
  const { dispatch_id } = await first.app.run('run', { task: 'write it' })
  await first.app.close()
  const { app } = await openAt(t, home, NOON + 100 * DAY, { config })
  assert.equal((await app.run('clock accept', {})).was_in_doubt, true)
  await runOnce(app)
  assert.ok((await listDispatches(app)).some((run) => run.dispatch_id === dispatch_id))
  assert.equal((await app.run('clock accept', {})).was_in_doubt, false)
})

test('O11: an approval expires only when its owner says that a clock in doubt is right', async (t) => {
  const home = freshFolder(t)
  const tools = [sendTool()]
  const first = await openAt(t, home, NOON, { tools, model: askAndWait() })
  await first.app.run('run', { task: 'send it' })
  await first.app.close()

  const ahead = await openAt(t, home, NOON + 400 * DAY, { tools, model: askAndWait() })
  await drainQueue(ahead.app)
  assert.equal((await getOnlyApproval(ahead.app)).status, 'open')
  await ahead.app.run('clock accept', {})
  await drainQueue(ahead.app)
  assert.equal((await ahead.app.run('approvals list', { status: 'expired' })).items.length, 1)
})
