// Whether the bundle of the command line matches its sources. Plain JavaScript for Node 18 and newer, like the set-up.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '')
export const bundles = join(root, 'node_modules', '.cache', 'program')
/** Two lines: the folder of the sources, and the folder of the bundle. */
export const stamp = join(bundles, 'stamp')

/**
 * Contract: the bundled cli/main; undefined if there is none, or if anything in `src` was changed, added or removed
 * since. bin/tireless checks the same.
 */
export function bundledMain() {
  try {
    const [sources, folder] = readFileSync(stamp, 'utf8').split('\n')
    if (sources !== root || hasNewer(join(root, 'src'), statSync(stamp).mtimeMs)) return undefined
    return join(folder, 'cli', 'main.js')
  } catch {
    return undefined
  }
}

/** By the time of the last change of any kind: a copied file may have an old time of writing. */
function hasNewer(folder, ms) {
  if (statSync(folder).ctimeMs > ms) return true
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? hasNewer(path, ms) : statSync(path).ctimeMs > ms
  })
}
