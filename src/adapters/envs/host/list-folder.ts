/** Lists one folder of a workspace, part by part, for people who look at it. Links are listed, not followed. */

import { existsSync, type Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { TirelessError } from '../../../domain/error.ts'
import type { ListFolder } from '../../../ports/workspace-folder.ts'
import { createRootedFolders } from './rooted-folders.ts'
import { splitPathBelow } from './split-path.ts'

type FolderEntry = Awaited<ReturnType<ListFolder>>['entries'][number]

export const listRootedFolder: ListFolder = async (root, path, { offset, limit }) => {
  const names = splitPathBelow(root, path)
  // The first run of a session creates its workspace.
  if (names.length === 0 && !existsSync(root)) return { entries: [], total: 0 }
  await using folder = await createRootedFolders(root).open(names)
  if (!folder) throw new TirelessError('not_found', { what: 'no such folder', where: JSON.stringify(path) })
  const found = await readdir(folder.systemPath, { withFileTypes: true })
  const sorted = found.toSorted(
    (a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1),
  )
  const entries: FolderEntry[] = []
  for (const { name } of sorted.slice(offset, offset + limit)) {
    const stats = await lstat(folder.systemPathOf(name)).catch(() => undefined)
    if (stats) entries.push(describeEntry(name, stats))
  }
  return { entries, total: found.length }
}

function describeEntry(name: string, stats: Stats): FolderEntry {
  const kind = stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other'
  return { name, kind, bytes: kind === 'file' ? stats.size : 0, modified: stats.mtimeMs }
}
