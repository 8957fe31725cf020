/**
 * One cgroup (v1 or v2) for all commands of this process: the kernel enforces its limits on all commands together, even
 * if they run as root. If no cgroup can be created, `CommandLimits` counts processes and memory instead.
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
  readonly enforces: ReadonlySet<'processes' | 'memory'>
  /** A process joins the group, with all its later children, by writing 0 to each of these files. */
  readonly joinFiles: readonly string[]
  /** Contract: false if another process removed the group because it seemed unused. */
  exists(): boolean
  /** Contract: the number of processes and threads in the group; undefined if the group does not count them. */
  count(): number | undefined
  /** Contract: removes the group if it is empty. */
  close(): void
}

/** The kernel's files that describe cgroups; tests use files of their own. */
interface ControlFiles {
  readonly groups: string
  readonly mounts: string
  readonly isRoot: boolean
}

const CONTROL_FILES: ControlFiles = {
  groups: '/proc/self/cgroup',
  mounts: '/proc/self/mountinfo',
  isRoot: process.getuid?.() === 0,
}

const PREFIX = 'tireless-'

/** Contract: undefined if no cgroup can be created; a partly created cgroup is removed. */
export function makeCommandGroup(limits: ResourceLimits, files = CONTROL_FILES): CommandGroup | undefined {
  const { own, mounts } = readHierarchies(files)
  return makeV2Group(limits, own, mounts, files) ?? makeV1Group(limits, own, mounts)
}

interface Hierarchy {
  /** `cgroup2` for version 2; for version 1, the names of the controllers. */
  readonly controllers: readonly string[]
  readonly at: string
  /** The group of the hierarchy that is mounted at `at`. */
  readonly root: string
}

interface Hierarchies {
  /** The path of this process's group, by controller; for version 2, the controller's name is empty. */
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

/** Contract: the folder of the group `path` in the hierarchy; undefined if that part is not mounted. */
function folderOf({ at, root }: Hierarchy, path: string): string | undefined {
  if (root === '/') return join(at, path)
  return path === root || path.startsWith(`${root}/`) ? join(at, path.slice(root.length)) : undefined
}

/**
 * Creates the group below this process's group or, if that is not possible, below the parent: in version 2, a group
 * that has processes cannot pass controllers on to groups below it.
 */
function makeV2Group(
  limits: ResourceLimits,
  own: Hierarchies['own'],
  mounts: Hierarchies['mounts'],
  { isRoot }: ControlFiles,
): CommandGroup | undefined {
  const mount = mounts.find(({ controllers }) => controllers.includes('cgroup2'))
  const folder = mount && folderOf(mount, own.get('') ?? '')
  if (!mount || folder === undefined) return undefined
  // Root could also use the parent, but a group there would escape the limits of this process's group.
  const candidates = isRoot ? [folder] : [folder, dirname(folder)]
  for (const parent of candidates.filter((one) => one.startsWith(mount.at) && isWritable(join(one, 'cgroup.procs')))) {
    if (!delegatesPids(parent)) tryWrite(join(parent, 'cgroup.subtree_control'), '+pids +memory')
    if (!delegatesPids(parent)) continue
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

/** False if the new group accepts no process, because its parent has processes and delegates only `pids`. */
const isJoinable = (group: string): boolean => linesOf(join(group, 'cgroup.type'))[0] !== 'domain invalid'

const delegatesPids = (group: string): boolean =>
  linesOf(join(group, 'cgroup.subtree_control')).join(' ').split(' ').includes('pids')

function makeV1Group(
  limits: ResourceLimits,
  own: Hierarchies['own'],
  mounts: Hierarchies['mounts'],
): CommandGroup | undefined {
  const holds = new Set<'processes' | 'memory'>()
  const folders: string[] = []
  for (const [controller, file, value] of [
    ['pids', 'pids.max', String(limits.processes)],
    ['memory', 'memory.limit_in_bytes', String(limits.memoryBytes)],
    // No limit is written: in one cpu group, all commands together get the CPU share of a single process.
    ['cpu', undefined, ''],
  ] as const) {
    const mount = mounts.find(({ controllers }) => controllers.includes(controller))
    const path = own.get(controller)
    // Memory: only if this process is in the root group. The maker of another group counts commands' memory in it.
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

function groupOf(version: 1 | 2, holds: CommandGroup['enforces'], folders: readonly string[]): CommandGroup {
  return {
    version,
    enforces: holds,
    joinFiles: folders.map((folder) => join(folder, 'cgroup.procs')),
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

/**
 * Creates a group, and removes abandoned groups: a group's name contains the pid of the process that created it, so a
 * group of a dead process can be recognised.
 */
function makeFolder(parent: string): string | undefined {
  try {
    for (const name of readdirSync(parent).filter((one) => one.startsWith(PREFIX)))
      if (isDead(Number(name.slice(PREFIX.length).split('-')[0]))) removeFolder(join(parent, name))
    for (let number = 0; ; number += 1) {
      const folder = join(parent, `${PREFIX}${process.pid}-${number}`)
      if (tryMakeFolder(folder)) return folder
    }
  } catch {
    return undefined
  }
}

function tryMakeFolder(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (thrown) {
    if ((thrown as { code?: string }).code === 'EEXIST') return false
    throw thrown
  }
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (thrown) {
    return (thrown as { code?: string }).code === 'ESRCH'
  }
}

/** Removes a group. The kernel removes its files too, and refuses while the group contains a process. */
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
