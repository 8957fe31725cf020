/** The git mirror with real git, in normal and hostile environments. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FakeClock } from '../../testing/fake-clock.ts'
import { createBareGit } from '../envs/git.ts'
import { createGitMirror } from './git-mirror.ts'

const { PATH } = process.env

function createMirror(t: TestContext, env: Readonly<Record<string, string | undefined>> = { PATH }) {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'tireless-mirror-')))
  t.after(() => fs.rmSync(root, { recursive: true }))
  const gitDir = join(root, 'versions/kernels/default.git')
  const clock = new FakeClock({ now: Date.UTC(2030, 0, 1) })
  const mirror = createGitMirror({ gitDir, clock, git: createBareGit(root, env) })
  return { root, gitDir, clock, mirror, show: (...args: string[]) => git(gitDir, ...args) }
}

function git(gitDir: string, ...args: string[]): string {
  const env = { PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const identity = ['-c', 'user.name=tester', '-c', 'user.email=tester@localhost']
  return execFileSync('git', ['--git-dir', gitDir, ...identity, ...args], { env, encoding: 'utf8', stdio: 'pipe' })
}

const state = (text: string) => [{ name: 'STATE.md', text }]

test('E10: every call makes a commit with the exact texts, also without a change', async (t) => {
  const { mirror, show, gitDir } = createMirror(t)
  const unusual = '\u{feff}data 5\r\ndone\ncommit refs/heads/main\n中文 no line break'
  await mirror('pre-cycle c1', state('# seed\n'))
  await mirror('post-cycle c1', [...state(unusual), { name: 'GOAL.md', text: '' }])
  await mirror('pre-cycle c2', [...state(unusual), { name: 'GOAL.md', text: '' }])
  await mirror('post-cycle c2', state('# end\n'))
  assert.deepEqual(show('log', '--format=%s|%an|%ae|%ct').trim().split('\n'), [
    ...['post-cycle c2', 'pre-cycle c2', 'post-cycle c1', 'pre-cycle c1'].map(
      (subject) => `${subject}|Tireless|tireless@localhost|${Date.UTC(2030, 0, 1) / 1000}`,
    ),
  ])
  assert.equal(show('show', 'main~2:STATE.md'), unusual)
  assert.equal(show('ls-tree', '--name-only', 'main~1'), 'GOAL.md\nSTATE.md\n')
  assert.equal(show('ls-tree', '--name-only', 'main'), 'STATE.md\n')
  assert.equal(show('fsck', '--strict', '--no-dangling'), '')
  assert.deepEqual(fs.readdirSync(join(gitDir, '..')), ['default.git'])
})

test('case 121: inherited GIT_* variables and git configuration do not affect the mirror', async (t) => {
  const outer = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'tireless-outer-')))
  t.after(() => fs.rmSync(outer, { recursive: true }))
  const outerGit = join(outer, '.git')
  execFileSync('git', ['init', '-q', '-b', 'main', outer], { env: { PATH } })
  fs.writeFileSync(join(outer, 'precious'), 'precious')
  git(outerGit, '--work-tree', outer, 'add', '-A')
  git(outerGit, '--work-tree', outer, 'commit', '-qm', 'precious')
  const hook = join(outer, 'hook')
  fs.writeFileSync(hook, `#!/bin/sh\ntouch ${outer}/hooked\n`, { mode: 0o755 })
  fs.writeFileSync(
    join(outer, '.gitconfig'),
    `[core]\n\thooksPath = ${outer}\n\tfsmonitor = ${hook}\n[user]\n\tname = Evil\n`,
  )
  const hostileEnv = {
    ...{ PATH, HOME: outer, GIT_DIR: outerGit, GIT_WORK_TREE: outer, GIT_INDEX_FILE: join(outerGit, 'index') },
    ...{ GIT_OBJECT_DIRECTORY: join(outerGit, 'objects'), GIT_COMMON_DIR: outerGit, GIT_NAMESPACE: 'evil' },
    ...{ GIT_CONFIG_GLOBAL: join(outer, '.gitconfig'), GIT_AUTHOR_NAME: 'Evil', GIT_COMMITTER_NAME: 'Evil' },
    ...{ GIT_ALTERNATE_OBJECT_DIRECTORIES: join(outerGit, 'objects'), GIT_TEMPLATE_DIR: outer },
  }
  const contents = (): string[] =>
    fs
      .readdirSync(outer, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => `${path} ${fs.statSync(path).mtimeMs} ${fs.readFileSync(path, 'hex')}`)
      .sort()
  const before = contents()
  const { mirror, show } = createMirror(t, hostileEnv)
  await mirror('pre-cycle c1', state('one'))
  await mirror('post-cycle c1', state('two'))
  assert.deepEqual(contents(), before)
  assert.equal(show('log', '--format=%s %an'), 'post-cycle c1 Tireless\npre-cycle c1 Tireless\n')
})

test('case 121: a repository around the home, or behind a redirected mirror, is not changed', async (t) => {
  const { root, mirror, gitDir, show } = createMirror(t)
  execFileSync('git', ['init', '-q', '-b', 'main', root], { env: { PATH } })
  await mirror('pre-cycle c1', state('one'))
  assert.equal(show('log', '--format=%s'), 'pre-cycle c1\n')
  assert.throws(() => git(join(root, '.git'), 'rev-parse', 'HEAD'), 'nothing was committed there')
  const other = join(root, 'other')
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', other], { env: { PATH } })
  for (const redirect of [
    () => fs.symlinkSync(other, gitDir),
    () => fs.writeFileSync(gitDir, `gitdir: ${other}\n`),
    () => fs.cpSync(join(root, '.git'), gitDir, { recursive: true }),
    () => {
      fs.cpSync(other, gitDir, { recursive: true })
      fs.writeFileSync(join(gitDir, 'commondir'), `${other}\n`)
    },
  ]) {
    fs.rmSync(gitDir, { recursive: true })
    redirect()
    await assert.rejects(mirror('post-cycle c1', state('two')), {
      message: /not the mirror, or is redirected|git failed/,
    })
    assert.throws(() => git(other, 'rev-parse', '--verify', 'main'), 'nothing was committed there')
  }
})

test('case 121: nothing is committed if git reports another repository', async (t) => {
  const { root, clock } = createMirror(t)
  const other = join(root, 'other.git')
  fs.mkdirSync(other)
  const verbs: string[] = []
  const redirected = createGitMirror({
    gitDir: join(root, 'mirror.git'),
    clock,
    async git([, gitDir = '', verb = '']) {
      verbs.push(verb)
      if (verb === 'init') fs.mkdirSync(gitDir)
      return { ok: true, output: `${other}\ntrue\n` }
    },
  })
  await assert.rejects(redirected('one', state('one')), {
    code: 'conflict',
    message: /is redirected; got .*other\.git true/,
  })
  assert.deepEqual(verbs, ['init', 'rev-parse'])
})

test('E10: a stale git lock is removed after one minute, a crash report at once', async (t) => {
  const { mirror, gitDir, clock, show } = createMirror(t)
  await mirror('one', state('one'))
  const lock = join(gitDir, 'refs/heads/main.lock')
  fs.writeFileSync(lock, '')
  fs.writeFileSync(join(gitDir, 'index.lock'), '')
  for (const path of [lock, join(gitDir, 'index.lock')]) fs.utimesSync(path, clock.now() / 1000, clock.now() / 1000)
  await clock.advance(59_000)
  await assert.rejects(mirror('two', state('two')), { code: 'tool_failed', message: /main\.lock.*do this: / })
  assert.ok(fs.existsSync(lock))
  await clock.advance(2000)
  await mirror('three', state('three'))
  assert.equal(show('log', '--format=%s'), 'three\none\n')
  assert.deepEqual(
    fs.readdirSync(gitDir).filter((name) => /lock|crash/.test(name)),
    [],
  )
})

test('E10: a missing git is reported', async (t) => {
  const { mirror } = createMirror(t, { PATH: '/nowhere' })
  await assert.rejects(mirror('one', state('one')), { message: /git failed; got .*ENOENT/ })
})

test('case 142: many loose objects are packed', async (t) => {
  const { mirror, gitDir, show } = createMirror(t)
  await mirror('first', state('one'))
  // Git estimates the number of objects from one of 256 folders; these files look like hundreds of commits.
  fs.mkdirSync(join(gitDir, 'objects', '17'), { recursive: true })
  for (let n = 0; n < 20; n += 1) fs.writeFileSync(join(gitDir, 'objects', '17', n.toString(16).padStart(38, '0')), '')
  await mirror('second', state('two'))
  assert.match(show('count-objects', '-v'), /packs: 1/)
})
