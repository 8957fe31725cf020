/** The git ops on real repositories, harmless and hostile ones. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { git, makeRepository, NOW } from '../../../../test/support/git-repository.ts'

describe('git ops', () => {
  test('Q8: before the first commit, log and diff are empty; a commit changes that', async (t) => {
    const { ws, write, ops } = makeRepository(t)
    const repository = await ops()
    assert.equal(await repository.head(), null)
    assert.deepEqual(await repository.log(5), [])
    assert.deepEqual(await repository.diff(), { patch: '', more: false })
    assert.equal(await repository.commit('nothing'), null)
    write('a', 'one\n')
    assert.deepEqual(await repository.status(), { changes: [{ path: 'a', kind: 'new' }], more: false })
    const id = await repository.commit('first\n\nwith a body')
    assert.equal(id, git(ws, 'rev-parse', 'HEAD'))
    assert.equal(await repository.head(), id)
    assert.deepEqual(await repository.log(5), [{ id, ts: NOW, subject: 'first' }])
    assert.equal(
      git(ws, 'log', '--format=%an <%ae> %cn <%ce>'),
      Array(2).fill('Tireless <tireless@localhost>').join(' '),
    )
  })

  test('Q8: a commit contains every change that status lists, with any file name, and no ignored file', async (t) => {
    const { ws, write, ops } = makeRepository(t)
    for (const name of ['changed', 'gone', 'staged-gone', 'file', 'folder/f', 'folder/g']) write(name, 'old\n')
    write('.gitignore', 'ignored\n')
    git(ws, 'add', '-A')
    git(ws, 'commit', '-qm', 'before')
    write('changed', 'new\n')
    fs.rmSync(join(ws, 'gone'))
    git(ws, 'rm', '-q', 'staged-gone')
    write('ignored', 'x')
    fs.rmSync(join(ws, 'file'))
    write('file/inside', 'x')
    fs.rmSync(join(ws, 'folder'), { recursive: true })
    write('folder', 'x')
    const odd = ['*', ':(top)x', 'a "b"', 'line\nbreak', 'münd/中文', '-n']
    for (const name of odd) write(name, 'x')
    fs.utimesSync(join(ws, '.gitignore'), 1, 1)
    const index = fs.readFileSync(join(ws, '.git/index'))
    const repository = await ops()
    const { changes } = await repository.status()
    assert.deepEqual(fs.readFileSync(join(ws, '.git/index')), index, 'status does not write the index')
    const pathsOf = (kind: string) => changes.flatMap((change) => (change.kind === kind ? [change.path] : [])).sort()
    assert.deepEqual(pathsOf('changed'), ['changed'])
    assert.deepEqual(pathsOf('gone'), ['file', 'folder/f', 'folder/g', 'gone', 'staged-gone'])
    assert.deepEqual(pathsOf('new'), ['file/inside', 'folder', ...odd].sort())
    const { patch } = await repository.diff()
    assert.match(patch, /^-old\n\+new$/m)
    await repository.commit('all of it')
    assert.deepEqual(await repository.status(), { changes: [], more: false })
    const tree = git(ws, 'ls-tree', '-rz', '--name-only', 'HEAD').split('\0').filter(Boolean)
    assert.deepEqual(tree.sort(), ['.gitignore', 'changed', 'file/inside', 'folder', ...odd].sort())
    assert.equal((await repository.log(1)).length, 1)
    assert.equal((await repository.log(9)).length, 2)
  })

  test('Q8: files in conflict are listed and not committed', async (t) => {
    const { ws, write, ops } = makeRepository(t)
    for (const [branch, text] of [
      ['main', 'base'],
      ['side', 'theirs'],
      ['main', 'ours'],
    ] as const) {
      if (branch === 'side') git(ws, 'checkout', '-qb', 'side')
      if (text === 'ours') git(ws, 'checkout', '-q', 'main')
      write('f', text)
      git(ws, 'add', 'f')
      git(ws, 'commit', '-qm', text)
    }
    assert.throws(() => git(ws, 'merge', '-q', 'side'))
    const repository = await ops()
    assert.deepEqual(await repository.status(), { changes: [{ path: 'f', kind: 'conflict' }], more: false })
    await assert.rejects(repository.commit('no'), { code: 'conflict', message: /got f$/ })
  })

  test('Q9: a very long diff or status is cut and marked as cut, and is never committed in part', async (t) => {
    const { ws, write, ops } = makeRepository(t)
    write('large', '')
    git(ws, 'add', '-A')
    git(ws, 'commit', '-qm', 'before')
    write('large', 'line\n'.repeat(1_000_000))
    const repository = await ops()
    const { patch, more } = await repository.diff()
    assert.equal(more, true)
    assert.ok(patch.length > 1_000_000 && patch.length < 5_000_000)
    assert.ok(await repository.commit('large'))
    const long = 'x'.repeat(200)
    const name = (n: number) => join(long, long, long, `${n}`)
    fs.mkdirSync(join(ws, long, long, long), { recursive: true })
    for (let n = 0; n < 8000; n += 1) fs.writeFileSync(join(ws, name(n)), '')
    const status = await repository.status()
    assert.equal(status.more, true)
    assert.ok(status.changes.every(({ path }) => fs.existsSync(join(ws, path))))
    await assert.rejects(repository.commit('too many'), { code: 'tool_failed', message: /too many changes/ })
    assert.equal(git(ws, 'log', '--format=%s', '-1'), 'large')
  })

  test('a commit starts no garbage collection', async (t) => {
    const { ws, write, ops } = makeRepository(t)
    git(ws, 'config', 'gc.auto', '1')
    git(ws, 'config', 'gc.autoDetach', 'false')
    // Their ids begin with 17: git counts only that folder to estimate the number of objects.
    for (const text of ['x132', 'x278']) write(text, `${text}\n`)
    await (await ops()).commit('enough to collect')
    assert.equal(fs.readdirSync(join(ws, '.git/objects/17')).length, 2)
  })

  test('an error of git is reported with its text', async (t) => {
    const { ws, write, ops } = makeRepository(t)
    const repository = await ops()
    write('a', 'x')
    await assert.rejects(repository.commit(''), {
      code: 'tool_failed',
      message: /git commit failed.*empty commit message/,
    })
    await assert.rejects(repository.commit('a\0b'), { code: 'tool_failed', message: /git commit failed/ })
    fs.writeFileSync(join(ws, '.git/index.lock'), '')
    await assert.rejects(repository.commit('x'), {
      code: 'tool_failed',
      message: /git \S+ failed.*index\.lock/s,
    })
  })
})
