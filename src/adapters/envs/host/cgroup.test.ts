/** Cgroups in folders that imitate the kernel's: where a group is created, and which limits are set. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeCommandGroup } from './cgroup.ts'

const LIMITS = { processes: 77, memoryBytes: 5_000_000, freeDiskBytes: 0 }

function makeMachine(t: TestContext, mounts: readonly string[], groups: readonly string[]) {
  const base = mkdtempSync(join(tmpdir(), 'tireless-groups-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const files = { groups: join(base, 'groups'), mounts: join(base, 'mounts'), isRoot: false }
  writeFileSync(files.mounts, mounts.map((line) => line.replaceAll('BASE', base)).join('\n'))
  writeFileSync(files.groups, groups.join('\n'))
  const put = (path: string, names: Record<string, string>): void => {
    mkdirSync(join(base, path), { recursive: true })
    for (const [name, text] of Object.entries(names)) writeFileSync(join(base, path, name), text)
  }
  const made = (path: string): string[] => readdirSync(join(base, path)).filter((name) => name.startsWith('tireless-'))
  return { base, files, put, made }
}

const V1 = [
  '30 25 0:26 / BASE/pids rw - cgroup cgroup rw,pids',
  '31 25 0:27 / BASE/memory rw - cgroup cgroup rw,memory',
]
const V2 = ['30 25 0:26 / BASE/all rw - cgroup2 cgroup2 rw']

test('cgroup v1: creates a group below our own in each hierarchy, with limits; a command joins all of them', (t) => {
  const { base, files, put, made } = makeMachine(t, V1, ['8:pids:/mine', '4:memory:/'])
  put('pids/mine', {})
  put('memory', {})
  const group = makeCommandGroup(LIMITS, files)
  assert.deepEqual(
    { version: group?.version, enforces: [...(group?.enforces ?? [])].sort() },
    { version: 1, enforces: ['memory', 'processes'] },
  )
  const [pids, memory] = [
    join(base, 'pids/mine', made('pids/mine')[0] ?? ''),
    join(base, 'memory', made('memory')[0] ?? ''),
  ]
  assert.equal(readFileSync(join(pids, 'pids.max'), 'utf8'), '77')
  assert.equal(readFileSync(join(memory, 'memory.limit_in_bytes'), 'utf8'), '5000000')
  assert.deepEqual(group?.joinFiles, [join(pids, 'cgroup.procs'), join(memory, 'cgroup.procs')])
})

test('cgroup v1: creates no group inside a memory group other than the root', (t) => {
  const { files, put, made } = makeMachine(t, V1, ['8:pids:/', '4:memory:/somebody/else'])
  put('pids', {})
  put('memory/somebody/else', {})
  assert.deepEqual([...(makeCommandGroup(LIMITS, files)?.enforces ?? [])], ['processes'])
  assert.deepEqual(made('memory/somebody/else'), [])
})

test('cgroup v2: creates the group beside our own if the parent delegates controllers', (t) => {
  const { base, files, put, made } = makeMachine(t, V2, ['0::/user/app.slice/mine.scope'])
  put('all/user/app.slice', { 'cgroup.procs': '', 'cgroup.subtree_control': 'memory pids' })
  put('all/user/app.slice/mine.scope', { 'cgroup.procs': '', 'cgroup.subtree_control': '' })
  // The kernel refuses this write in a group with processes; a folder makes the write fail here.
  rmSync(join(base, 'all/user/app.slice/mine.scope/cgroup.subtree_control'))
  mkdirSync(join(base, 'all/user/app.slice/mine.scope/cgroup.subtree_control'))
  const group = makeCommandGroup(LIMITS, files)
  assert.deepEqual(
    { version: group?.version, enforces: [...(group?.enforces ?? [])].sort() },
    { version: 2, enforces: ['memory', 'processes'] },
  )
  const folder = join(base, 'all/user/app.slice', made('all/user/app.slice')[0] ?? '')
  assert.deepEqual(
    ['pids.max', 'memory.max', 'memory.swap.max'].map((name) => readFileSync(join(folder, name), 'utf8')),
    ['77', '5000000', '0'],
  )
  writeFileSync(join(folder, 'pids.current'), '12\n')
  assert.equal(group?.count(), 12)
  assert.equal(group?.exists(), true)
  rmSync(folder, { recursive: true })
  assert.equal(group?.exists(), false)
})

test('cgroup v2: as root, creates the group only below our own, also in a cgroup namespace', (t) => {
  const { files, put, made } = makeMachine(t, ['30 25 0:26 /pod/x BASE/all rw - cgroup2 cgroup2 rw'], ['0::/pod/x'])
  put('all', { 'cgroup.procs': '', 'cgroup.subtree_control': 'pids' })
  const group = makeCommandGroup(LIMITS, { ...files, isRoot: true })
  assert.equal(group?.version, 2)
  assert.equal(made('all').length, 1)
})

test('no group if none can be created, and nothing is left over; groups of dead processes are removed', (t) => {
  const { base, files, put, made } = makeMachine(t, V2, ['0::/mine'])
  assert.equal(makeCommandGroup(LIMITS, files), undefined)
  assert.equal(makeCommandGroup(LIMITS, { ...files, groups: '/nowhere', mounts: '/nowhere' }), undefined)
  put('all/mine', { 'cgroup.procs': '', 'cgroup.subtree_control': 'pids' })
  mkdirSync(join(base, 'all/mine/tireless-99999999-0'))
  assert.ok(makeCommandGroup(LIMITS, files))
  assert.equal(existsSync(join(base, 'all/mine/tireless-99999999-0')), false)
  assert.equal(made('all/mine').length, 1)
})
