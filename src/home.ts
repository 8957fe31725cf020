/** The home: one folder with everything that outlives a process, held by one process at a time. */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Holder, type HomeLock, holderOf, tryLock } from './adapters/stores/sqlite/lock.ts'
import { TirelessError } from './domain/error.ts'

export interface HomePaths {
  readonly root: string
  readonly config: string
  readonly database: string
  readonly lock: string
  readonly socket: string
  /** What lets the owner in over HTTP. */
  readonly token: string
  /** What the owner has put under a name, for the configuration and for tools. */
  readonly secrets: string
  /** What proves the audit log: the key of its records, and the last one. */
  readonly auditKey: string
  readonly auditHead: string
  readonly workspaces: string
  /** A folder for each agent that is not in the configuration's file. */
  readonly agents: string
  /** What running calls leave in case of a crash. */
  readonly calls: string
  /** What sandboxes are made of, and the homes that commands have in there. */
  readonly sandbox: string
  /** A folder for each MCP server that is a process: all that it may write by itself. */
  readonly servers: string
  /** Profiles of browsers that runs have open. */
  readonly browser: string
  readonly logs: string
  readonly traces: string
  /** Documents, a folder for each kernel; and where they go while that cannot be written. */
  readonly kernels: string
  readonly fallback: string
  /** Git mirrors. */
  readonly versions: string
  /** There while a restore is under way; until it is finished the home must not be opened. */
  readonly restoreNote: string
  readonly restoreStaging: string
}

const SECRETS = 'secrets.json'
const AUDIT_HEAD = 'audit.head'

/** What a restore sets aside goes into a folder of the home with this and the instant as its name. */
export const BEFORE_RESTORE = 'before-restore-'

/** Names at the top of the home that belong to this machine and its processes: neither copied nor replaced. */
export function staysPut(name: string): boolean {
  return /^(lock([-.].*)?|socket|logs|sandbox|browser|restore\..*)$/.test(name) || name.startsWith(BEFORE_RESTORE)
}

/** The file of secrets, and what writing it may leave: no part of a backup unless asked for, and kept where a backup has none. */
export const isOfSecrets = (name: string): boolean => name === SECRETS || name === `${SECRETS}.draft`

/** Names that a backup leaves out: the database's files are copied by the store, whose copy may be older than the audit's head by then, calls mean nothing to another life, and what an upgrade kept is older. */
export function isLeftOut(name: string): boolean {
  const ofDatabase =
    /^tireless(\.db(-wal|-shm|-journal|-commits|\.upgrade-copy)?|-schema-\d+-before-upgrade(-\d+)?\.db)$/
  return staysPut(name) || name === 'calls' || name === AUDIT_HEAD || ofDatabase.test(name)
}

/** What nobody but the owner may reach, with the mode it should have. */
export function privateParts(paths: HomePaths): readonly { readonly path: string; readonly mode: number }[] {
  const { root, socket, database, lock, token, secrets, auditKey, auditHead } = paths
  const folders = new Set([root, dirname(socket)])
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

/** The kernel refuses longer socket addresses. */
const LONGEST_SOCKET_PATH = 100

export function homePaths(root: string): HomePaths {
  return {
    root,
    config: join(root, 'tireless.yaml'),
    database: join(root, 'tireless.db'),
    lock: join(root, 'lock'),
    socket: socketPath(root),
    token: join(root, 'token'),
    secrets: join(root, SECRETS),
    auditKey: join(root, 'audit.key'),
    auditHead: join(root, AUDIT_HEAD),
    workspaces: join(root, 'workspaces'),
    agents: join(root, 'agents'),
    calls: join(root, 'calls'),
    sandbox: join(root, 'sandbox'),
    browser: join(root, 'browser'),
    servers: join(root, 'servers'),
    logs: join(root, 'logs'),
    traces: join(root, 'traces'),
    kernels: join(root, 'kernels'),
    fallback: join(root, 'fallback'),
    versions: join(root, 'versions'),
    restoreNote: join(root, 'restore.note'),
    restoreStaging: join(root, 'restore.staging'),
  }
}

function socketPath(root: string): string {
  const path = join(root, 'socket')
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path
  return join(tmpdir(), `tireless-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`, 'socket')
}

/** Contract: makes the home where there is none; undefined when another process holds it. */
export function holdHome(paths: HomePaths, self: Omit<Holder, 'socket'>): HomeLock | undefined {
  try {
    for (const folder of [paths.root, join(paths.socket, '..'), paths.workspaces, paths.calls])
      mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new TirelessError(
      'store_failed',
      {
        what: 'the home cannot be made',
        where: paths.root,
        got: String(cause),
        fix: 'name a folder you may write to with --home',
      },
      { cause },
    )
  }
  return tryLock(paths.lock, { ...self, socket: paths.socket })
}

/** Contract: throws `conflict` where a restore was cut short: part of what lies there is of one home, part of another. */
export function refuseHalfRestored({ root, restoreNote }: HomePaths): void {
  if (existsSync(restoreNote))
    throw new TirelessError('conflict', {
      what: 'a restore of this home was cut short',
      where: root,
      fix: 'run the same `tireless restore DIR` again: it finishes what was begun',
    })
}

/** Contract: whoever holds the home, as far as it has said so. */
export function holderPid(paths: HomePaths): number | undefined {
  return holderOf(paths.lock)?.pid
}

export function homeLocked(paths: HomePaths): TirelessError {
  const holder = holderOf(paths.lock)
  return new TirelessError('home_locked', {
    what: 'another process holds the home',
    where: paths.root,
    got: holder
      ? `process ${holder.pid} (${holder.command}) since ${holder.since}`
      : 'a process that has not said who it is',
    fix: 'use the running one (for a cycle: tireless cycle now), stop it first (tireless stop), or name another home with --home',
  })
}
