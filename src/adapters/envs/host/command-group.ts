/**
 * One control group of the kernel for all commands of this process: what it holds, it holds for root, for all of them together, and without
 * our help. Version 1 and version 2. Where none can be made, `resource-limits.ts` counts instead.
 */

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { ResourceLimits } from './resource-limits.ts'

export interface CommandGroup {
  readonly version: 1 | 2
  readonly holds: ReadonlySet<'processes' | 'memory'>
  /** Files that a process writes a 0 to, to be in the group with all it starts. */
  readonly joins: readonly string[]
  /** Contract: whether it is still there: whoever takes it for left over may have removed it. */
  exists(): boolean
  /** Contract: how many processes and threads are in it; undefined where it does not count them. */
  count(): number | undefined
  /** Contract: removes the group, if nothing is in it any more. */
  close(): void
}

/** Where the kernel says what it has; tests have their own. */
export interface ControlFiles {
  readonly groups: string
  readonly mounts: string
  readonly isRoot: boolean
}

export const CONTROL_FILES: ControlFiles = {
  groups: '/proc/self/cgroup',
  mounts: '/proc/self/mountinfo',
  isRoot: process.getuid?.() === 0,
}

const PREFIX = 'tireless-'

/** Contract: undefined where none can be made; leaves nothing behind then. */
export function makeCommandGroup(limits: ResourceLimits, files = CONTROL_FILES): CommandGroup | undefined {
  const { own, mounts } = readHierarchies(files)
  return makeUnified(limits, own, mounts, files) ?? makeSeparate(limits, own, mounts)
}

interface Hierarchy {
  /** `cgroup2`, or the controllers of version 1. */
  readonly controllers: readonly string[]
  readonly at: string
  /** What of the hierarchy is mounted there. */
  readonly root: string
}

interface Hierarchies {
  /** Our own group by controller; of version 2 by the empty name. */
  readonly own: ReadonlyMap<string, string>
  readonly mounts: readonly Hierarchy[]
}

function readHierarchies({ groups, mounts }: ControlFiles): Hierarchies {
  const own = linesOf(groups).flatMap((line) => {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    return path === '' ? [] : controllers.split(',').map((name) => [name, path] as const)
  })
  const found = linesOf(mounts).flatMap((line): Hierarchy[] => {
    const [before = '', behind = ''] = line.split(' - ')
    const [, , , root = '', at = ''] = before.split(' ')
    const [type = '', , options = ''] = behind.split(' ')
    if (type === 'cgroup2') return [{ controllers: ['cgroup2'], at, root }]
    return type === 'cgroup' ? [{ controllers: options.split(','), at, root }] : []
  })
  return { own: new Map(own), mounts: found }
}

/** Contract: where our own group of that hierarchy is, as a folder. */
function folderOf({ at, root }: Hierarchy, path: string): string | undefined {
  if (root === '/') return join(at, path)
  return path === root || path.startsWith(`${root}/`) ? join(at, path.slice(root.length)) : undefined
}

/** Ours, or the one around it: a group that has processes of its own may hand nothing down. */
function makeUnified(
  limits: ResourceLimits,
  own: Hierarchies['own'],
  mounts: Hierarchies['mounts'],
  { isRoot }: ControlFiles,
): CommandGroup | undefined {
  const mount = mounts.find(({ controllers }) => controllers.includes('cgroup2'))
  const folder = mount && folderOf(mount, own.get('') ?? '')
  if (!mount || folder === undefined) return undefined
  // As root the group around ours is the machine's, with limits of its own that we would leave.
  const candidates = isRoot ? [folder] : [folder, dirname(folder)]
  for (const parent of candidates.filter((one) => one.startsWith(mount.at) && isWritable(join(one, 'cgroup.procs')))) {
    if (!handsDown(parent)) tryWrite(join(parent, 'cgroup.subtree_control'), '+pids +memory')
    if (!handsDown(parent)) continue
    const made = makeFolder(parent)
    if (made === undefined) continue
    const holds = new Set<'processes' | 'memory'>()
    if (tryWrite(join(made, 'pids.max'), String(limits.processes))) holds.add('processes')
    if (tryWrite(join(made, 'memory.max'), String(limits.memoryBytes))) holds.add('memory')
    tryWrite(join(made, 'memory.swap.max'), '0')
    if (holds.has('processes') && isJoinable(made)) return groupOf(2, holds, [made])
    removeFolder(made)
  }
  return undefined
}

/** Below a group that has processes of its own and hands down `pids` alone, a new one takes none: every command would fail. */
const isJoinable = (group: string): boolean => linesOf(join(group, 'cgroup.type'))[0] !== 'domain invalid'

const handsDown = (group: string): boolean =>
  linesOf(join(group, 'cgroup.subtree_control')).join(' ').split(' ').includes('pids')

function makeSeparate(
  limits: ResourceLimits,
  own: Hierarchies['own'],
  mounts: Hierarchies['mounts'],
): CommandGroup | undefined {
  const holds = new Set<'processes' | 'memory'>()
  const folders: string[] = []
  for (const [controller, file, value] of [
    ['pids', 'pids.max', String(limits.processes)],
    ['memory', 'memory.limit_in_bytes', String(limits.memoryBytes)],
    // Nothing is set: a group has the share of one process, however many are in it.
    ['cpu', undefined, ''],
  ] as const) {
    const mount = mounts.find(({ controllers }) => controllers.includes(controller))
    const path = own.get(controller)
    // A memory group that somebody has put us into is theirs to count; below the root there is none.
    const folder =
      mount && path !== undefined && (controller !== 'memory' || path === '/') ? folderOf(mount, path) : undefined
    const made = folder === undefined ? undefined : makeFolder(folder)
    if (made === undefined) continue
    if (file !== undefined && !tryWrite(join(made, file), value)) removeFolder(made)
    else {
      folders.push(made)
      if (controller !== 'cpu') holds.add(controller === 'pids' ? 'processes' : 'memory')
    }
  }
  if (holds.size > 0) return groupOf(1, holds, folders)
  for (const folder of folders) removeFolder(folder)
  return undefined
}

function groupOf(version: 1 | 2, holds: CommandGroup['holds'], folders: readonly string[]): CommandGroup {
  return {
    version,
    holds,
    joins: folders.map((folder) => join(folder, 'cgroup.procs')),
    exists: () => folders.every((folder) => existsSync(folder)),
    count() {
      const counts = folders.map((folder) => Number.parseInt(linesOf(join(folder, 'pids.current'))[0] ?? '', 10))
      return counts.find((count) => Number.isInteger(count))
    },
    close() {
      for (const folder of folders) removeFolder(folder)
    },
  }
}

/** Named after our process, so that whoever finds one can tell that it is left over. */
function makeFolder(parent: string): string | undefined {
  try {
    for (const name of readdirSync(parent).filter((one) => one.startsWith(PREFIX)))
      if (isGone(Number(name.slice(PREFIX.length).split('-')[0]))) removeFolder(join(parent, name))
    for (let number = 0; ; number += 1) {
      const folder = join(parent, `${PREFIX}${process.pid}-${number}`)
      if (isMade(folder)) return folder
    }
  } catch {
    return undefined
  }
}

function isMade(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (thrown) {
    if ((thrown as { code?: string }).code === 'EEXIST') return false
    throw thrown
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (thrown) {
    return (thrown as { code?: string }).code === 'ESRCH'
  }
}

/** The kernel removes its files with it, and refuses while somebody is in it. */
function removeFolder(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {}
}

function tryWrite(file: string, text: string): boolean {
  try {
    writeFileSync(file, text)
    return true
  } catch {
    return false
  }
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
