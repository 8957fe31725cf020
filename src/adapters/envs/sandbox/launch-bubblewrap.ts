/** Starts commands in bubblewrap. Creates shared files once, and guards the workspace before and after each command. */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { replaceFile } from '../../../files/whole-files.ts'
import { PATHS_AS_THEY_ARE, placesOf, type StoredPaths } from '../../../ports/stored-paths.ts'
import { BASH_ENV_TEXT, isExecutableFile, type Launch, type Launcher } from '../host/launcher.ts'
import { isInside } from '../host/split-path.ts'
import { type BindMount, bwrapArgs, DEVICES, INNER_HOME, type SandboxLayout } from './bubblewrap-command-line.ts'
import { openEgressSocket } from './egress-socket.ts'
import { BASH_ENV_PATH, makeEtc, type SandboxUser } from './make-etc.ts'
import { chooseForwarder, FORWARDER_PATH, type Forwarder, forwarderStartScript } from './network-forwarder.ts'
import { seccompFilter } from './seccomp-filter.ts'
import { createGuards, guardFolders, quarantineFolder, withoutGuard } from './workspace-guard.ts'

export interface Bubblewrap {
  readonly program: string
  readonly version: SandboxLayout['version']
}

interface LauncherOptions extends Bubblewrap {
  readonly folder: string
  readonly hidden: readonly string[]
  readonly perl?: string | undefined
  readonly paths?: StoredPaths | undefined
}

/** The first descriptor that bubblewrap inherits. */
const FIRST_HANDLE = 4
const MAX_INFO_BYTES = 4096

export async function createSandboxLauncher(options: LauncherOptions): Promise<Launcher> {
  const shared = await makeSharedFiles(options)
  const guardOf = createGuards(quarantineFolder(options.folder))
  return async (wanted) => {
    const { root, command, seenAt = wanted.root } = wanted
    await using opened = new AsyncDisposableStack()
    const [guard, home] = wanted.readOnly
      ? [withoutGuard(wanted.readOnly), undefined]
      : await Promise.all([
          wanted.program
            ? guardFolders(wanted.program.writable, wanted.folder, guardOf)
            : guardOf({ root, folder: wanted.folder }),
          wanted.home ?? makeCommandHome(options.folder, root, options.paths),
        ])
    const filter = shared.filter === undefined ? [] : [opened.use(await open(shared.filter, 'r'))]
    // Not the machine's /dev/null: a command that runs as root could change its mode.
    const stdin = shared.devices === undefined ? undefined : opened.use(await open(join(shared.devices, 'null'), 'r'))
    const info = opened.use(await open(join(wanted.folder, 'sandbox'), 'wx+', 0o600))
    const egress = await openEgressSocket(wanted.network, shared.forwarder, opened)
    const args = bwrapArgs({
      ...{
        ...options,
        ...shared,
        root,
        seenAt,
        home,
        cwd: moveBelow(root, seenAt, wanted.cwd),
        environment: wanted.env,
        seen: wanted.program?.seen ?? [],
      },
      more: { ...egress.environment, ...wanted.program?.environment },
      ...{
        binds: [...moveMounts(root, seenAt, guard.binds), ...egress.binds],
        filter: filter[0] && FIRST_HANDLE,
        info: FIRST_HANDLE + filter.length,
      },
    })
    const kept = opened.move()
    return {
      argv: [options.program, ...args, '--', ...shared.shell, '-c', '--', command],
      // Empty, because commands could read bubblewrap's own environment.
      env: {},
      handles: [...filter, info],
      ...(stdin && { stdin }),
      init: () => readInitPid(info),
      notes: async () => [...(await guard.removeProtected()), ...egress.refusals()],
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    } satisfies Launch
  }
}

/** Contract: the path, moved from below `root` to below `seenAt`; unchanged if it is elsewhere. */
const moveBelow = (root: string, seenAt: string, path: string): string =>
  isInside(root, path) ? join(seenAt, relative(root, path)) : path

/** Contract: mounts on top of the root, at the places where the command sees them. */
export const moveMounts = (root: string, seenAt: string, binds: readonly BindMount[]): readonly BindMount[] =>
  binds.map((bind) => ({ ...bind, at: moveBelow(root, seenAt, bind.at) }))

/** The pid of the sandbox's first process, as processes outside see it; bubblewrap writes it to `info`. */
async function readInitPid(info: FileHandle): Promise<number | undefined> {
  const { buffer, bytesRead } = await info.read(Buffer.alloc(MAX_INFO_BYTES), 0, MAX_INFO_BYTES, 0)
  const [, pid] = /"child-pid":\s*(\d+)/.exec(buffer.toString('utf8', 0, bytesRead)) ?? []
  return pid === undefined ? undefined : Number(pid)
}

type SharedFiles = Pick<SandboxLayout, 'etc' | 'inEtc' | 'devices' | 'identity'> & {
  /** Path of the seccomp filter. */
  readonly filter: string | undefined
  readonly shell: readonly string[]
  readonly forwarder: Forwarder
}

async function makeSharedFiles({ folder, perl = '/usr/bin/perl' }: LauncherOptions): Promise<SharedFiles> {
  const identity: SandboxUser = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const etc = join(folder, 'etc')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const forwarder = chooseForwarder(perl)
  const inEtc = makeEtc(etc, identity, INNER_HOME, {
    [BASH_ENV_PATH]: `${BASH_ENV_TEXT}${ulimitScript('bash')}${forwarderStartScript(forwarder.program)}`,
    [FORWARDER_PATH]: forwarder.text,
  })
  const devices = identity.uid === 0 ? await makeDevices(join(folder, 'dev')) : undefined
  const program = seccompFilter(process.arch)
  const filter = program && join(folder, 'filter')
  if (filter) replaceFile(filter, program, { mode: 0o644, isFlushed: false })
  // Bash sets its limits in its BASH_ENV script; sh needs them on its command line.
  const hasBash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].some(isExecutableFile)
  const shell = hasBash ? ['bash'] : ['/bin/sh', '-c', `${ulimitScript('sh')}exec "$@"`, 'sandbox', 'sh']
  return { identity, etc, inEtc, devices, filter, shell, forwarder }
}

const MAX_FILE_BYTES = 4 * 1024 ** 3
export const MAX_PROCESSES = 4096
const LEAST_MEMORY = 1024 ** 3
/** The memory limit of one process, in bytes. */
export const maxMemoryBytes = (): number => Math.floor(Math.max(LEAST_MEMORY, totalmem() * 0.75))

/**
 * Shell code that limits core dumps, file size, memory and processes. It runs inside the sandbox, so that processes
 * outside do not count.
 */
export function ulimitScript(shell: 'bash' | 'sh'): string {
  const memory = Math.floor(maxMemoryBytes() / 1024)
  const [block, processes] = shell === 'bash' ? [1024, 'u'] : [512, 'p']
  const each = ['c 0', `f ${MAX_FILE_BYTES / block}`, `d ${memory}`, `${processes} ${MAX_PROCESSES}`]
  return each.map((limit) => `ulimit -${limit} 2> /dev/null\n`).join('')
}

/** Contract: undefined if device nodes cannot be created; the self-test then shows whether the sandbox is safe. */
async function makeDevices(folder: string): Promise<string | undefined> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const nodes = Object.entries(DEVICES).map(([name, numbers]) => `mknod -m 666 ${name} c ${numbers}`)
  // On some disks, device nodes can be created but not opened.
  const script = [...nodes, ': < null'].join(' && ')
  return promisify(execFile)('/bin/sh', ['-c', script], { cwd: folder }).then(
    () => folder,
    () => undefined,
  )
}

/** Contract: creates the folder that is $HOME for all commands of a workspace. It is the same after the home moved. */
export async function makeCommandHome(folder: string, root: string, paths = PATHS_AS_THEY_ARE): Promise<string> {
  const stored = paths.toStored(root)
  const home = commandHome(folder, stored)
  if (stored !== root && !existsSync(home)) await renameEarlierHome(folder, stored, placesOf(paths))
  await mkdir(home, { recursive: true, mode: 0o700 })
  return home
}

/** Versions before named it by the absolute path of the workspace. */
async function renameEarlierHome(folder: string, stored: string, places: readonly string[]): Promise<void> {
  const earlier = places.map((place) => commandHome(folder, join(place, stored))).find(existsSync)
  // Another command of the workspace may rename it at the same time.
  if (earlier !== undefined) await rename(earlier, commandHome(folder, stored)).catch(() => {})
}

const commandHome = (folder: string, workspace: string): string =>
  join(folder, 'homes', createHash('sha256').update(workspace).digest('hex').slice(0, 32))
