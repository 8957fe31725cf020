/**
 * The lock of a home: one process per home. It is an exclusive transaction on a separate file; the operating system
 * releases it when the holder dies, also by kill -9, and even if a child of the holder still runs.
 */

import { readFileSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { replaceFile } from '../../../files/whole-files.ts'

export interface LockHolder {
  readonly pid: number
  readonly command: string
  readonly since: string
  /** Path of the socket on which the holder accepts commands. */
  readonly socket: string
}

export interface HomeLock {
  release(): void
}

/**
 * Contract: never waits; undefined if another process has the lock. No other code of this process may open `file`:
 * closing `file` releases the lock.
 */
export function tryLock(file: string, holder: LockHolder): HomeLock | undefined {
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    replaceFile(holderFile(file), JSON.stringify(holder), { mode: 0o600, isFlushed: false })
  } catch (thrown) {
    db.close()
    if (isBusy(thrown)) return undefined
    throw thrown
  }
  return {
    release() {
      rmSync(holderFile(file), { force: true })
      db.close()
    },
  }
}

/** Contract: the holder's description; undefined if unreadable. Valid only while the lock is held. */
export function readLockHolder(file: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(holderFile(file), 'utf8')) as LockHolder
  } catch {
    return undefined
  }
}

const holderFile = (file: string): string => `${file}.holder`

const SQLITE_BUSY = 5
function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && (Number(thrown.errcode) & 0xff) === SQLITE_BUSY
}
