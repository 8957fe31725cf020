/** The working folder of a command: where it starts, and where it ended according to its shell. */

import { type FileHandle, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isInside } from './split-path.ts'

const MAX_PATH_BYTES = 4096

/** Contract: a path inside the root without symbolic links; the root itself if the folder is gone or outside. */
export async function findStartFolder(root: string, path: string): Promise<string> {
  const real = await realpath(join(root, path)).catch(() => root)
  const isFolder = await stat(real).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
  return isFolder && isInside(root, real) ? real : root
}

/**
 * Contract: the folder in which the shell ended, relative to the root; `before` if the shell reported none, the root if
 * the folder is outside.
 */
export async function readEndFolder(root: string, report: FileHandle, before: string): Promise<string> {
  const { buffer, bytesRead } = await report.read(Buffer.alloc(MAX_PATH_BYTES), 0, MAX_PATH_BYTES, 0)
  const [path] = /^\/[^\n]*(?=\n$)/.exec(buffer.toString('utf8', 0, bytesRead)) ?? []
  return relative(root, path === undefined ? before : isInside(root, path) ? path : root)
}
