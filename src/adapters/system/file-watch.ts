/** Watches a file or a folder for changes. Events can be missed, so callers that must be sure also poll. */

import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/**
 * Contract: may call `onChange` without a change; never throws. If watching is impossible, `onChange` is never called.
 */
export function watchFile(file: string, onChange: () => void): { close(): void } {
  // Watches the folder, because editors save by replacing the file.
  return startWatcher(() =>
    watch(dirname(file), { persistent: false }, (_, name) => {
      if (name === null || name === basename(file)) onChange()
    }),
  )
}

/** Contract: as watchFile, for everything below the folder. */
export function watchFolder(folder: string, onChange: () => void): { close(): void } {
  return startWatcher(() => watch(folder, { persistent: false, recursive: true }, onChange))
}

function startWatcher(start: () => FSWatcher): { close(): void } {
  try {
    const watcher = start()
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return { close: () => {} }
  }
}
