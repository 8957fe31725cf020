/**
 * The home's lock: one process per home. An exclusive transaction on a file of its own; the kernel frees it the moment its
 * holder dies, kill -9 included, even while a child of the holder lives on.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

export interface Holder {
  readonly pid: number
  readonly command: string
  readonly since: string
  /** Where the holder listens for commands. */
  readonly socket: string
}

export interface HomeLock {
  release(): void
}

/** Contract: never waits; undefined when another process holds it. Nothing else may ever open `file`: closing it would free the lock. */
export function tryLock(file: string, describe: Holder): HomeLock | undefined {
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (thrown) {
    db.close()
    if (isBusy(thrown)) return undefined
    throw thrown
  }
  writeFileSync(holderFile(file), JSON.stringify(describe), { mode: 0o600 })
  return {
    release() {
      rmSync(holderFile(file), { force: true })
      db.close()
    },
  }
}

/** Contract: what the holder said of itself; undefined when that cannot be read. Only meaningful while the lock is held. */
export function holderOf(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(holderFile(file), 'utf8')) as Holder
  } catch {
    return undefined
  }
}

const holderFile = (file: string): string => `${file}.holder`

const SQLITE_BUSY = 5
function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && (Number(thrown.errcode) & 0xff) === SQLITE_BUSY
}
