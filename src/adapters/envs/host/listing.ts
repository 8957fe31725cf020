/** Lists the entries below a folder, sorted by path. Links are listed but not followed; `.git` is not entered. */

import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import type { Folder, Folders } from './folders.ts'

export interface Entry {
  /** Relative to the root; folders end in a slash. */
  readonly path: string
  readonly stats: Stats
}

/** Contract: skips entries that disappear or cannot be opened meanwhile. */
export async function* entriesOf(folders: Folders, folder: Folder, depth: number): AsyncGenerator<Entry> {
  if (depth < 1) return
  for (const key of await sortedKeys(folder)) {
    const isFolder = key.endsWith('/')
    const name = isFolder ? key.slice(0, -1) : key
    const stats = await lstat(folder.at(name)).catch(() => undefined)
    if (!stats || stats.isDirectory() !== isFolder) continue
    yield { path: folder.below(key), stats }
    if (!isFolder || name === '.git') continue
    await using child = await folders.child(folder, name).catch(() => undefined)
    if (child) yield* entriesOf(folders, child, depth - 1)
  }
}

/** Folder names are sorted with their slash, which gives the order of whole paths. */
async function sortedKeys(folder: Folder): Promise<string[]> {
  const entries = await readdir(folder.place, { withFileTypes: true })
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
}
