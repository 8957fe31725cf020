import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Snapshots } from '../../../ports/snapshots.ts'
import { systemClock } from '../../system/clock.ts'
import { createWorkspaceSnapshots } from './snapshots.ts'

interface Setup {
  readonly snapshots: Snapshots
  readonly workspace: string
  readonly repository: string
  readonly warnings: string[]
  readonly target: (name: string) => string
}

function setUp(t: TestContext): Setup {
  const root = mkdtempSync(join(tmpdir(), 'tireless-snapshots-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [workspace, repository] = [join(root, 'workspace'), join(root, 'workspaces.git')]
  mkdirSync(workspace)
  const warnings: string[] = []
  const limits = { files: 10, bytes: 1_000_000, git: { files: 60, bytes: 1_000_000 } }
  const warn = (message: string): void => void warnings.push(message)
  const snapshots = createWorkspaceSnapshots({ folder: repository, clock: systemClock, warn, limits })
  return { snapshots, workspace, repository, warnings, target: (name) => join(root, name) }
}

const textIn = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8')

test('a file that is rewritten immediately, with the same size and mtime, is read again', async (t) => {
  const { snapshots, workspace, target } = setUp(t)
  const file = join(workspace, 'a.txt')
  for (let turn = 0; turn < 20; turn += 1) {
    writeFileSync(file, `turn ${String(turn).padStart(2, '0')}`)
    utimesSync(file, 1, 1)
    await snapshots.take(workspace, { run_id: 'r', turn })
  }
  for (let turn = 0; turn < 20; turn += 1) {
    await snapshots.copyTo(target(`t${turn}`), { workspace, step: { run_id: 'r', turn }, as: `f${turn}` })
    assert.equal(textIn(target(`t${turn}`), 'a.txt'), `turn ${String(turn).padStart(2, '0')}`)
  }
})

test('a snapshot runs and obeys nothing in the workspace, and restores names and bytes exactly', async (t) => {
  const { snapshots, workspace, repository, target } = setUp(t)
  const proof = target('planted-code-ran')
  mkdirSync(join(workspace, 'nested'))
  execFileSync('git', ['init', '-q', join(workspace, 'nested')])
  for (const [key, value] of [
    ['filter.x.clean', `touch ${proof}; cat`],
    ['filter.x.smudge', `touch ${proof}; cat`],
    ['core.fsmonitor', `touch ${proof}`],
  ])
    execFileSync('git', ['-C', join(workspace, 'nested'), 'config', key ?? '', value ?? ''])
  writeFileSync(join(workspace, 'nested', '.gitattributes'), '* filter=x\n')
  const bytes = Buffer.from([0, 255, 13, 10, 200, 13])
  writeFileSync(Buffer.from(`${workspace}/nested/\xff name\n`, 'latin1'), bytes)
  await snapshots.take(workspace, { run_id: 'r', turn: 1 })
  rmSync(join(workspace, 'nested'), { recursive: true })
  assert.equal(await snapshots.copyTo(target('fork'), { workspace, step: { run_id: 'r', turn: 1 }, as: 'f' }), 'kept')
  assert.deepEqual(readFileSync(Buffer.from(`${target('fork')}/nested/\xff name\n`, 'latin1')), bytes)
  assert.throws(() => statSync(proof), { code: 'ENOENT' })
  const listing = execFileSync('git', ['--git-dir', repository, 'ls-tree', '-r', '--name-only', 'refs/steps/r/1'])
  assert.match(listing.toString(), /nested\/\.gitattributes/)
  execFileSync('git', ['--git-dir', repository, 'fsck', '--strict'])
})

test('objects that only forgotten runs used are removed; shared objects stay', async (t) => {
  const { snapshots, workspace, repository, target } = setUp(t)
  const objects = (): number => readdirSync(join(repository, 'objects'), { recursive: true }).length
  writeFileSync(join(workspace, 'shared.txt'), 'shared')
  await snapshots.take(workspace, { run_id: 'stays', turn: 1 })
  const before = objects()
  writeFileSync(join(workspace, 'own.txt'), 'own')
  await snapshots.take(workspace, { run_id: 'goes', turn: 1 })
  assert.ok(objects() > before)
  await snapshots.forget(['goes'])
  assert.deepEqual(
    { goes: await snapshots.hasAny('goes'), stays: await snapshots.hasAny('stays') },
    { goes: false, stays: true },
  )
  await snapshots.copyTo(target('fork'), { workspace, step: { run_id: 'stays', turn: 1 }, as: 'f' })
  assert.deepEqual(readdirSync(target('fork')), ['shared.txt'])
})

test('a workspace that grows too large loses its snapshots, so that no outdated one is used', async (t) => {
  const { snapshots, workspace, warnings } = setUp(t)
  await snapshots.take(workspace, { run_id: 'r', turn: 1 })
  assert.equal(await snapshots.hasAny('r'), true)
  for (let n = 0; n <= 10; n += 1) writeFileSync(join(workspace, String(n)), '')
  await snapshots.take(workspace, { run_id: 'r', turn: 2 })
  assert.equal(await snapshots.hasAny('r'), false)
  assert.match(warnings.join(), /more than 10 files/)
})

test('the changes of each step and the versions of a file come from the snapshots', async (t) => {
  const { snapshots, workspace } = setUp(t)
  const step = async (turn: number, change: () => void): Promise<void> => {
    change()
    await snapshots.take(workspace, { run_id: 'r', turn })
  }
  await step(0, () => writeFileSync(join(workspace, 'a.txt'), 'one'))
  await step(2, () => {
    mkdirSync(join(workspace, 'sub'))
    writeFileSync(join(workspace, 'sub', 'b.txt'), 'new')
  })
  await step(3, () => writeFileSync(join(workspace, 'a.txt'), 'two'))
  await step(5, () => rmSync(join(workspace, 'sub'), { recursive: true }))
  assert.deepEqual(await snapshots.changesOf('r'), [
    { turn: 2, paths: ['sub/b.txt'] },
    { turn: 3, paths: ['a.txt'] },
    { turn: 5, paths: ['sub/b.txt'] },
  ])
  const read = async (path: string): Promise<unknown[]> =>
    (await snapshots.versionsOf('r', path)).map(({ turn, content }) => [turn, content && String(content)])
  assert.deepEqual(
    await read('a.txt'),
    [0, 2, 3, 5].map((turn) => [turn, turn < 3 ? 'one' : 'two']),
  )
  assert.deepEqual(
    await read('./sub/b.txt'),
    [0, 2, 3, 5].map((turn) => [turn, turn === 2 || turn === 3 ? 'new' : null]),
  )
  assert.deepEqual([await snapshots.changesOf('other'), await snapshots.versionsOf('other', 'a.txt')], [[], []])
})

test('the files that a run made are those that it left, not what others changed meanwhile', async (t) => {
  const { snapshots, workspace } = setUp(t)
  const write = (name: string, text: string): void => writeFileSync(join(workspace, name), text)
  const take = (turn: number, before?: true): Promise<unknown> =>
    snapshots.take(workspace, { run_id: 'r', turn, ...(before && { before }) })
  write('a.txt', 'one')
  await take(0, true)
  write('a.txt', 'two')
  write('b.txt', 'new')
  write('c.txt', 'removed later')
  await take(1)
  write('by-the-owner.txt', 'mine')
  await take(1, true)
  rmSync(join(workspace, 'c.txt'))
  await take(2)
  assert.deepEqual(await snapshots.filesMadeBy('r'), ['a.txt', 'b.txt'])
  assert.deepEqual(await snapshots.filesMadeBy('other'), [])
})
