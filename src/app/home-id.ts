/** The id of a home, by which processes on a shared store know where a session's files are. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSecret } from '../adapters/system/ids.ts'
import { TirelessError } from '../domain/error.ts'
import { writeNewFile } from '../files/whole-files.ts'

/** Contract: the same for the life of the home; a copy of the home on another machine does not have it. */
export function homeId(root: string): string {
  const file = join(root, 'home-id')
  try {
    if (!existsSync(file)) writeNewFile(file, `${newSecret().slice(0, 16)}\n`)
  } catch (thrown) {
    // Another process was first.
    if (!(thrown instanceof TirelessError && thrown.code === 'conflict')) throw thrown
  }
  return readFileSync(file, 'utf8').trim()
}

/** Contract: undefined if there is no home, or none with an id. */
export function readHomeId(root: string): string | undefined {
  try {
    return readFileSync(join(root, 'home-id'), 'utf8').trim()
  } catch {
    return undefined
  }
}
