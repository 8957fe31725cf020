/** Lists the entries below a folder, sorted by path. Links are listed but not followed; `.git` is not entered. */

import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import type { OpenFolder, RootedFolders } from './rooted-folders.ts'

interface ListedEntry {
  /** Relative to the root; folders end in a slash. */
  readonly path: string
  readonly stats: Stats
}

/** Contract: skips entries that cannot be opened, or that disappear while the folder is listed. */
export async function* listEntries(
  folders: RootedFolders,
  folder: OpenFolder,
  depth: number,
): AsyncGenerator<ListedEntry> {
  if (depth < 1) return
  for (const key of await sortedKeys(folder)) {
    const isFolder = key.endsWith('/')
    const name = isFolder ? key.slice(0, -1) : key
    const stats = await lstat(folder.systemPathOf(name)).catch(() => undefined)
    if (!stats || stats.isDirectory() !== isFolder) continue
    yield { path: folder.pathOf(key), stats }
    if (!isFolder || name === '.git') continue
    await using child = await folders.openChild(folder, name).catch(() => undefined)
    if (child) yield* listEntries(folders, child, depth - 1)
  }
}

/** A folder's name gets its slash before sorting, so that the entries come in the order of their whole paths. */
async function sortedKeys(folder: OpenFolder): Promise<string[]> {
  const entries = await readdir(folder.systemPath, { withFileTypes: true })
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
}
