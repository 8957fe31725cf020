import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
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

test('a workspace that grows too large keeps its snapshots; what was covered before stays covered', async (t) => {
  const { snapshots, workspace, warnings } = setUp(t)
  const put = (path: string, bytes = 1): void => writeFileSync(join(workspace, path), 'x'.repeat(bytes))
  for (const folder of ['old', 'new', 'new/deep']) mkdirSync(join(workspace, folder))
  for (const name of ['a', 'old/b', 'old/c', 'old/d']) put(name)
  const before = await snapshots.take(workspace, { run_id: 'r', turn: 1, before: true })
  for (let n = 0; n < 9; n += 1) put(`new/deep/${n}`)
  for (const name of ['new/e', 'new/f']) put(name)
  put('large', 900_000)
  put('larger', 950_000)
  const after = await snapshots.take(workspace, { run_id: 'r', turn: 2 })
  assert.ok(before && after)
  assert.deepEqual(Object.fromEntries(await snapshots.omittedFrom(after)), {
    'new/deep': 'too_large',
    larger: 'too_large',
  })
  const changes = await snapshots.compare(before, after)
  assert.deepEqual(
    changes.map(({ path }) => path),
    ['large', 'new/e', 'new/f'],
  )
  rmSync(join(workspace, 'new/deep'), { recursive: true })
  const shrunk = await snapshots.take(workspace, { run_id: 'r', turn: 3, before: true })
  assert.deepEqual([...(await snapshots.omittedFrom(shrunk ?? '')).keys()], ['larger'])
  // What one of them has not seen was neither added nor removed.
  assert.deepEqual(await snapshots.compare(after, shrunk ?? ''), [])
  assert.match(warnings.join(), /^left out 1 paths: .*larger \(too_large\)$/)
})

test('O7: objects and their names are on disk before anything names the snapshot', (t) => {
  if (spawnSync('strace', ['-V']).status !== 0) return t.skip('strace is missing')
  const { workspace, repository, target } = setUp(t)
  writeFileSync(join(workspace, 'a.txt'), 'one')
  const load = (path: string): string => JSON.stringify(import.meta.resolve(path))
  const script = `import { createWorkspaceSnapshots } from ${load('./snapshots.ts')}
    import { systemClock } from ${load('../../system/clock.ts')}
    const options = { folder: ${JSON.stringify(repository)}, clock: systemClock, warn: console.error }
    const step = { run_id: 'r', turn: 1, before: true }
    await createWorkspaceSnapshots(options).take(${JSON.stringify(workspace)}, step)`
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  const log = target('strace')
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
  execFileSync('strace', ['-f', '-y', '-o', log, '-e', 'trace=fsync,/^(rename|write)', ...node], { env })
  const calls = readFileSync(log, 'utf8').matchAll(/ (fsync|rename|write)\w*\(.*?workspaces\.git\/(\w+)/g)
  const order = [...calls].map(([, call, part]) => `${call} ${part}`).filter((call) => call !== 'write HEAD')
  const steps = order.filter((call, i) => call !== order[i - 1])
  assert.deepEqual(steps.slice(steps.lastIndexOf('write drafts')), [
    ...[
      'write drafts',
      'fsync drafts',
      'rename drafts',
      'fsync objects',
      'write refs',
      'fsync refs',
      'rename refs',
      'fsync refs',
      'write writers',
      'fsync writers',
    ],
  ])
})

test('O7: without room for a snapshot, earlier ones stay; with room again, snapshots go on', async (t) => {
  const { snapshots, workspace, repository, warnings } = setUp(t)
  mkdirSync(repository)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', repository])
  if (mounted.status !== 0) return t.skip('a small disk cannot be mounted here')
  try {
    writeFileSync(join(workspace, '.env'), 'precious')
    const first = await snapshots.take(workspace, { run_id: 'r', turn: 0, before: true })
    rmSync(join(workspace, '.env'))
    await snapshots.take(workspace, { run_id: 'r', turn: 1 })
    writeFileSync(join(workspace, 'large'), randomBytes(300_000))
    assert.equal(await snapshots.take(workspace, { run_id: 'r', turn: 2 }), undefined)
    assert.match(warnings.join(), /ENOSPC|space/)
    assert.deepEqual(readdirSync(join(repository, 'drafts')), [])
    const [span] = await snapshots.spans(['r'])
    assert.equal(span?.before, first)
    const changes = await snapshots.compare(span?.before ?? '', span?.after ?? '')
    assert.deepEqual(
      changes.map(({ path }) => path),
      ['.env'],
    )
    assert.equal(await snapshots.take(workspace, { run_id: 'r', turn: 3, before: true }), undefined)
    writeFileSync(join(workspace, 'by the owner'), '')
    execFileSync('mount', ['-o', 'remount,size=2m', repository])
    assert.ok(await snapshots.take(workspace, { run_id: 'r', turn: 4 }))
    // The owner may have written between the last snapshot and the one that could not be taken.
    assert.deepEqual(await snapshots.spans(['r']), [span])
    assert.ok(await snapshots.take(workspace, { run_id: 'r', turn: 4, before: true }))
    writeFileSync(join(workspace, 'later'), '')
    assert.ok(await snapshots.take(workspace, { run_id: 'r', turn: 5 }))
    const [, later] = await snapshots.spans(['r'])
    assert.deepEqual(
      (await snapshots.compare(later?.before ?? '', later?.after ?? '')).map(({ path }) => path),
      ['later'],
    )
    assert.equal((await snapshots.check(false)).lost.length, 0)
  } finally {
    execFileSync('umount', ['-l', repository])
  }
})

test('a fork of a step without a snapshot starts from the present files, not from an older snapshot', async (t) => {
  const { snapshots, workspace, warnings, target } = setUp(t)
  writeFileSync(join(workspace, 'a.txt'), 'one')
  await snapshots.take(workspace, { run_id: 'r', turn: 1, before: true })
  for (let n = 0; n <= 40; n += 1) writeFileSync(join(workspace, String(n)), '')
  assert.equal(await snapshots.take(workspace, { run_id: 'r', turn: 2 }), undefined)
  assert.match(warnings.join(), /more than 40 entries/)
  const fork = (turn: number): Promise<string> =>
    snapshots.copyTo(target(`t${turn}`), { workspace, step: { run_id: 'r', turn }, as: `f${turn}` })
  assert.deepEqual([await fork(1), await fork(2)], ['kept', 'now'])
})

test('a draft of a killed process is in no way and is removed later; a short one is no object', async (t) => {
  const { snapshots, workspace, repository } = setUp(t)
  const drafts = join(repository, 'drafts')
  mkdirSync(drafts, { recursive: true })
  for (const name of [`${process.pid}-1`, 'old']) writeFileSync(join(drafts, name), 'torn')
  utimesSync(join(drafts, 'old'), 1, 1)
  writeFileSync(join(workspace, 'a.txt'), 'one')
  await snapshots.take(workspace, { run_id: 'r', turn: 1 })
  assert.deepEqual(readdirSync(drafts), [`${process.pid}-1`])
  assert.equal(textIn(drafts, `${process.pid}-1`), 'torn')
  execFileSync('git', ['--git-dir', repository, 'fsck', '--strict'])
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
