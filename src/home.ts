/** The home: one folder with everything that outlives a process, held by one process at a time. */

import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Holder, type HomeLock, holderOf, tryLock } from './adapters/stores/sqlite/lock.ts'
import { TirelessError } from './domain/error.ts'

export interface HomePaths {
  readonly root: string
  readonly config: string
  readonly database: string
  readonly lock: string
  readonly socket: string
  readonly workspaces: string
  /** What running calls leave in case of a crash. */
  readonly calls: string
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
    workspaces: join(root, 'workspaces'),
    calls: join(root, 'calls'),
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

export function homeLocked(paths: HomePaths): TirelessError {
  const holder = holderOf(paths.lock)
  return new TirelessError('home_locked', {
    what: 'another process holds the home',
    where: paths.root,
    got: holder
      ? `process ${holder.pid} (${holder.command}) since ${holder.since}`
      : 'a process that has not said who it is',
    fix: 'use the running one, stop it first, or name another home with --home',
  })
}
