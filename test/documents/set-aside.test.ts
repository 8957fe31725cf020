/** Texts of documents that are set aside: the owner is told of each, and none is deleted unless he says so. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { NO_NOTICES } from '../../src/adapters/documents/copy-notices.ts'
import { diskFiles } from '../../src/adapters/documents/files.ts'
import type { App } from '../../src/app.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

async function openWithGoal(t: TestContext, yaml = '') {
  const home = freshFolder(t)
  const app = await openApp(t, { home, ...(yaml === '' ? {} : { yaml }) })
  await app.run('state edit', { text: 'the goal', document: 'GOAL.md' })
  const folder = join(home, 'kernels', 'default')
  const copies = (): string[] => readdirSync(folder).filter((name) => /\.(torn|conflict|reverted)-/.test(name))
  const save = async (content: string | Buffer): Promise<void> => {
    writeFileSync(join(folder, 'GOAL.md'), content)
    await app.service('documents').read('GOAL.md')
  }
  return { app, folder, goal: join(folder, 'GOAL.md'), copies, save }
}

const needsOf = async (app: App) => (await app.run('needs list', { language: 'en' })).items

const utf16 = (text: string): Buffer => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])

describe('what is set aside', () => {
  test('E10: a GOAL.md over 1 MB stands in the list, in health and in doctor until the owner has looked', async (t) => {
    const { app, goal, copies, save, folder } = await openWithGoal(t)
    const long = `the new goal\n${'x'.repeat(1024 * 1024)}`
    await save(long)
    assert.equal(readFileSync(goal, 'utf8'), 'the goal')
    const [copy = ''] = copies()
    const [need, ...more] = await needsOf(app)
    assert.deepEqual([need?.title, more], ['GOAL.md was set aside: it is larger than 1 MB', []])
    assert.ok(need?.body.includes(join(folder, copy)))
    assert.deepEqual(
      need?.choices.map(({ id }) => id),
      ['seen', 'drop'],
    )
    const id = need?.id ?? ''
    assert.equal((await app.run('needs show', { id, language: 'zh' })).title, 'GOAL.md 被放到一边：它超过 1 MB')
    const troubles = async () => {
      const { checks } = await app.run('doctor', {})
      const { degraded } = await app.run('status', {})
      return [degraded.some((text) => text.includes(id)), checks.find(({ name }) => name === 'needs you')?.ok]
    }
    assert.deepEqual(await troubles(), [true, false])
    await app.run('needs answer', { id, choice: 'seen' })
    assert.deepEqual([await troubles(), await needsOf(app)], [[false, true], []])
    assert.equal(readFileSync(join(folder, copy), 'utf8'), long, 'what he has seen stays')
    await save(long)
    assert.deepEqual(copies(), [copy], 'the same content is no second copy')
    const [again] = await needsOf(app)
    await app.run('needs answer', { id: again?.id ?? '', choice: 'drop' })
    assert.deepEqual([copies(), await needsOf(app)], [[], []])
  })

  test('E10: the 21st copy deletes none; copies with the same content are one', async (t) => {
    const { app, copies, save, folder } = await openWithGoal(t)
    for (let n = 0; n < 23; n += 1) await save(utf16(`goal ${n}`))
    for (let n = 0; n < 23; n += 1) await save(utf16(`goal ${n}`))
    const texts = copies().map((name) => readFileSync(join(folder, name)).subarray(2).toString('utf16le'))
    assert.deepEqual(new Set(texts), new Set(Array.from({ length: 23 }, (_, n) => `goal ${n}`)))
    assert.equal(texts.length, 23)
    const titles = (await needsOf(app)).map(({ title }) => title)
    assert.deepEqual(
      [titles.length, new Set(titles).size, titles[0]],
      [23, 1, 'GOAL.md was set aside: it is not UTF-8 text'],
    )
  })

  test('E10, I7: an edit that conflicts can be taken from the list; the version before stays', async (t) => {
    const { app, goal, copies } = await openWithGoal(t, 'sandbox: off')
    writeFileSync(goal, 'mine')
    await app.run('state edit', { text: 'theirs', document: 'GOAL.md' })
    await app.run('state accept', {})
    assert.equal(copies().length, 1)
    const [need] = await needsOf(app)
    assert.equal(need?.title, 'Your edit of GOAL.md conflicts with a newer version')
    await app.run('needs answer', { id: need?.id ?? '', choice: 'take' })
    const { text, version } = await app.run('state show', { document: 'GOAL.md' })
    assert.deepEqual([text, await needsOf(app)], ['mine', []])
    assert.equal((await app.run('state show', { document: 'GOAL.md', version: version - 1 })).text, 'theirs')
    assert.equal(copies().length, 1, 'the copy stays until it is deleted')
  })

  test('E10, E11: when copies take too much space, none is deleted or made; the file stays as it is', async (t) => {
    const { app, goal, copies } = await openWithGoal(t)
    const { read } = app.service('documents')
    const saveLarge = async (first: string): Promise<void> => {
      writeFileSync(goal, first)
      truncateSync(goal, 30 * 1024 * 1024)
      await read.call(app.service('documents'), 'GOAL.md')
    }
    for (const first of ['one', 'two', 'three']) await saveLarge(first)
    assert.equal(copies().length, 2)
    assert.equal(readFileSync(goal).subarray(0, 5).toString(), 'three')
    assert.equal((await app.run('state show', { document: 'GOAL.md' })).text, 'the goal')
    const [full] = await needsOf(app)
    assert.deepEqual([full?.kind, /None was deleted/.test(full?.body ?? '')], ['space', true])
    assert.ok((await app.run('status', {})).degraded.some((text) => text.includes('there are too many copies')))
    const [oldest = ''] = copies()
    await app.run('state discard', { copy: oldest, document: 'GOAL.md' })
    await app.service('documents').read('GOAL.md')
    assert.deepEqual([copies().length, existsSync(goal), readFileSync(goal, 'utf8')], [2, true, 'the goal'])
    assert.ok(!(await needsOf(app)).some(({ kind }) => kind === 'space'))
  })

  test('E10, E11: the owner is told before a copy is made, and not of one that could not be made', async (t) => {
    const folder = freshFolder(t, 'documents')
    const path = join(folder, 'GOAL.md')
    const told: string[] = []
    const notices = {
      ...NO_NOTICES,
      tell: async ({ file }: { readonly file: string }) => {
        told.push(existsSync(join(folder, file)) ? 'late' : 'told')
      },
      withdraw: async () => {
        told.push('withdrawn')
      },
    }
    const silent = { ...notices, tell: () => Promise.reject(new Error('the store is away')) }
    writeFileSync(path, 'no\0text')
    await assert.rejects(diskFiles(folder, new FakeClock(), silent).setAside('GOAL.md', 'why'), /the store is away/)
    assert.deepEqual(readdirSync(folder), ['GOAL.md'], 'nothing is moved unsaid')
    const files = diskFiles(folder, new FakeClock(), notices)
    await files.setAside('GOAL.md', 'why')
    assert.deepEqual([told.splice(0), existsSync(path)], [['told'], false])
    await assert.rejects(files.setAside('GOAL.md', 'why'), { code: 'ENOENT' })
    assert.deepEqual(told, ['told', 'withdrawn'])
    assert.equal(readdirSync(folder).length, 1)
  })
})
