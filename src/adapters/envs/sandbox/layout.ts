/**
 * What a command sees of the machine, as arguments of bubblewrap. Pure, but for a look at how this system lays out its folders.
 * Learnt by trying: as root, bubblewrap leaves /proc/sys writable, and the modes of the nodes of /dev, because root owns them outside
 * as well. So all of /proc is mounted read-only, and root gets nodes of its own.
 */

import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { BASH_ENV, type Identity } from './etc.ts'

export interface Bind {
  readonly from: string
  readonly at: string
  readonly writable: boolean
}

export interface Layout {
  /** The workspace, a real path; seen under the same name. */
  readonly root: string
  readonly cwd: string
  /** The folder that is $HOME in there; undefined: an empty one, and the workspace is read-only. */
  readonly home: string | undefined
  readonly etc: string
  /** What is bound into it. */
  readonly inEtc: readonly Bind[]
  /** Nodes of /dev that are our own, where those of the machine would be the command's to change. */
  readonly devices: string | undefined
  /** Folders that are not to be seen, wherever they lie. */
  readonly hidden: readonly string[]
  /** What is seen of the rest of the machine, read-only, before anything is laid over it; what is hidden stays hidden in it. */
  readonly seen?: readonly string[]
  /** What is laid over the workspace, or beside it. */
  readonly binds: readonly Bind[]
  readonly environment: Readonly<Record<string, string>>
  /** Variables that are set in there beside it. */
  readonly more: Readonly<Record<string, string>>
  readonly identity: Identity
  /** The descriptor from which the filter of system calls is read. */
  readonly filter: number | undefined
  /** The one on which bubblewrap says which process is the first in there. */
  readonly info: number
  readonly version: readonly [number, number]
}

/** $HOME, seen from inside. */
export const INNER_HOME = '/home/agent'
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Where programs and what they need are installed. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store', '/gnu/store']
/** With their numbers, as everywhere on Linux. */
export const DEVICES = { null: '1 3', zero: '1 5', full: '1 7', random: '1 8', urandom: '1 9', tty: '5 0' } as const
/** Files of /proc that tell of the whole machine, to its root. */
const TELLING = [
  ...['kcore', 'keys', 'timer_list', 'sched_debug', 'latency_stats', 'vmallocinfo', 'slabinfo', 'pagetypeinfo'],
  ...['kpagecount', 'kpageflags', 'kpagecgroup'],
]
/**
 * Bubblewrap itself, the first process in there. Its program and its descriptors lie on the machine's own mounts, where whoever owns them may change
 * their mode.
 */
const FIRST_PROCESS = '/proc/1'
const MOST_TEMPORARY_BYTES = 1024 ** 3

export function bwrapArgs(layout: Layout): readonly string[] {
  const { root, cwd, home, etc, inEtc, devices, hidden, binds, environment, more, identity, filter, info, version } =
    layout
  const seen = layout.seen ?? []
  return [
    ...namespaces(identity, version),
    ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--clearenv'],
    ...Object.entries({ ...innerEnvironment(environment), ...more }).flatMap(([name, value]) => [
      '--setenv',
      name,
      value,
    ]),
    ...system(),
    ...hidden.filter(isInSystem).flatMap((folder) => ['--tmpfs', folder]),
    ...['--ro-bind', etc, '/etc', ...inEtc.flatMap(bound)],
    ...kernelFiles(version, devices),
    ...['--dir', '/run', '--dir', '/var', '--symlink', '/tmp', '/var/tmp'],
    ...seen.flatMap((path) => ['--ro-bind', path, path]),
    ...hidden.filter((folder) => seen.some((path) => folder.startsWith(`${path}/`))).flatMap((at) => ['--tmpfs', at]),
    ...(home === undefined
      ? ['--tmpfs', INNER_HOME, '--ro-bind', root, root]
      : ['--bind', home, INNER_HOME, '--bind', root, root]),
    ...binds.flatMap(bound),
    ...['--remount-ro', '/', '--chdir', cwd],
    ...['--info-fd', String(info), ...(filter === undefined ? [] : ['--seccomp', String(filter)])],
  ]
}

const bound = ({ from, at, writable }: Bind): readonly string[] => [writable ? '--bind' : '--ro-bind', from, at]

function namespaces({ uid, gid }: Identity, version: Layout['version']): readonly string[] {
  return [
    ...['--unshare-user', '--uid', String(uid), '--gid', String(gid)],
    // Before 0.8 the filter of system calls is alone in this.
    ...(isSince(version, 8) ? ['--disable-userns'] : []),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-net', '--unshare-cgroup-try'],
    ...['--unshare-uts', '--hostname', 'sandbox'],
  ]
}

function kernelFiles(version: Layout['version'], devices: string | undefined): readonly string[] {
  const size = isSince(version, 7) ? ['--size', String(MOST_TEMPORARY_BYTES)] : []
  const own = devices === undefined ? [] : Object.keys(DEVICES)
  const telling = TELLING.map((name) => `/proc/${name}`).filter((path) => existsSync(path))
  return [
    ...['--proc', '/proc', ...telling.flatMap((path) => ['--ro-bind', '/dev/null', path])],
    ...['--tmpfs', FIRST_PROCESS, '--remount-ro', FIRST_PROCESS, '--remount-ro', '/proc'],
    ...['--dev', '/dev', ...own.flatMap((name) => ['--dev-bind', `${devices}/${name}`, `/dev/${name}`])],
    ...[...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev', '--perms', '1777', ...size, '--tmpfs', '/tmp'],
  ]
}

const isSince = ([major, minor]: Layout['version'], least: number): boolean => major > 0 || minor >= least

function system(): readonly string[] {
  return SYSTEM.flatMap((folder) => {
    const stats = lstatSync(folder, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink()) return ['--symlink', readlinkSync(folder), folder]
    return stats?.isDirectory() ? ['--ro-bind', folder, folder] : []
  })
}

export const isInSystem = (path: string): boolean =>
  SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`))

const INHERITED = ['LANG', 'TERM', 'TZ']

/** An allow-list, and of the PATH only folders that are there. */
function innerEnvironment(environment: Layout['environment']): Readonly<Record<string, string>> {
  const path = (environment.PATH ?? '').split(':').filter(isInSystem)
  const inherited = INHERITED.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value]]
  })
  return {
    ...Object.fromEntries(inherited),
    PATH: path.length > 0 ? path.join(':') : DEFAULT_PATH,
    HOME: INNER_HOME,
    BASH_ENV,
  }
}
