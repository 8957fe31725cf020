/** Undo in a folder with paths that the user who runs Tireless may not read. */

import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { App } from '../../src/app.ts'
import { actAsUser } from '../support/act-as-user.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { scriptedWork, WORK_YAML } from '../support/scripted-work.ts'

const undo = (app: App, target: string) => app.run('undo', { target, yes: true })

test('O7: a path that the user may not read is named and stays; everything else goes back', async (t) => {
  const home = freshFolder(t)
  const at = (path: string): string => join(home, 'workspaces/writer', path)
  const work = scriptedWork()
  mkdirSync(at(''), { recursive: true })
  const app = await openApp(t, { home, yaml: WORK_YAML, model: work.model, tools: [work.tool] })
  await actAsUser(home, async () => {
    writeFileSync(at('.env'), 'KEY=precious')
    writeFileSync(at('closed.txt'), 'old')
    mkdirSync(at('out'))
    writeFileSync(at('out/dump.bin'), 'x', { mode: 0 })
    const notes: string[] = []
    await app.run('run', { task: 'look', agent: 'writer' }, (progress) => {
      if (progress.kind === 'note') notes.push(progress.text)
    })
    assert.ok(
      notes.includes('This run can be undone only in part; not out/dump.bin (cannot be read).'),
      notes.join('\n'),
    )
    const close = (root: string): void => {
      writeFileSync(join(root, 'closed.txt'), 'new')
      chmodSync(join(root, 'closed.txt'), 0)
    }
    const makeUnlisted = (root: string): void => {
      mkdirSync(join(root, 'unlisted'))
      writeFileSync(join(root, 'unlisted/x'), 'x')
      chmodSync(join(root, 'unlisted'), 0)
    }
    const { dispatch_id, cannot_undo } = await work.run(app, [
      (root) => rmSync(join(root, '.env')),
      close,
      makeUnlisted,
      (root) => writeFileSync(join(root, 'a.txt'), 'a'),
    ])
    assert.match(cannot_undo.join(), /only in part; not .*closed\.txt \(cannot be read\)/)
    const done = await undo(app, dispatch_id)
    for (const path of ['out/dump.bin', 'unlisted', 'closed.txt']) chmodSync(at(path), 0o700)
    assert.deepEqual(done.not_covered.map(({ path, why }) => `${path} ${why}`).toSorted(), [
      'closed.txt unreadable',
      'out/dump.bin unreadable',
      'unlisted unreadable',
    ])
    const stock = () => [at('.env'), at('closed.txt'), at('unlisted/x'), at('a.txt')].map(readIfThere)
    assert.deepEqual(stock(), ['KEY=precious', 'new', 'x', undefined])
    // Readable again, they are no work of the run, though no snapshot of then has them.
    await undo(app, done.id ?? '')
    assert.deepEqual(stock(), [undefined, 'new', 'x', 'a'])
    await undo(app, dispatch_id)
    assert.deepEqual(stock(), ['KEY=precious', 'new', 'x', undefined])
  })
})

const readIfThere = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
