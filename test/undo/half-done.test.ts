/** An undo that stops in the middle: it says so, overwrites nothing that was written since, and can be ended. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { render } from '../../src/cli/views/views.ts'
import type { UndoOutput } from '../../src/commands/undo.ts'
import { openHttpApp, postJson } from '../support/http-app.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { refuseWrites } from '../support/refused-writes.ts'
import { type ScriptedWork, scriptedWork, WORK_YAML } from '../support/scripted-work.ts'
import { listing } from './listing.ts'

interface HalfDone {
  readonly app: App
  readonly work: ScriptedWork
  readonly home: string
  readonly folder: string
  readonly run: string
  /** The undo. */
  readonly id: string
  readonly message: string
  put(name: string, text: string): void
  text(name: string): string
  /** Undoes again, as if what stopped it were mended. */
  allow(): void
}

/** Three files, changed by a run; its undo cannot write a.txt. */
async function stopHalfDone(t: TestContext, code = 'EPERM'): Promise<HalfDone> {
  const home = freshFolder(t)
  const folder = join(home, 'workspaces/writer')
  const work = scriptedWork()
  const app = await openApp(t, { home, yaml: WORK_YAML, model: work.model, tools: [work.tool] })
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  mkdirSync(folder, { recursive: true })
  for (const name of ['a', 'b', 'c']) put(`${name}.txt`, `${name}1`)
  const { dispatch_id: run } = await work.run(app, [
    () => {
      for (const name of ['a', 'b', 'c']) put(`${name}.txt`, `${name}2`)
    },
  ])
  const allow = refuseWrites(t, { calls: ['renameSync'], code, path: '/a.txt' })
  const message = await app.run('undo', { target: run, yes: true }).then(
    () => assert.fail('it was undone'),
    (error: Error) => error.message,
  )
  const id = /undo-[\w-]+/.exec(message)?.[0] ?? ''
  return {
    app,
    work,
    home,
    folder,
    run,
    id,
    message,
    put,
    text: (name) => readFileSync(join(folder, name), 'utf8'),
    allow,
  }
}

test('O7: an undo that fails in the middle says what it changed back, what not and why, and what to do', async (t) => {
  const { app, folder, run, id, message, text } = await stopHalfDone(t, 'ENOSPC')
  assert.match(message, /the undo is half done/)
  assert.match(message, /changed back: b\.txt, c\.txt; not changed back: a\.txt \(the disk is full\)/)
  assert.match(message, new RegExp(`tireless undo ${id} --yes.*tireless undo ${id} --give-up`))
  assert.doesNotMatch(message, /ENOSPC|internal/)
  assert.deepEqual([text('a.txt'), text('b.txt'), text('c.txt')], ['a2', 'b1', 'c1'])
  assert.deepEqual(readdirSync(folder).toSorted(), ['a.txt', 'b.txt', 'c.txt'])
  const { health, unfinished_undos } = await app.run('status', {})
  assert.deepEqual(
    unfinished_undos.map((one) => [one.id, one.target]),
    [[id, run]],
  )
  assert.ok(health.reasons.some((reason) => reason.includes(`${id} of ${run} is half done`)))
  const { checks } = await app.run('doctor', {})
  assert.match(checks.find(({ name }) => name === 'unfinished undos')?.remedy ?? '', /--give-up/)
})

test('O7: no plan, start or other undo finishes a half-done undo; finishing keeps later writes', async (t) => {
  const { app, work, home, folder, run, id, put, text, allow } = await stopHalfDone(t)
  allow()
  put('b.txt', 'b3: an hour of work')
  const before = listing(folder)
  for (const target of [run, id]) {
    const plan = await app.run('undo', { target, plan: true })
    assert.deepEqual(
      [plan.finishes, plan.workspaces.map(({ changed_back }) => changed_back), plan.kept.map(({ path }) => path)],
      [id, [['a.txt']], ['b.txt']],
    )
    assert.match(render('undo', plan), /To finish the half-done undo.*changed back: a\.txt.*b\.txt: changed since/s)
  }
  await assert.rejects(app.run('undo', { target: 'today', plan: true }), { code: 'conflict' })
  await app.close()
  const again = await openApp(t, { home, model: work.model, tools: [work.tool] })
  await again.run('start', { until_idle: true })
  assert.deepEqual(listing(folder), before)
  await assert.rejects(again.run('undo', { target: id }), { code: 'confirmation_needed' })
  assert.deepEqual(listing(folder), before)
  const done = await again.run('undo', { target: id, yes: true })
  assert.deepEqual(
    [done.status, done.id, done.kept.map(({ path, why }) => [path, why])],
    ['done', id, [['b.txt', 'changed_since']]],
  )
  assert.deepEqual([text('a.txt'), text('b.txt'), text('c.txt')], ['a1', 'b3: an hour of work', 'c1'])
  assert.deepEqual((await again.run('status', {})).unfinished_undos, [])
  await again.run('undo', { target: id, yes: true })
  assert.deepEqual([text('a.txt'), text('b.txt'), text('c.txt')], ['a2', 'b3: an hour of work', 'c2'])
})

test('O7: a half-done undo can be given up; what it did can be taken back, and the run be undone again', async (t) => {
  const { app, run, id, text, allow } = await stopHalfDone(t)
  const given = await app.run('undo', { target: id, give_up: true })
  assert.deepEqual(
    [given.status, given.kept.map(({ path, why }) => [path, why])],
    ['given_up', [['a.txt', 'given_up']]],
  )
  assert.match(render('undo', given), /Gave up the undo.*tireless undo undo-/)
  assert.deepEqual([text('a.txt'), text('b.txt')], ['a2', 'b1'])
  assert.equal((await app.run('queue show', { id: run })).undone_by, null)
  assert.deepEqual((await app.run('status', {})).unfinished_undos, [])
  await assert.rejects(app.run('undo', { target: run, give_up: true }), /only an undo that is half done/)
  allow()
  await app.run('undo', { target: id, yes: true })
  assert.deepEqual([text('a.txt'), text('b.txt'), text('c.txt')], ['a2', 'b2', 'c2'])
  await app.run('undo', { target: run, yes: true })
  assert.deepEqual([text('a.txt'), text('b.txt'), text('c.txt')], ['a1', 'b1', 'c1'])
})

test('O7: a half-done undo is in the way of those only that change the same work', async (t) => {
  const { app, work, run, id, put, text, allow } = await stopHalfDone(t)
  const other = await work.run(app, [() => put('d.txt', 'd2')])
  const planned = await app.run('undo', { target: other.dispatch_id, plan: true })
  assert.deepEqual(
    planned.unfinished.map((one) => one.id),
    [id],
  )
  assert.match(render('undo', planned), new RegExp(`Half done:\\n.*tireless undo ${id} --give-up`))
  await app.run('undo', { target: other.dispatch_id, yes: true })
  const same = await work.run(app, [() => put('a.txt', 'a4')])
  for (const target of [same.dispatch_id, 'today'])
    await assert.rejects(app.run('undo', { target, yes: true }), (error: Error) => {
      assert.match(error.message, /an undo of the same work is half done, so nothing was undone/)
      assert.ok(error.message.includes(`tireless undo ${id} --give-up`), error.message)
      return true
    })
  assert.equal(text('a.txt'), 'a4')
  allow()
  await app.run('undo', { target: id, give_up: true })
  await app.run('undo', { target: same.dispatch_id, yes: true })
  assert.equal(text('a.txt'), 'a2')
  await app.run('undo', { target: run, yes: true })
  assert.deepEqual([text('a.txt'), text('b.txt')], ['a1', 'b1'])
})

test('O7: while its folder is gone, or is a link, a half-done undo is not finished, but can be given up', async (t) => {
  const { app, folder, id, allow } = await stopHalfDone(t)
  allow()
  renameSync(folder, `${folder}-away`)
  const plan = await app.run('undo', { target: id, plan: true })
  assert.deepEqual(
    plan.kept.map(({ path, why }) => [path, why]),
    [['.', 'failed']],
  )
  await assert.rejects(app.run('undo', { target: id, yes: true }), { code: 'undo_unfinished' })
  assert.ok(!existsSync(folder))
  const elsewhere = freshFolder(t, 'elsewhere')
  writeFileSync(join(elsewhere, 'a.txt'), 'a2')
  symlinkSync(elsewhere, folder)
  await assert.rejects(app.run('undo', { target: id, yes: true }), { code: 'undo_unfinished' })
  assert.equal(readFileSync(join(elsewhere, 'a.txt'), 'utf8'), 'a2')
  assert.equal((await app.run('undo', { target: id, give_up: true })).status, 'given_up')
})

test('O7: a half-done undo is finished or given up over HTTP, too', async (t) => {
  const work = scriptedWork()
  const http = await openHttpApp(t, {
    yaml: `server: { port: 0 }\n${WORK_YAML}`,
    model: work.model,
    tools: [work.tool],
  })
  const { dispatch_id, workspace } = await work.run(http.app, [
    { tool: 'create_file', args: { path: 'a.txt', content: 'one' } },
    { tool: 'create_file', args: { path: 'b.txt', content: 'one' } },
  ])
  const undo = (body: object) => postJson(http, '/api/v1/undo', body)
  const allow = refuseWrites(t, { calls: ['unlinkSync'], code: 'EPERM', path: '/a.txt' })
  const failed = await undo({ target: dispatch_id, yes: true })
  assert.deepEqual([failed.status, failed.code], [409, 'undo_unfinished'])
  const plan = (await undo({ target: dispatch_id, plan: true })).json<UndoOutput>()
  assert.deepEqual(
    plan.workspaces.map(({ removed }) => removed),
    [['a.txt']],
  )
  allow()
  const given = (await undo({ target: plan.finishes ?? '', give_up: true })).json<UndoOutput>()
  assert.equal(given.status, 'given_up')
  const done = (await undo({ target: dispatch_id, yes: true })).json<UndoOutput>()
  assert.deepEqual([done.status, readdirSync(workspace)], ['done', []])
})
