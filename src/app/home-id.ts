/** The id of a home, by which processes on a shared store know where a session's files are. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSecret } from '../adapters/system/ids.ts'

/** Contract: the same for the life of the home; a copy of the home on another machine does not have it. */
export function homeId(root: string): string {
  const file = join(root, 'home-id')
  try {
    writeFileSync(file, `${newSecret().slice(0, 16)}\n`, { flag: 'wx', mode: 0o600 })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  }
  return readFileSync(file, 'utf8').trim()
}
