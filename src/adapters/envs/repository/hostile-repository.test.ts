/** Repositories that try to make git run their programs or reach another repository. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { git, makeRepository } from '../../../../test/support/git-repository.ts'
import { requireOps } from '../../../ports/env.ts'

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
