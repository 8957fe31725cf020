/** What lies below a folder, in the order of the paths. Links are named, never followed; what is inside `.git` is nobody's business. */

import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import type { Folder, Folders } from './folders.ts'

export interface Entry {
  /** Relative to the root; folders end in a slash. */
  readonly path: string
  readonly stats: Stats
}

/** Contract: what vanishes or may not be entered meanwhile is left out. */
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

/** Sorted with their slashes, siblings and what lies below them come out in the order of whole paths. */
async function sortedKeys(folder: Folder): Promise<string[]> {
  const entries = await readdir(folder.place, { withFileTypes: true })
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
}
