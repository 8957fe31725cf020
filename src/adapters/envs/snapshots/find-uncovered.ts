/** Lists what a snapshot of a workspace would leave out now, without taking one. Files are opened and not read. */

import { closeSync, constants, openSync } from 'node:fs'
import type { Omission } from '../../../domain/path-change.ts'
import type { Uncovered } from '../../../ports/snapshots.ts'
import { nameKey } from './entry-names.ts'
import {
  listWorkspace,
  type ScannedEntry,
  type TreeLimits,
  WorkspaceTooLargeError,
  whyUnreadable,
} from './list-workspace.ts'

/** Contract: never rejects; a folder that does not exist leaves nothing out. */
export async function findUncovered(workspace: string, limits: TreeLimits): Promise<Uncovered> {
  const found = new Map<string, Omission>()
  const visit = ({ entries }: ScannedEntry, path: string): void => {
    for (const entry of entries) {
      const at = `${path}${nameKey(entry.name)}`
      const why = entry.why ?? (entry.kind === 'file' ? whyNotRead(entry.path) : undefined)
      if (why === undefined) visit(entry, `${at}/`)
      else if (why !== 'gone') found.set(at, why)
    }
  }
  try {
    const nothingKnown = { hasFile: () => false, sizeOfObjects: () => undefined, large: new Map() }
    visit(await listWorkspace(workspace, nothingKnown, limits), '')
    return found
  } catch (thrown) {
    if (thrown instanceof WorkspaceTooLargeError) return 'too_many_entries'
    return whyUnreadable(thrown) === 'gone' ? found : 'not_listed'
  }
}

function whyNotRead(path: Buffer): Omission | 'gone' | undefined {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
    return undefined
  } catch (thrown) {
    return whyUnreadable(thrown)
  }
}
