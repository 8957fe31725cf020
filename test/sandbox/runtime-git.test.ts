/**
 * The runtime's own git in trees with everything that git obeys: none of it runs on the machine. All traps are placed
 * on the disk directly, as if no guard existed, and reached through every entry that runs git: `run --workspace`, the
 * watched folders of an agent, and the git of an env.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createGit, type GitSandbox, gitWithoutSandbox } from '../../src/adapters/envs/git.ts'
import { describeGitChanges, gitFingerprint } from '../../src/adapters/envs/git-changes.ts'
import { requireOps } from '../../src/ports/env.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'

interface TrappedTree {
  readonly ws: string
  /** A command that leaves a trace on the machine. */
  readonly trap: string
  readonly git: (folder: string, ...args: string[]) => string
}

function gitOf(folder: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const named = ['-c', 'user.name=o', '-c', 'user.email=o@w', '-c', 'protocol.file.allow=always']
  return execFileSync('git', ['-C', folder, ...named, ...args], { env, encoding: 'utf8', stdio: 'pipe' })
}

/** A repository with one commit and every setting that names a program. */
function armed(folder: string, { trap, git }: TrappedTree): void {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '-q', '-b', 'main')
  writeFileSync(join(folder, '.gitattributes'), '* filter=evil diff=evil merge=evil\n')
  writeFileSync(join(folder, 'file'), 'one\n')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-qm', 'inner')
  arm(join(folder, '.git'), trap)
  writeFileSync(join(folder, 'file'), 'two, and longer\n')
}

function arm(gitFolder: string, trap: string): void {
  appendFileSync(join(gitFolder, 'config'), settings(trap))
  mkdirSync(join(gitFolder, 'hooks'), { recursive: true })
  for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction', 'pre-commit', 'post-commit'])
    writeFileSync(join(gitFolder, 'hooks', hook), `#!/bin/sh\n${trap}\n`, { mode: 0o755 })
}

const settings = (trap: string): string => `
[core]
	fsmonitor = "${trap}; true"
	pager = "${trap}; cat"
	editor = "${trap}"
	sshCommand = "${trap}"
	askPass = "${trap}"
[filter "evil"]
	clean = "${trap}; cat"
	smudge = "${trap}; cat"
	required = true
[filter "other"]
	process = "${trap}; cat"
[diff]
	external = "${trap}"
[diff "evil"]
	command = "${trap}"
	textconv = "${trap}; cat"
[merge "evil"]
	driver = "${trap}"
[alias]
	status = "!${trap}"
	log = "!${trap}"
[credential]
	helper = "!${trap}"
[log]
	showSignature = true
[gpg]
	program = "${trap}"
`

/**
 * Registers a nested repository in the index, as `git add` does: the status of the outer one then also asks the inner
 * one.
 */
function linkInto(index: string, path: string, { git }: TrappedTree, head: string): void {
  git(index, 'update-index', '--add', '--cacheinfo', `160000,${head.trim()},${path}`)
  git(index, 'commit', '-qm', 'linked')
}

const REPOSITORY_TRAPS: readonly (readonly [name: string, plant: (planted: TrappedTree) => void])[] = [
  [
    'a nested repository under node_modules in the index',
    (planted) => {
      armed(join(planted.ws, 'node_modules/x'), planted)
      linkInto(
        planted.ws,
        'node_modules/x',
        planted,
        planted.git(join(planted.ws, 'node_modules/x'), 'rev-parse', 'HEAD'),
      )
    },
  ],
  [
    'a .git that links to a trapped folder',
    (planted) => {
      const { ws } = planted
      armed(join(ws, 'inner'), planted)
      linkInto(ws, 'inner', planted, planted.git(join(ws, 'inner'), 'rev-parse', 'HEAD'))
      cpSync(join(ws, 'inner/.git'), join(ws, 'elsewhere'), { recursive: true })
      rmSync(join(ws, 'inner/.git'), { recursive: true })
      symlinkSync('../elsewhere', join(ws, 'inner/.git'))
    },
  ],
  [
    'a .git file that points to a trapped folder',
    (planted) => {
      const { ws } = planted
      armed(join(ws, 'inner'), planted)
      linkInto(ws, 'inner', planted, planted.git(join(ws, 'inner'), 'rev-parse', 'HEAD'))
      cpSync(join(ws, 'inner/.git'), join(ws, 'elsewhere'), { recursive: true })
      rmSync(join(ws, 'inner/.git'), { recursive: true })
      writeFileSync(join(ws, 'inner/.git'), 'gitdir: ../elsewhere\n')
    },
  ],
  [
    'a submodule whose repository is inside .git',
    (planted) => {
      const { ws, trap } = planted
      armed(join(ws, '../source'), planted)
      planted.git(ws, 'submodule', 'add', '-q', join(ws, '../source'), 'sub')
      planted.git(ws, 'commit', '-qm', 'submodule')
      arm(join(ws, '.git/modules/sub'), trap)
      writeFileSync(join(ws, 'sub/file'), 'three, and longer\n')
    },
  ],
  ['the repository of the workspace itself', ({ ws, trap }) => arm(join(ws, '.git'), trap)],
  [
    'a file that the configuration includes',
    ({ ws, trap }) => {
      writeFileSync(join(ws, 'included'), settings(trap))
      appendFileSync(join(ws, '.git/config'), '[include]\n\tpath = ../included\n')
    },
  ],
  [
    'a configuration of the worktree',
    ({ ws, trap, git }) => {
      git(ws, 'config', 'extensions.worktreeConfig', 'true')
      writeFileSync(join(ws, '.git/config.worktree'), settings(trap))
    },
  ],
  [
    'a remote that is a program, for missing objects',
    ({ ws, trap, git }) => {
      for (const [key, value] of [
        ['core.repositoryFormatVersion', '1'],
        ['extensions.partialClone', 'origin'],
        ['remote.origin.promisor', 'true'],
        ['remote.origin.url', `ext::sh -c ${trap.replaceAll(' ', '% ')}`],
        ['protocol.ext.allow', 'always'],
      ] as const)
        git(ws, 'config', key, value)
      const lost = git(ws, 'rev-parse', 'HEAD:file').trim()
      rmSync(join(ws, '.git/objects', lost.slice(0, 2), lost.slice(2)))
    },
  ],
  [
    'another common folder',
    (planted) => {
      armed(join(planted.ws, 'evil'), planted)
      writeFileSync(join(planted.ws, '.git/commondir'), '../evil/.git\n')
    },
  ],
  [
    'a repository without a .git at the top',
    ({ ws, trap }) => {
      arm(join(ws, '.git'), trap)
      for (const name of ['HEAD', 'objects', 'refs', 'config', 'hooks', 'index'])
        cpSync(join(ws, '.git', name), join(ws, name), { recursive: true })
      rmSync(join(ws, '.git'), { recursive: true })
    },
  ],
]

function trappedRepository(t: TestContext): TrappedTree & { readonly proof: string } {
  const base = freshFolder(t, 'own-git')
  const [ws, proof] = [join(base, 'ws'), join(base, 'proof')]
  mkdirSync(ws)
  gitOf(ws, 'init', '-q', '-b', 'main')
  writeFileSync(join(ws, '.gitattributes'), '* filter=evil diff=evil\n')
  writeFileSync(join(ws, 'file'), 'one\n')
  gitOf(ws, 'add', '-A')
  gitOf(ws, 'commit', '-qm', 'first')
  return { ws, proof, trap: `touch ${proof}`, git: gitOf }
}

/** Every way in which the runtime runs git in a workspace. */
async function runEveryGitEntry(
  t: TestContext,
  { ws, proof }: { readonly ws: string; readonly proof: string },
  yaml: string,
) {
  const app = await openApp(t, { model: scriptedModel(() => ({ text: 'done' })), yaml })
  await app.run('run', { task: 'x', workspace: ws }).catch(() => {})
  assert.equal(existsSync(proof), false, 'run --workspace, nothing changed')
  writeFileSync(join(ws, 'file'), 'changed\n')
  await app.run('run', { task: 'x', workspace: ws }).catch(() => {})
  assert.equal(existsSync(proof), false, 'run --workspace, with changes')
  const { git: host } = app.service('sandbox')
  for (const look of [gitFingerprint(ws, host), describeGitChanges(ws, host, undefined)]) await look.catch(() => {})
  assert.equal(existsSync(proof), false, 'the watched folders of an agent')
  const env = await app.service('envs').open(ws)
  if (env.groups.includes('git')) {
    const git = requireOps(env, 'git')
    for (const look of [git.status, git.diff, () => git.log(3), () => git.commit('mine')]) await look().catch(() => {})
  }
  assert.equal(existsSync(proof), false, 'the git of an env')
}

describe("the runtime's git runs nothing from a tree that an agent can write", () => {
  for (const [where, yaml, skip] of [
    ['in the sandbox', 'sandbox: required', WITHOUT_SANDBOX],
    ['without a sandbox', 'sandbox: off', false],
  ] as const)
    for (const [name, plant] of REPOSITORY_TRAPS)
      test(`git ${where} does not run a trap: ${name}`, { skip }, async (t) => {
        const place = trappedRepository(t)
        plant(place)
        await runEveryGitEntry(t, place, yaml)
      })

  test('a program that git is made to run can write neither outside nor the workspace, and has no network', {
    skip: WITHOUT_SANDBOX,
  }, async (t) => {
    const { ws, proof } = trappedRepository(t)
    const app = await openApp(t)
    const tree = { top: ws, gitFolder: join(ws, '.git'), common: join(ws, '.git') }
    const runInGit = (host: GitSandbox, command: string) => createGit(tree, host)(['-c', `alias.x=!${command}`, 'x'])
    const { git: host } = app.service('sandbox')
    await runInGit(host, `touch ${proof}`)
    assert.equal(existsSync(proof), false)
    await runInGit(gitWithoutSandbox(host.env), `touch ${proof}`)
    assert.equal(existsSync(proof), true, 'control')
    for (const command of [
      `touch ${join(ws, 'proof')}`,
      `touch ${join(ws, '.git/proof')}`,
      `cat ${join(app.service('home').root, 'tireless.db')}`,
      'test "$(grep -c : /proc/net/dev)" -gt 1',
    ]) {
      assert.equal((await runInGit(host, command)).ok, false, command)
      assert.equal((await runInGit(gitWithoutSandbox(host.env), command)).ok, true, `control: ${command}`)
    }
    assert.match((await runInGit(host, 'echo it ran')).output, /it ran/)
  })

  test('a tree without traps works: changes are found, and a worktree is created beside them', {
    skip: WITHOUT_SANDBOX,
  }, async (t) => {
    const { ws } = trappedRepository(t)
    const app = await openApp(t, { model: scriptedModel(() => ({ text: 'done' })), yaml: 'sandbox: required' })
    const run = async () => await app.run('run', { task: 'x', workspace: ws })
    assert.equal((await run()).workspace, ws)
    writeFileSync(join(ws, 'file'), 'changed\n')
    const beside = (await run()).workspace
    assert.notEqual(beside, ws)
    assert.equal(gitOf(beside, 'log', '--format=%s'), 'first\n')
    assert.match(gitOf(ws, 'worktree', 'list'), new RegExp(beside))
    const git = requireOps(await app.service('envs').open(ws), 'git')
    assert.deepEqual((await git.status()).changes, [{ path: 'file', kind: 'changed' }])
    assert.equal(await git.commit('mine'), gitOf(ws, 'rev-parse', 'HEAD').trim())
  })
})
