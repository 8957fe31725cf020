/**
 * Builds the bubblewrap command line, which decides what a command sees of the machine. Pure, except that it reads the
 * layout of the system's folders. Observed: as root, bubblewrap leaves /proc/sys and the modes of /dev nodes writable,
 * because root owns them outside too. So all of /proc is mounted read-only, and root gets its own device nodes.
 */

import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { BASH_ENV_PATH, type SandboxUser } from './make-etc.ts'

export interface BindMount {
  readonly from: string
  readonly at: string
  readonly writable: boolean
}

export interface SandboxLayout {
  /** The workspace, a path without symbolic links. */
  readonly root: string
  /** The path of the workspace inside the sandbox. */
  readonly seenAt: string
  readonly cwd: string
  /** The folder mounted as $HOME; undefined: an empty $HOME and a read-only workspace. */
  readonly home: string | undefined
  readonly etc: string
  /** Mounts inside /etc. */
  readonly inEtc: readonly BindMount[]
  /** Folder with device nodes to mount in /dev, used if a command could change the machine's own nodes. */
  readonly devices: string | undefined
  /** Folders that commands must not see. */
  readonly hidden: readonly string[]
  /** Additional read-only paths, mounted before `binds`; `hidden` folders in them stay hidden. */
  readonly seen?: readonly string[]
  /** Mounts on top of the workspace, or outside it. */
  readonly binds: readonly BindMount[]
  readonly environment: Readonly<Record<string, string>>
  /** Environment variables that are set in addition to the allowed ones of `environment`. */
  readonly more: Readonly<Record<string, string>>
  readonly identity: SandboxUser
  /** Descriptor from which bubblewrap reads the seccomp filter. */
  readonly filter: number | undefined
  /** Descriptor to which bubblewrap writes the pid of the sandbox's first process. */
  readonly info: number
  readonly version: readonly [number, number]
}

/** $HOME inside the sandbox. */
export const INNER_HOME = '/home/agent'
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Folders of installed programs and libraries, mounted read-only. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store', '/gnu/store']
/** Device names with major and minor numbers, which are the same on every Linux. */
export const DEVICES = { null: '1 3', zero: '1 5', full: '1 7', random: '1 8', urandom: '1 9', tty: '5 0' } as const
/** Files of /proc that would show a command the state of the whole machine if it runs as root; they are masked. */
const MASKED_PROC_FILES = [
  ...['kcore', 'keys', 'timer_list', 'sched_debug', 'latency_stats', 'vmallocinfo', 'slabinfo', 'pagetypeinfo'],
  ...['kpagecount', 'kpageflags', 'kpagecgroup'],
]
/**
 * The /proc folder of the sandbox's first process, which is bubblewrap. It is masked, because links in it lead to the
 * machine's own mounts, where a command could change the mode of its user's files.
 */
const FIRST_PROCESS = '/proc/1'
const MAX_TEMPORARY_BYTES = 1024 ** 3

export function bwrapArgs(layout: SandboxLayout): readonly string[] {
  const {
    root,
    seenAt,
    cwd,
    home,
    etc,
    inEtc,
    devices,
    hidden,
    binds,
    environment,
    more,
    identity,
    filter,
    info,
    version,
  } = layout
  const seen = layout.seen ?? []
  return [
    ...namespaceArgs(identity, version),
    ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--clearenv'],
    ...Object.entries({ ...innerEnvironment(environment), ...more }).flatMap(([name, value]) => [
      '--setenv',
      name,
      value,
    ]),
    ...systemArgs(),
    ...hidden.filter(isInSystem).flatMap((folder) => ['--tmpfs', folder]),
    ...['--ro-bind', etc, '/etc', ...inEtc.flatMap(bindArgs)],
    ...procAndDevArgs(version, devices),
    ...['--dir', '/run', '--dir', '/var', '--symlink', '/tmp', '/var/tmp'],
    ...seen.flatMap((path) => ['--ro-bind', path, path]),
    ...hidden.filter((folder) => seen.some((path) => folder.startsWith(`${path}/`))).flatMap((at) => ['--tmpfs', at]),
    ...(home === undefined
      ? ['--tmpfs', INNER_HOME, '--ro-bind', root, seenAt]
      : ['--bind', home, INNER_HOME, '--bind', root, seenAt]),
    ...binds.flatMap(bindArgs),
    ...['--remount-ro', '/', '--chdir', cwd],
    ...['--info-fd', String(info), ...(filter === undefined ? [] : ['--seccomp', String(filter)])],
  ]
}

const bindArgs = ({ from, at, writable }: BindMount): readonly string[] => [writable ? '--bind' : '--ro-bind', from, at]

function namespaceArgs({ uid, gid }: SandboxUser, version: SandboxLayout['version']): readonly string[] {
  return [
    ...['--unshare-user', '--uid', String(uid), '--gid', String(gid)],
    // Before bubblewrap 0.8, only the seccomp filter prevents new user namespaces.
    ...(isSince(version, 8) ? ['--disable-userns'] : []),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-net', '--unshare-cgroup-try'],
    ...['--unshare-uts', '--hostname', 'sandbox'],
  ]
}

function procAndDevArgs(version: SandboxLayout['version'], devices: string | undefined): readonly string[] {
  const size = isSince(version, 7) ? ['--size', String(MAX_TEMPORARY_BYTES)] : []
  const own = devices === undefined ? [] : Object.keys(DEVICES)
  const masked = MASKED_PROC_FILES.map((name) => `/proc/${name}`).filter((path) => existsSync(path))
  return [
    ...['--proc', '/proc', ...masked.flatMap((path) => ['--ro-bind', '/dev/null', path])],
    ...['--tmpfs', FIRST_PROCESS, '--remount-ro', FIRST_PROCESS, '--remount-ro', '/proc'],
    ...['--dev', '/dev', ...own.flatMap((name) => ['--dev-bind', `${devices}/${name}`, `/dev/${name}`])],
    ...[...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev', '--perms', '1777', ...size, '--tmpfs', '/tmp'],
  ]
}

const isSince = ([major, minor]: SandboxLayout['version'], least: number): boolean => major > 0 || minor >= least

function systemArgs(): readonly string[] {
  return SYSTEM.flatMap((folder) => {
    const stats = lstatSync(folder, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink()) return ['--symlink', readlinkSync(folder), folder]
    return stats?.isDirectory() ? ['--ro-bind', folder, folder] : []
  })
}

export const isInSystem = (path: string): boolean =>
  SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`))

const INHERITED = ['LANG', 'TERM', 'TZ']

/** The variables of INHERITED, and PATH reduced to the folders that exist inside the sandbox. */
function innerEnvironment(environment: SandboxLayout['environment']): Readonly<Record<string, string>> {
  const path = (environment.PATH ?? '').split(':').filter(isInSystem)
  const inherited = INHERITED.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value]]
  })
  return {
    ...Object.fromEntries(inherited),
    PATH: path.length > 0 ? path.join(':') : DEFAULT_PATH,
    HOME: INNER_HOME,
    BASH_ENV: BASH_ENV_PATH,
  }
}
