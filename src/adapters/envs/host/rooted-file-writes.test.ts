/** Writes of the file API: expected content, atomic replacement, leftovers, and changed files. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeWorkspace, sha, VARIANTS } from '../../../../test/support/rooted-workspace.ts'
import { TirelessError } from '../../../domain/error.ts'
import { systemClock } from '../../system/clock.ts'
import { createRootedFiles } from './rooted-files.ts'
import { createRootedFolders } from './rooted-folders.ts'

const conflict = (error: unknown) => error instanceof TirelessError && error.code === 'conflict'

for (const variant of VARIANTS)
  describe(`files, ${variant.name}`, { skip: variant.skip }, () => {
    test('case 38: a write succeeds only if the file has the expected content', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      await assert.rejects(file.write('f', 'x', sha('old')), conflict)
      await assert.rejects(file.write('no/f', 'x', sha('old')), conflict)
      assert.deepEqual(fs.readdirSync(w.root), [])
      await file.write('f', 'old', null)
      await assert.rejects(file.write('f', 'new', null), conflict)
      await assert.rejects(file.write('f', 'new', sha('other')), conflict)
      fs.utimesSync(join(w.root, 'f'), 1, 1)
      await file.write('f', 'new', sha('old'))
      assert.equal(fs.readFileSync(join(w.root, 'f'), 'utf8'), 'new')
      assert.deepEqual(fs.readdirSync(w.root), ['f'])
    })

    test('of many concurrent writes that expect the same content exactly one succeeds', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      await file.write('f', 'old', null)
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) => file.write('f', `new ${n}`, sha('old'))),
      )
      assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
      for (const outcome of outcomes) if (outcome.status === 'rejected') assert.ok(conflict(outcome.reason))
    })

    test('a write is atomic: readers see the old or the new text; mode stays; no temporary file stays', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      const texts = ['a', 'b'].map((letter) => letter.repeat(300_000))
      await file.write('f', texts[0] ?? '', null)
      fs.chmodSync(join(w.root, 'f'), 0o751)
      let writing = true
      const reading = (async () => {
        while (writing) assert.ok(texts.includes((await file.read('f'))?.text ?? ''))
      })()
      for (let n = 1; n <= 20; n += 1) await file.write('f', texts[n % 2] ?? '', sha(texts[(n + 1) % 2] ?? ''))
      writing = false
      await reading
      assert.equal(fs.statSync(join(w.root, 'f')).mode & 0o777, 0o751)
      assert.deepEqual(fs.readdirSync(w.root), ['f'])
    })

    test('a write that is repeated after a crash removes the temporary file of the first attempt', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      await file.write('f', 'text', null)
      const temporary = `.tireless-${sha(`f\0${sha('text')}`).slice(0, 24)}.tmp`
      fs.renameSync(join(w.root, 'f'), join(w.root, temporary))
      fs.truncateSync(join(w.root, temporary), 2)
      await file.write('f', 'text', null)
      assert.deepEqual(fs.readdirSync(w.root), ['f'])
      assert.equal(fs.readFileSync(join(w.root, 'f'), 'utf8'), 'text')
    })

    test('changedSince lists new content, new names and folders that lost a name, but nothing in .git', async () => {
      using w = makeWorkspace()
      const file = variant.of(w.root)
      for (const path of ['old/a', 'old/b', 'lost/c', 'renamed/d']) await file.write(path, 'x', null)
      fs.mkdirSync(join(w.root, '.git'))
      fs.writeFileSync(join(w.root, '.git/x'), 'x')
      const newest = Math.max(
        ...fs.readdirSync(w.root, { recursive: true }).map((name) => fs.lstatSync(join(w.root, String(name))).ctimeMs),
      )
      const since = Math.ceil(newest) + 30
      assert.deepEqual(await file.changedSince(since), [])
      while (Date.now() < since) await systemClock.sleep(5)
      await file.write('new', 'x', null)
      fs.appendFileSync(join(w.root, 'old/a'), 'y')
      fs.rmSync(join(w.root, 'lost/c'))
      fs.renameSync(join(w.root, 'renamed/d'), join(w.root, 'renamed/e'))
      fs.writeFileSync(join(w.root, '.git/y'), '')
      assert.deepEqual(await file.changedSince(since), [
        './',
        '.git/',
        'lost/',
        'new',
        'old/a',
        'renamed/',
        'renamed/e',
      ])
      for (let n = 0; n < 300; n += 1) fs.writeFileSync(join(w.root, `many-${n}`), '')
      assert.equal((await file.changedSince(since)).length, 200)
    })
  })

test('case 38: a change by another process during a write is not overwritten', async () => {
  using w = makeWorkspace()
  fs.writeFileSync(join(w.root, 'f'), 'old')
  const folders = createRootedFolders(w.root)
  const file = createRootedFiles(w.root, {
    ...folders,
    async open(names, create) {
      const folder = await folders.open(names, create)
      const changeMeanwhile = (name: string) => {
        if (name !== 'f') fs.writeFileSync(join(w.root, 'f'), 'theirs')
        return folder?.systemPathOf(name) ?? ''
      }
      return (
        folder && {
          ...folder,
          systemPathOf: changeMeanwhile,
          [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
        }
      )
    },
  })
  await assert.rejects(file.write('f', 'new', sha('old')), conflict)
  assert.equal(fs.readFileSync(join(w.root, 'f'), 'utf8'), 'theirs')
  assert.deepEqual(fs.readdirSync(w.root), ['f'])
})
