/** The only place that reads the process environment; all other code gets values passed in. */

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { TirelessError } from '../domain/error.ts'
import type { EnvVariables } from './expand-env.ts'

export function environment(): EnvVariables {
  return process.env
}

/** The folder that `~` stands for. */
export const userFolder = (env: EnvVariables = environment()): string => env.HOME || homedir()

/** The home folder if neither `--home` nor TIRELESS_HOME names one. */
export function defaultHome(env: EnvVariables = environment()): string {
  if (env.TIRELESS_HOME) return env.TIRELESS_HOME
  const folder = userFolder(env)
  if (isAbsolute(folder)) return join(folder, '.tireless')
  throw new TirelessError('usage', {
    what: 'there is no folder for the home',
    got: `HOME=${folder}`,
    expected: 'an absolute path in HOME',
    fix: 'set HOME or TIRELESS_HOME, or use --home',
  })
}

/** Contract: the folder that the user named, else the default; throws `usage` for an empty name. */
export function homeFolder(named: string | undefined): string {
  if (named === undefined) return defaultHome()
  if (named.trim() !== '') return named
  throw new TirelessError('usage', { what: '--home is empty', expected: 'the path of a folder' })
}
