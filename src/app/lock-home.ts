/** Takes the lock of a home for this process. */

import type { HomeLock } from '../adapters/stores/sqlite/lock.ts'
import { type HomePaths, holdHome, homeLocked } from '../home.ts'
import { type Clock, iso } from '../ports/clock.ts'

/** Contract: throws `home_locked` when another process holds it. `name`: who holds the home, as others are told. */
export function lockHome(paths: HomePaths, name: string, clock: Clock): HomeLock {
  const lock = holdHome(paths, { pid: process.pid, command: name, since: iso(clock.now()) })
  if (!lock) throw homeLocked(paths)
  return lock
}
