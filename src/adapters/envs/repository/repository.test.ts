/** The git ops on real repositories, harmless and hostile ones. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { requireOps } from '../../../ports/env.ts'
import { FakeClock } from '../../../testing/fake-clock.ts'
import { createWorkspaceEnvs } from '../envs.ts'

const { PATH } = process.env
const NOW = Date.UTC(2030, 0, 2, 3, 4, 5)

/** Git for the test itself; it ignores the user's configuration too. */
function git(folder: string, ...args: string[]): string {
  const env = { PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const identity = ['-c', 'user.name=tester', '-c', 'user.email=tester@localhost', '-c', 'protocol.file.allow=always']
  return execFileSync('git', ['-C', folder, ...identity, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim()
}

function makeRepository(t: TestContext, more: Record<string, string> = {}) {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-repository-')))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  const ws = join(base, 'ws')
  fs.mkdirSync(ws)
  git(ws, 'init', '-q', '-b', 'main')
  const clock = new FakeClock({ now: NOW })
  const envs = createWorkspaceEnvs({ callsDir: join(base, 'calls'), clock, env: { PATH, ...more } })
  const write = (path: string, text: string) => {
    fs.mkdirSync(join(ws, path, '..'), { recursive: true })
    fs.writeFileSync(join(ws, path), text)
  }
  const openEnv = () => envs.open(ws, 'repository')
  return { base, ws, write, openEnv, ops: async () => requireOps(await openEnv(), 'git') }
}

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

describe('a hostile repository', () => {
  /** Returns a command that records its name if git runs it. */
  const trap = (base: string) => (name: string) => `echo ${name} >> ${base}/ran; cat; true`

  test('no program that its configuration names is run', async (t) => {
    const { base, ws, write, ops } = makeRepository(t)
    const trapped = trap(base)
    write('a', 'one\n')
    write('lost', 'lost\n')
    write('.gitattributes', '* filter=e=vil diff=evil\n')
    git(ws, 'add', '-A')
    git(ws, 'commit', '-qm', 'before')
    const lost = git(ws, 'rev-parse', 'HEAD:lost')
    const signed = git(ws, 'cat-file', 'commit', 'HEAD').replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n\n')
    fs.writeFileSync(join(base, 'signed'), `${signed}\n`)
    git(ws, 'reset', '--soft', git(ws, 'hash-object', '-t', 'commit', '-w', join(base, 'signed')))
    fs.mkdirSync(join(ws, '.git/hooks'), { recursive: true })
    for (const hook of ['pre-commit', 'commit-msg', 'post-commit', 'post-index-change', 'reference-transaction'])
      fs.writeFileSync(join(ws, '.git/hooks', hook), `#!/bin/sh\n${trapped(hook)}\n`, { mode: 0o755 })
    const settings: readonly [string, string][] = [
      ['core.fsmonitor', trapped('fsmonitor')],
      ['core.pager', trapped('pager')],
      ['core.editor', trapped('editor')],
      ['diff.external', trapped('external')],
      ['diff.evil.command', trapped('driver')],
      ['diff.evil.textconv', trapped('textconv')],
      ['commit.gpgSign', 'true'],
      ['log.showSignature', 'true'],
      ['gpg.program', join(base, 'gpg')],
      ['filter.e=vil.clean', trapped('clean')],
      ['filter.e=vil.smudge', trapped('smudge')],
      ['filter.e=vil.required', 'true'],
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.promisor', 'true'],
      ['remote.origin.url', `ext::sh -c ${trapped('remote').replaceAll(' ', '% ')}`],
      ['protocol.ext.allow', 'always'],
    ]
    fs.writeFileSync(join(base, 'gpg'), `#!/bin/sh\n${trapped('gpg')}\n`, { mode: 0o755 })
    for (const [key, value] of settings) git(ws, 'config', key, value)
    write('a', 'two\n')
    write('lost', 'found\n')
    const repository = await ops()
    assert.equal((await repository.status()).changes.length, 2)
    assert.match((await repository.diff()).patch, /^-one\n\+two$/m)
    fs.rmSync(join(ws, '.git/objects', lost.slice(0, 2), lost.slice(2)))
    await assert.rejects(repository.diff(), { code: 'tool_failed' })
    assert.equal((await repository.log(1)).length, 1)
    assert.ok(await repository.commit('after'))
    assert.equal(git(ws, 'cat-file', 'blob', 'HEAD:a'), 'two')
    assert.equal(fs.existsSync(join(base, 'ran')), false)
  })

  test('nested repositories and submodules are skipped, and their configuration is not obeyed', async (t) => {
    const { base, ws, write, ops } = makeRepository(t)
    const trapped = trap(base)
    for (const name of ['known', 'unknown']) {
      write(`${name}/f`, 'one\n')
      write(`${name}/.gitattributes`, '* filter=evil\n')
      git(join(ws, name), 'init', '-q')
      git(join(ws, name), 'add', '-A')
      git(join(ws, name), 'commit', '-qm', 'inner')
      if (name === 'known') git(ws, 'add', name)
      git(join(ws, name), 'config', 'core.fsmonitor', trapped(`fsmonitor of ${name}`))
      git(join(ws, name), 'config', 'filter.evil.clean', trapped(`filter of ${name}`))
      write(`${name}/f`, 'two, longer\n')
    }
    git(ws, 'commit', '-qm', 'before')
    write('own', 'x')
    const repository = await ops()
    assert.deepEqual((await repository.status()).changes, [{ path: 'own', kind: 'new' }])
    await repository.diff()
    await repository.commit('mine only')
    assert.equal(git(ws, 'show', '--format=', '--name-only', 'HEAD'), 'own')
    assert.equal(fs.existsSync(join(base, 'ran')), false)
  })

  test('case 37: a work tree whose .git or configuration points elsewhere reaches no other repository', async (t) => {
    const { base, ws, write, openEnv } = makeRepository(t)
    const other = join(base, 'other')
    fs.mkdirSync(other)
    git(other, 'init', '-q')
    git(other, 'commit', '-qm', 'theirs', '--allow-empty')
    fs.writeFileSync(join(other, 'private'), 'x')
    write('a', 'x')

    git(ws, 'config', 'core.worktree', other)
    const env = await openEnv()
    const repository = requireOps(env, 'git')
    assert.deepEqual((await repository.status()).changes, [{ path: 'a', kind: 'new' }])
    await repository.commit('mine')
    assert.equal(git(other, 'log', '--format=%s'), 'theirs')

    const forge = (folder: string) => {
      fs.mkdirSync(folder, { recursive: true })
      fs.writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
      fs.writeFileSync(join(folder, 'gitdir'), `${join(ws, '.git')}\n`)
      fs.writeFileSync(join(folder, 'commondir'), `${join(other, '.git')}\n`)
      fs.writeFileSync(join(ws, '.git'), `gitdir: ${folder}\n`)
    }
    const claims: readonly (() => void)[] = [
      () => fs.writeFileSync(join(ws, '.git/commondir'), join(other, '.git')),
      () => fs.rmSync(join(ws, '.git'), { recursive: true }),
      () => fs.writeFileSync(join(ws, '.git'), `gitdir: ${join(other, '.git')}\n`),
      () => {
        git(other, 'worktree', 'add', '-q', '--detach', join(base, 'linked'))
        fs.copyFileSync(join(base, 'linked/.git'), join(ws, '.git'))
      },
      () => forge(join(ws, 'forged')),
      () => forge(join(ws, 'forged/worktrees/ws')),
      () => {
        fs.rmSync(join(ws, '.git'))
        fs.symlinkSync(join(other, '.git'), join(ws, '.git'))
      },
    ]
    for (const claim of claims) {
      claim()
      await assert.rejects(repository.commit('theirs?'), { code: 'tool_failed', message: /not the top folder/ })
      assert.match(JSON.stringify(await env.health()), /"ok":false.*not the top folder/)
    }
    assert.equal(git(other, 'log', '--format=%s'), 'theirs')
  })

  test('git variables and the user configuration are ignored', async (t) => {
    const { base, ws, write, ops } = makeRepository(t, { GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/nowhere/index' })
    const home = join(base, 'home')
    fs.mkdirSync(home)
    fs.writeFileSync(join(home, '.gitconfig'), '[core]\n\tbare = nonsense\n')
    write('a', 'x')
    assert.equal(await (await ops()).commit('x'), git(ws, 'rev-parse', 'HEAD'))
    const withHome = makeRepository(t, { HOME: home })
    withHome.write('a', 'x')
    assert.ok(await (await withHome.ops()).commit('x'))
  })

  test('Q8: an env whose repository is broken is unhealthy, with the reason', async (t) => {
    const { ws, openEnv } = makeRepository(t)
    const env = await openEnv()
    assert.deepEqual(await env.health(), { ok: true })
    fs.rmSync(join(ws, '.git/HEAD'))
    assert.match(JSON.stringify(await env.health()), /"ok":false.*repository is incomplete/)
  })
})
