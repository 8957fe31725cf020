/** The process environment, in the one place that reads it: everybody else is handed values. */

import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Variables } from './expand.ts'

export function environment(): Variables {
  return process.env
}

/** What people call `~`. */
export const userFolder = (env: Variables = environment()): string => env.HOME || homedir()

/** Where Tireless lives when nobody says otherwise. */
export function defaultHome(env: Variables = environment()): string {
  return env.TIRELESS_HOME || join(userFolder(env), '.tireless')
}
