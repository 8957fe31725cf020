/** Traces of runs that are gone go, too. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Contract: what cannot be removed stays. */
export async function removeTraces(folder: string, runs: readonly string[]): Promise<void> {
  for (const run of runs)
    if (/^[\w-]+$/.test(run)) await rm(join(folder, run), { recursive: true, force: true }).catch(() => {})
}
