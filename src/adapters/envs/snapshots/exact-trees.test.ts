/** What a snapshot keeps beside contents: permission bits, empty folders, links, repositories; and who wrote when. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Snapshots } from '../../../ports/snapshots.ts'
import { systemClock } from '../../system/clock.ts'
import { createWorkspaceSnapshots } from './snapshots.ts'

interface Setup {
  readonly snapshots: Snapshots
  readonly root: string
  readonly workspace: string
  readonly repository: string
}

function setUp(t: TestContext, gitFiles = 1000): Setup {
  const root = mkdtempSync(join(tmpdir(), 'tireless-trees-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [workspace, repository] = [join(root, 'workspace'), join(root, 'workspaces.git')]
  mkdirSync(workspace)
  const limits = { files: 100, bytes: 1_000_000, git: { files: gitFiles, bytes: 10_000_000 } }
  const warn = (message: string): void => assert.match(message, /^left out/)
  const snapshots = createWorkspaceSnapshots({ folder: repository, clock: systemClock, warn, limits })
  return { snapshots, root, workspace, repository }
}

/** Every path with its type, permission bits and content. */
function listing(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  const describeEntry = (path: string): string => {
    const stats = lstatSync(join(folder, path))
    if (stats.isSymbolicLink()) return `link to ${readlinkSync(join(folder, path))}`
    const bits = (stats.mode & 0o7777).toString(8)
    return stats.isDirectory() ? `folder ${bits}` : `${bits} ${readFileSync(join(folder, path)).toString('base64')}`
  }
  return Object.fromEntries(paths.map((path) => [path, describeEntry(path)]))
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]).toString()

test('a fork gets permission bits, empty folders, links and repositories exactly; git fsck is content', async (t) => {
  const { snapshots, root, workspace, repository } = setUp(t)
  git(root, 'init', '-q', workspace)
  for (const [name, mode] of [
    ['plain', 0o644],
    ['program', 0o755],
    ['secret', 0o600],
    ['group', 0o664],
    ['odd', 0o2711],
    ['.git%', 0o644],
    ['.git%modes', 0o640],
    ['.git%%x', 0o644],
  ] as const) {
    writeFileSync(join(workspace, name), name)
    chmodSync(join(workspace, name), mode)
  }
  mkdirSync(join(workspace, 'empty', 'deep'), { recursive: true })
  chmodSync(join(workspace, 'empty'), 0o700)
  symlinkSync('/nowhere', join(workspace, 'link'))
  mkdirSync(join(workspace, 'linked'))
  symlinkSync('elsewhere', join(workspace, 'linked', '.git'))
  git(workspace, 'add', 'plain')
  git(workspace, 'commit', '-qm', 'first')
  utimesSync(join(workspace, 'plain'), 1, 1_600_000_000.5)
  await snapshots.take(workspace, { run_id: 'r', turn: 1 })
  const expected = listing(workspace)
  writeFileSync(join(workspace, 'later'), '')
  git(workspace, 'add', 'later')
  git(workspace, 'commit', '-qm', 'second')
  const fork = join(root, 'fork')
  await snapshots.copyTo(fork, { workspace, step: { run_id: 'r', turn: 1 }, as: 'f' })
  assert.deepEqual(listing(fork), expected)
  assert.equal(lstatSync(join(fork, 'plain')).mtimeMs, 1_600_000_000_500)
  assert.equal(git(fork, 'log', '--format=%s'), 'first\n')
  execFileSync('git', ['--git-dir', repository, 'fsck', '--strict'])
})

test('a repository beyond its limits is left out alone, and the snapshot says so; a .git file stays out', async (t) => {
  const { snapshots, root, workspace } = setUp(t, 20)
  git(root, 'init', '-q', workspace)
  for (let n = 0; n <= 20; n += 1) writeFileSync(join(workspace, '.git', `big${n}`), '')
  mkdirSync(join(workspace, 'sub', 'node_modules', 'x'), { recursive: true })
  writeFileSync(join(workspace, 'sub', '.git'), 'gitdir: /elsewhere\n')
  writeFileSync(join(workspace, 'a.txt'), 'a')
  const snapshot = await snapshots.take(workspace, { run_id: 'r', turn: 1 })
  assert.ok(snapshot)
  assert.deepEqual(Object.fromEntries(await snapshots.omittedFrom(snapshot)), {
    '.git': 'git_too_large',
    'sub/.git': 'git_file',
    'sub/node_modules': 'dependencies',
  })
  const fork = join(root, 'fork')
  await snapshots.copyTo(fork, { workspace, step: { run_id: 'r', turn: 1 }, as: 'f' })
  assert.ok(existsSync(join(fork, '.git', 'big20')) && existsSync(join(fork, 'sub', '.git')))
})

test('what others write while a run waits is in no span of the run', async (t) => {
  const { snapshots, workspace } = setUp(t)
  const put = (name: string): void => writeFileSync(join(workspace, name), name)
  await snapshots.take(workspace, { run_id: 'r', turn: 0, before: true })
  put('one')
  await snapshots.take(workspace, { run_id: 'r', turn: 1 })
  put('of another')
  await snapshots.take(workspace, { run_id: 'r', turn: 4, before: true })
  put('two')
  mkdirSync(join(workspace, 'folder'))
  await snapshots.take(workspace, { run_id: 'r', turn: 5 })
  await snapshots.take(workspace, { run_id: 'r', turn: 5, before: true })
  chmodSync(join(workspace, 'two'), 0o600)
  await snapshots.take(workspace, { run_id: 'r', turn: 6 })
  const spans = await snapshots.spans()
  const changes = await Promise.all(spans.map(({ before, after }) => snapshots.compare(before, after)))
  assert.deepEqual(
    changes.map((span) => span.map(({ path, before, after }) => [path, before, after?.split(' ', 2).join(' ')])),
    [
      [['one', null, 'f 644']],
      [
        ['folder', null, 'd 755'],
        ['two', null, 'f 600'],
      ],
    ],
  )
  await snapshots.forget(['r'])
  assert.deepEqual(await snapshots.spans(), [])
})

test('when a snapshot before a write is lost, what others did until then is no work of the run', async (t) => {
  const { snapshots, workspace, repository } = setUp(t)
  const put = (name: string): void => writeFileSync(join(workspace, name), name)
  await snapshots.take(workspace, { run_id: 'r', turn: 0, before: true })
  put('one')
  await snapshots.take(workspace, { run_id: 'r', turn: 1 })
  put('of the owner')
  const lost = (await snapshots.take(workspace, { run_id: 'r', turn: 4, before: true })) ?? ''
  put('two')
  await snapshots.take(workspace, { run_id: 'r', turn: 5 })
  rmSync(join(repository, 'objects', lost.slice(0, 2), lost.slice(2)))
  const checked = await snapshots.check(true)
  assert.deepEqual(checked.lost, [{ writer: 'r', paths: null }])
  const spans = await snapshots.spans()
  const changes = await Promise.all(spans.map(({ before, after }) => snapshots.compare(before, after)))
  assert.deepEqual(
    changes.flat().map(({ path }) => path),
    ['one'],
  )
  assert.deepEqual((await snapshots.check(false)).lost, [])
})
