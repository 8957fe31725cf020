/** Undo of files with several names: one that a run changed in place is changed back in place. */

import assert from 'node:assert/strict'
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { refuseWrites } from '../support/refused-writes.ts'
import { type ScriptedWork, scriptedWork, WORK_YAML } from '../support/scripted-work.ts'

interface Setup {
  readonly app: App
  readonly work: ScriptedWork
  at(name: string): string
  /** A path outside the workspace. */
  outside(name: string): string
  text(path: string): string
}

async function setUp(t: TestContext): Promise<Setup> {
  const work = scriptedWork()
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: WORK_YAML, model: work.model, tools: [work.tool] })
  const at = (name: string): string => join(home, 'workspaces/writer', name)
  mkdirSync(at(''), { recursive: true })
  return { app, work, at, outside: (name) => join(home, name), text: (path) => readFileSync(path, 'utf8') }
}

/** Larger than one sector of a disk. */
const BEFORE = 'before '.repeat(400)
const AFTER = 'after '.repeat(700)

test('O7: a file that a run changed in place is changed back in place, so that its other names follow', async (t) => {
  const { app, work, at, outside, text } = await setUp(t)
  writeFileSync(at('a.txt'), BEFORE)
  linkSync(at('a.txt'), at('same.txt'))
  linkSync(at('a.txt'), outside('same.txt'))
  const { ino } = statSync(at('a.txt'))
  const { dispatch_id } = await work.run(app, [() => writeFileSync(at('a.txt'), AFTER)])
  const { id } = await app.run('undo', { target: dispatch_id, yes: true })
  const names = [at('a.txt'), at('same.txt'), outside('same.txt')]
  assert.deepEqual(names.map(text), [BEFORE, BEFORE, BEFORE])
  assert.deepEqual([statSync(at('a.txt')).ino, readdirSync(at(''))], [ino, ['a.txt', 'same.txt']])
  await app.run('undo', { target: id ?? '', yes: true })
  assert.deepEqual(names.map(text), [AFTER, AFTER, AFTER])
})

test('O7: undo does not write into a file that only the run gave this name', async (t) => {
  const { app, work, at, outside, text } = await setUp(t)
  writeFileSync(outside('precious.txt'), 'precious')
  for (const name of ['a.txt', 'b.txt']) writeFileSync(at(name), 'before')
  linkSync(at('a.txt'), at('a-too.txt'))
  const link = (name: string, to: string) => (): void => {
    rmSync(at(name))
    linkSync(to, at(name))
  }
  const { dispatch_id } = await work.run(app, [link('a.txt', outside('precious.txt')), link('b.txt', at('a-too.txt'))])
  await app.run('undo', { target: dispatch_id, yes: true })
  assert.deepEqual(
    [text(outside('precious.txt')), text(at('a.txt')), text(at('b.txt')), text(at('a-too.txt'))],
    ['precious', 'before', 'before', 'before'],
  )
})

for (const end of ['finished', 'given up'] as const)
  test(`O7: a file that is half changed back in place is completed when the undo is ${end}`, async (t) => {
    const { app, work, at, text } = await setUp(t)
    writeFileSync(at('a.txt'), BEFORE)
    linkSync(at('a.txt'), at('same.txt'))
    const { dispatch_id } = await work.run(app, [() => writeFileSync(at('a.txt'), AFTER)])
    const allow = refuseWrites(t, { calls: ['ftruncateSync'], code: 'EIO' })
    await assert.rejects(app.run('undo', { target: dispatch_id, yes: true }), /a\.txt \(the disk reports an error\)/)
    allow()
    // As a kill leaves it: the first sectors are written, the others are not yet.
    writeFileSync(at('a.txt'), `${BEFORE.slice(0, 1024)}${AFTER.slice(1024)}`)
    const plan = await app.run('undo', { target: dispatch_id, plan: true })
    assert.deepEqual([plan.workspaces[0]?.changed_back, plan.kept], [['a.txt', 'same.txt'], []])
    const target = plan.finishes ?? ''
    await app.run('undo', end === 'finished' ? { target, yes: true } : { target, give_up: true })
    assert.deepEqual([text(at('a.txt')), text(at('same.txt'))], [BEFORE, BEFORE])
    assert.deepEqual(readdirSync(at('')), ['a.txt', 'same.txt'])
  })

test('O7: a half-changed file in which its owner wrote since is kept as it is', async (t) => {
  const { app, work, at, text } = await setUp(t)
  writeFileSync(at('a.txt'), BEFORE)
  linkSync(at('a.txt'), at('same.txt'))
  const { dispatch_id } = await work.run(app, [() => writeFileSync(at('a.txt'), AFTER)])
  const allow = refuseWrites(t, { calls: ['ftruncateSync'], code: 'EIO' })
  await assert.rejects(app.run('undo', { target: dispatch_id, yes: true }), { code: 'undo_unfinished' })
  allow()
  const mine = `${BEFORE.slice(0, 1024)}mine${AFTER.slice(1028)}`
  writeFileSync(at('a.txt'), mine)
  const done = await app.run('undo', { target: dispatch_id, yes: true })
  assert.deepEqual(
    done.kept.map(({ path }) => path),
    ['a.txt', 'same.txt'],
  )
  assert.deepEqual([text(at('a.txt')), readdirSync(at(''))], [mine, ['a.txt', 'same.txt']])
})
