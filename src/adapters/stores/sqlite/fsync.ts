/** Syncs a file or a folder to disk. */

import { closeSync, fsyncSync, openSync } from 'node:fs'

export function fsyncPath(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
