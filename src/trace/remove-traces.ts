/** Removes the traces of deleted runs. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Contract: ignores errors; traces that cannot be removed stay. */
export async function removeTraces(folder: string, runs: readonly string[]): Promise<void> {
  for (const run of runs)
    if (/^[\w-]+$/.test(run)) await rm(join(folder, run), { recursive: true, force: true }).catch(() => {})
}
