/** Creates a folder that a person names, with its parents. */

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates the parents one by one: in some file systems, such as /proc, Node's own recursion never ends.
 * Contract: does nothing if the folder exists; rejects as `mkdir` does. `path` must be absolute.
 */
export async function createFolders(path: string, mode = 0o777): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return
  if (dirname(path) !== path) await createFolders(dirname(path), mode)
  await mkdir(path, { mode }).catch(async (thrown) => {
    // Another process may have created it in the meantime.
    if (!(await stat(path).catch(() => undefined))?.isDirectory()) throw thrown
  })
}
