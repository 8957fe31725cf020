/** The only place that reads the process environment; all other code gets values passed in. */

import { homedir } from 'node:os'
import { join } from 'node:path'
import type { EnvVariables } from './expand-env.ts'

export function environment(): EnvVariables {
  return process.env
}

/** The folder that `~` stands for. */
export const userFolder = (env: EnvVariables = environment()): string => env.HOME || homedir()

/** The home folder if neither `--home` nor TIRELESS_HOME names one. */
export function defaultHome(env: EnvVariables = environment()): string {
  return env.TIRELESS_HOME || join(userFolder(env), '.tireless')
}
