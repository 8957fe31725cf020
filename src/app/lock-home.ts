/** Takes the lock of a home for this process. */

import type { HomeLock } from '../adapters/stores/sqlite/home-lock.ts'
import { type HomePaths, holdHome, homeLockedError } from '../home.ts'
import { type Clock, iso } from '../ports/clock.ts'

/** Contract: throws `home_locked` if another process holds the home. `name`: command shown to other processes. */
export function lockHome(paths: HomePaths, name: string, clock: Clock): HomeLock {
  const lock = holdHome(paths, { pid: process.pid, command: name, since: iso(clock.now()) })
  if (!lock) throw homeLockedError(paths)
  return lock
}
