/** The git of the runtime, run in the sandbox of the agents' commands. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { sandboxedWorkspace } from '../support/sandboxed-workspace.ts'
import { makeWorkspace } from './escapes.ts'

describe('git in the sandbox', { skip: WITHOUT_SANDBOX }, () => {
  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Owner', '-c', 'user.email=o@w', ...args], { encoding: 'utf8' })

  test('init, commit, branch and log work, and the result can be used outside', async (t) => {
    const { root, run } = await sandboxedWorkspace(t, () => {})
    const made = await run(
      [
        'git init -q && echo a > a && git add a && git commit -qm first && git checkout -qb topic &&',
        'git log --format=%an:%s',
      ].join(' '),
    )
    assert.equal(made.output, 'Tireless:first\n')
    const second = await run(
      'echo b > b && git add -A && git commit -qm second && git status --short && git log --oneline | wc -l',
    )
    assert.equal(second.output, '2\n')
    assert.match(git(root, 'log', '--format=%s'), /^second\nfirst\n$/)
  })

  test('clone into an empty workspace works: no guard file is in its way', async (t) => {
    const { base, root, run } = await sandboxedWorkspace(t, () => {})
    git(base, 'init', '-q', 'ws/source')
    git(join(root, 'source'), 'commit', '-q', '--allow-empty', '-m', 'first')
    assert.equal((await run('mkdir c && cd c && git clone -q ../source . && git log --format=%s')).output, 'first\n')
    assert.equal((await run('ls -A')).output, 'c\nsource\n')
  })

  test('a worktree can commit, and cannot change the rest of its repository', async (t) => {
    const { base, root, run } = await sandboxedWorkspace(t, () => {})
    const main = join(base, 'main')
    git(base, 'init', '-q', '-b', 'main', main)
    git(main, 'commit', '-q', '--allow-empty', '-m', 'first')
    rmSync(root, { recursive: true })
    git(main, 'worktree', 'add', '-q', '--detach', root)
    const before = readFileSync(join(main, '.git/config'), 'utf8')
    const { output } = await run('echo a > a && git add a && git commit -qm mine && git log --format=%s -1')
    assert.equal(output, 'mine\n')
    assert.equal(git(main, 'log', '--format=%s', '-1', git(root, 'rev-parse', 'HEAD').trim()), 'mine\n')
    for (const command of [
      'git config alias.x y',
      'git branch -f main HEAD',
      'echo x > $(git rev-parse --git-common-dir)/hooks/pre-commit',
      'echo "gitdir: /x" > .git',
      'echo "$PWD/evil" > $(git rev-parse --git-dir)/commondir',
      'rm $(git rev-parse --git-dir)/commondir',
      'mv $(git rev-parse --git-dir) $(git rev-parse --git-common-dir)/worktrees/other',
      'ls $(git rev-parse --git-common-dir)/../file',
    ])
      assert.notEqual((await run(command)).exit, 0, command)
    assert.equal(readFileSync(join(main, '.git/config'), 'utf8'), before)
    assert.equal(git(main, 'log', '--format=%s', 'main'), 'first\n')
  })

  test('a worktree can move its own branch', async (t) => {
    const { base, root, run } = await sandboxedWorkspace(t, () => {})
    const main = join(base, 'main')
    git(base, 'init', '-q', '-b', 'main', main)
    git(main, 'commit', '-q', '--allow-empty', '-m', 'first')
    rmSync(root, { recursive: true })
    git(main, 'worktree', 'add', '-q', '-b', 'topic', root)
    assert.equal((await run('git commit -q --allow-empty -m mine')).exit, 0)
    assert.equal(git(main, 'log', '--format=%s', '-1', 'topic'), 'mine\n')
  })

  test('a repository without a hooks folder does not get one', async (t) => {
    const { root, run } = await sandboxedWorkspace(t, (folder) => {
      makeWorkspace(folder)
      rmSync(join(folder, '.git/hooks'), { recursive: true })
    })
    assert.notEqual((await run('mkdir -p .git/hooks && echo x > .git/hooks/pre-commit')).exit, 0)
    assert.deepEqual(readdirSync(join(root, '.git/hooks')), [])
  })
})
