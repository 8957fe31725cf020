/** Where a command stands in the workspace: which folder it begins in, and which one it said it ended in. */

import { type FileHandle, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isInside } from './paths.ts'

const LONGEST_PATH = 4096

/** Contract: a real path inside the root; the root itself where there is no such folder any more. */
export async function folderAt(root: string, path: string): Promise<string> {
  const real = await realpath(join(root, path)).catch(() => root)
  const isFolder = await stat(real).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
  return isFolder && isInside(root, real) ? real : root
}

/** Contract: relative to the root, and inside it; `before` where it has not said anything. */
export async function endedIn(root: string, said: FileHandle, before: string): Promise<string> {
  const { buffer, bytesRead } = await said.read(Buffer.alloc(LONGEST_PATH), 0, LONGEST_PATH, 0)
  const [path] = /^\/[^\n]*(?=\n$)/.exec(buffer.toString('utf8', 0, bytesRead)) ?? []
  return relative(root, path === undefined ? before : isInside(root, path) ? path : root)
}
