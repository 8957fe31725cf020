/** The home: the folder with everything that outlives a process. One process holds it at a time. */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type HomeLock, type LockHolder, readLockHolder, tryLock } from './adapters/stores/sqlite/home-lock.ts'
import { TirelessError } from './domain/error.ts'
import type { NotIncluded } from './domain/not-included.ts'
import { isDraft } from './files/whole-files.ts'

export interface HomePaths {
  /** As a real path: records are compared with it, and a home may be reached through a link. */
  readonly root: string
  /** The path by which the owner names the home: a service of the machine keeps it. */
  readonly named: string
  readonly config: string
  readonly database: string
  readonly lock: string
  readonly socket: string
  /** File with the token for HTTP access. */
  readonly token: string
  /** File with the owner's secrets, by name, for the configuration and for tools. */
  readonly secrets: string
  /** Earlier versions of that file. */
  readonly secretVersions: string
  /** Files with the key that authenticates audit records, and with number and hash of the newest record. */
  readonly auditKey: string
  readonly auditHead: string
  readonly workspaces: string
  /** One folder per agent that is not described in tireless.yaml. */
  readonly agents: string
  /** Files of running calls, for recovery after a crash. */
  readonly calls: string
  /** Files of the sandboxes, and the home folders of commands inside them. */
  readonly sandbox: string
  /** One folder per MCP server process, which by default may write nowhere else. */
  readonly servers: string
  /** Profiles of browsers opened by runs. */
  readonly browser: string
  /** Throw-away copies of workspaces. */
  readonly copies: string
  readonly logs: string
  readonly traces: string
  /** Folder of the documents, with one folder per kernel; `fallback` is used as long as it cannot be written. */
  readonly kernels: string
  readonly fallback: string
  /** Git repositories with the versions of documents and workspaces. */
  readonly versions: string
  /** Workspaces that the owner removed, for some days. */
  readonly removed: string
  /** File that exists during a restore; as long as it exists, the home must not be opened. */
  readonly restoreNote: string
  readonly restoreStaging: string
  /** The file that says where the home is and was. */
  readonly roots: string
}

const SECRETS = 'secrets.json'
const SECRET_VERSIONS = 'secrets.versions'
const AUDIT_HEAD = 'audit.head'

/** Prefix of the name of a folder with files that a restore replaced; the time of the restore follows. */
export const BEFORE_RESTORE_PREFIX = 'before-restore-'

/** Prefix of the names of database files that a move of the records replaced. */
export const BEFORE_MOVE_PREFIX = 'tireless-before-move-'

/** Names at the top of the home that belong to this machine: a backup never copies, a restore never replaces them. */
export function isMachineLocal(name: string): boolean {
  return (
    /^(lock([-.].*)?|socket|home-id|logs|browser|copies|restore\..*)$/.test(name) ||
    name.startsWith(BEFORE_RESTORE_PREFIX)
  )
}

/** Names at the top of the home that a restore replaces only if the backup has them. */
export const isKeptUnlessReplaced = (name: string): boolean => name === 'sandbox' || isSecretsFile(name)

/** The secrets file and its versions: in a backup only on request; a restore of a backup without them keeps them. */
export const isSecretsFile = (name: string): boolean => name === SECRETS || name === SECRET_VERSIONS

/** Why a backup does not contain a path; `copy`: it does; `leave_out`: without a word, as nothing of it is lost. */
type BackupRule = 'copy' | 'leave_out' | Extract<NotIncluded['kind'], 'log' | 'browser' | 'earlier' | 'secrets'>

/**
 * What a backup does with a path below the home. Left out without a word: database files, which the store copies
 * itself; the audit head, which may be newer than that copy; files of running calls and of the sandbox, which are
 * made again; unfinished files.
 * What agents keep in their `~`, and what was taken out of workspaces, is the owner's.
 */
export function backupRule(path: string, withSecrets: boolean): BackupRule {
  const [name = '', second] = path.split('/')
  if (isSecretsFile(name)) return withSecrets ? 'copy' : name === SECRETS ? 'secrets' : 'leave_out'
  if (name === 'sandbox') return second === undefined || second === 'homes' || second === 'taken' ? 'copy' : 'leave_out'
  if (name === 'logs') return 'log'
  if (name === 'browser') return 'browser'
  if (EARLIER.test(name)) return 'earlier'
  const ofDatabase = /^tireless(\.db(-wal|-shm|-journal|-commits|\.upgrade-copy|\.moving(-.*)?)?)$/
  const isLeftOut =
    isMachineLocal(name) || isDraft(name) || name === 'calls' || name === AUDIT_HEAD || ofDatabase.test(name)
  return isLeftOut ? 'leave_out' : 'copy'
}

const EARLIER = new RegExp(
  `^(${BEFORE_RESTORE_PREFIX}|${BEFORE_MOVE_PREFIX}|tireless-schema-\\d+-before-upgrade(-\\d+)?\\.db$)`,
)

/**
 * What a backup does with a link below the home that leads out of it. One where agents write is never followed: an
 * agent could have it lead to any file of the owner, which would come back within its reach. There, links to programs
 * of the system are not worth naming, and links of the sandbox mean what commands see there.
 */
export function linkRule(path: string, target: string, followLinks: boolean): 'keep' | 'name' | 'follow' {
  if (path.startsWith('sandbox/')) return 'keep'
  if (!/^(workspaces\/[^/]+|inbox|servers)\//.test(path)) return followLinks ? 'follow' : 'name'
  return /^\/(usr|bin|sbin|lib\w*|nix|proc|sys)(\/|$)/.test(target) ? 'keep' : 'name'
}

/** Paths that only the owner may access, with their modes. */
export function privatePaths(paths: HomePaths): readonly { readonly path: string; readonly mode: number }[] {
  const { root, socket, database, lock, token, secrets, secretVersions, auditKey, auditHead } = paths
  const folders = new Set([root, dirname(socket), secretVersions])
  const files = [
    socket,
    database,
    `${database}-wal`,
    `${database}-shm`,
    `${database}-commits`,
    `${lock}.holder`,
    token,
    secrets,
    auditKey,
    auditHead,
  ]
  return [...[...folders].map((path) => ({ path, mode: 0o700 })), ...files.map((path) => ({ path, mode: 0o600 }))]
}

/** Maximum bytes of a socket's path; the limit of operating systems is a little higher. */
const MAX_SOCKET_PATH = 100

export function homePaths(named: string): HomePaths {
  const root = realPathOf(named)
  return {
    root,
    named,
    config: join(root, 'tireless.yaml'),
    database: join(root, 'tireless.db'),
    lock: join(root, 'lock'),
    socket: socketPath(root),
    token: join(root, 'token'),
    secrets: join(root, SECRETS),
    secretVersions: join(root, SECRET_VERSIONS),
    auditKey: join(root, 'audit.key'),
    auditHead: join(root, AUDIT_HEAD),
    workspaces: join(root, 'workspaces'),
    agents: join(root, 'agents'),
    calls: join(root, 'calls'),
    sandbox: join(root, 'sandbox'),
    browser: join(root, 'browser'),
    copies: join(root, 'copies'),
    servers: join(root, 'servers'),
    logs: join(root, 'logs'),
    traces: join(root, 'traces'),
    kernels: join(root, 'kernels'),
    fallback: join(root, 'fallback'),
    versions: join(root, 'versions'),
    removed: join(root, 'versions', 'removed'),
    restoreNote: join(root, 'restore.note'),
    restoreStaging: join(root, 'restore.staging'),
    roots: join(root, 'home-roots.json'),
  }
}

/** Contract: without links, also if the last folders of the path do not exist yet. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPathOf(dirname(path)), basename(path))
  }
}

/** The folder with the earlier versions of a file that commands edit: tireless.yaml, agent.yaml, role.md, self.md. */
export function versionsOf({ root, versions }: HomePaths, file: string): string {
  const below = relative(root, file)
  const isOutside = isAbsolute(below) || below.split(sep)[0] === '..'
  // `--config` may name a file anywhere.
  return isOutside ? join(versions, 'files', 'outside', resolve(file)) : join(versions, 'files', below)
}

function socketPath(root: string): string {
  const path = join(root, 'socket')
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return path
  return join(tmpdir(), `tireless-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`, 'socket')
}

/** Contract: creates the home if it does not exist, and locks it; undefined if another process holds it. */
export function holdHome(paths: HomePaths, self: Omit<LockHolder, 'socket'>): HomeLock | undefined {
  try {
    for (const folder of [paths.root, join(paths.socket, '..'), paths.workspaces, paths.calls]) createFolder(folder)
  } catch (cause) {
    if (cause instanceof TirelessError) throw cause
    throw new TirelessError(
      'store_failed',
      {
        what: 'the home cannot be created',
        where: paths.root,
        got: String(cause),
        fix: 'use --home to name a folder that you may write to',
      },
      { cause },
    )
  }
  try {
    return tryLock(paths.lock, { ...self, socket: paths.socket })
  } catch (cause) {
    throw new TirelessError(
      'store_failed',
      {
        what: 'the home cannot be locked',
        where: paths.lock,
        got: String(cause),
        fix: 'free disk space and make sure that you may write here; the lock has no data: if it is damaged, delete it',
      },
      { cause },
    )
  }
}

/** Creates the parents one by one: in some file systems, such as /proc, Node's own recursion never ends. */
function createFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found)
    throw new TirelessError('store_failed', {
      ...{ what: 'there is a file in place of a folder of the home', where: path },
      fix: 'move the file away, or use --home to name another folder',
    })
  createFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (thrown) {
    // Another process may have created it in the meantime.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw thrown
  }
}

/** Contract: throws `conflict` if a restore was interrupted, because the home then mixes files of two homes. */
export function checkRestoreFinished({ root, restoreNote }: HomePaths): void {
  if (existsSync(restoreNote))
    throw new TirelessError('conflict', {
      what: 'a restore of this home was interrupted',
      where: root,
      fix: 'run the same `tireless restore DIR` again to finish it',
    })
}

/** Contract: the id of the process that holds the home; undefined if none does, or it is unknown. */
export function holderPid(paths: HomePaths): number | undefined {
  return readLockHolder(paths.lock)?.pid
}

export function homeLockedError(paths: HomePaths): TirelessError {
  const holder = readLockHolder(paths.lock)
  return new TirelessError('home_locked', {
    what: 'another process holds the home',
    where: paths.root,
    got: holder ? `process ${holder.pid} (${holder.command}) since ${holder.since}` : 'an unknown process',
    fix: 'use the running process (`tireless cycle now`), stop it (`tireless stop`), or name another home (--home)',
  })
}
