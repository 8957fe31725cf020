/** Whether a file can be sent to a person: it exists, is not too large, and is where it seems to be. */

import { realpath, stat } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import type { MessageFile } from '../../domain/message.ts'

/** The most that a file may have so that it is sent. */
const MAX_FILE_BYTES = 30 * 1024 * 1024

/** Contract: why the file cannot be sent; null if it can. Never rejects. */
export async function checkFile({ path, root }: MessageFile): Promise<'missing' | 'too_large' | 'outside' | null> {
  try {
    const real = await realpath(path)
    if (root !== undefined && isOutside(await realpath(root), real)) return 'outside'
    const found = await stat(real)
    if (!found.isFile()) return 'missing'
    return found.size > MAX_FILE_BYTES ? 'too_large' : null
  } catch {
    return 'missing'
  }
}

function isOutside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '..' || way.startsWith(`..${sep}`) || way.startsWith(sep) || /^[A-Za-z]:/.test(way)
}
