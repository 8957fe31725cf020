/** Hears when a file is changed, made, replaced or removed. A hint: whoever has to be sure looks as well. */

import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Contract: `changed` may be called more often than something changed; never throws. Where nothing can be watched, nothing is heard. */
export function watchFile(file: string, changed: () => void): { close(): void } {
  // The folder, because editors put a new file in the old one's place.
  return undisturbed(() =>
    watch(dirname(file), { persistent: false }, (_, name) => {
      if (name === null || name === basename(file)) changed()
    }),
  )
}

/** Contract: as watchFile, of everything below the folder. */
export function watchFolder(folder: string, changed: () => void): { close(): void } {
  return undisturbed(() => watch(folder, { persistent: false, recursive: true }, changed))
}

function undisturbed(begin: () => FSWatcher): { close(): void } {
  try {
    const watcher = begin()
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return { close: () => {} }
  }
}
