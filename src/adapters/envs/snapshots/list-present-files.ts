/** Lists the files of a workspace as they are now, without repositories and installed packages. */

import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PresentFiles } from '../../../ports/snapshots.ts'

const LEFT_OUT = new Set(['.git', 'node_modules'])

/** Contract: counts everything, names at most `limit` paths, sorted; a folder that does not exist has no files. */
export async function listPresentFiles(workspace: string, limit: number): Promise<PresentFiles> {
  const found = { files: 0, bytes: 0, paths: [] as { path: string; bytes: number }[] }
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(workspace, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (LEFT_OUT.has(entry.name)) continue
      if (entry.isDirectory()) await visit(path)
      else {
        const bytes = (await lstat(join(workspace, path)).catch(() => undefined))?.size ?? 0
        found.files += 1
        found.bytes += bytes
        if (found.paths.length < limit) found.paths.push({ path, bytes })
      }
    }
  }
  await visit('')
  return found
}
