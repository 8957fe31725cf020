/** How much a backup leaves out: sizes of files and folders, counted up to a limit. */

import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Entries that are counted in all; a disk with more is large, however large it is exactly. */
const MAX_ENTRIES = 100_000

interface Size {
  readonly bytes: number | null
  readonly at_least: boolean
}

const UNKNOWN: Size = { bytes: null, at_least: false }

/** Contract: a function that measures; all its calls share the limit, so that a backup waits for seconds at most. */
export function createMeasure(limit = MAX_ENTRIES): (path: string) => Promise<Size> {
  let left = limit
  /** Contract: throws if the folder cannot be read; folders in it that cannot be read count nothing. */
  const sumOf = async (folder: string): Promise<number> => {
    let bytes = 0
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      left -= 1
      if (left <= 0) break
      const path = join(folder, entry.name)
      if (entry.isDirectory()) bytes += await sumOf(path).catch(() => 0)
      else if (entry.isFile()) bytes += (await lstat(path).catch(() => undefined))?.size ?? 0
    }
    return bytes
  }
  return async (path) => {
    const found = await stat(path).catch(() => undefined)
    if (!found) return UNKNOWN
    if (!found.isDirectory()) return { bytes: found.size, at_least: false }
    const bytes = await sumOf(await realpath(path)).catch(() => undefined)
    return bytes === undefined ? UNKNOWN : { bytes, at_least: left <= 0 }
  }
}
