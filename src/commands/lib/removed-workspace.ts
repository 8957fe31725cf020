/** `undo` of a removal: the folder of a workspace is brought back. */

import { TirelessError } from '../../domain/error.ts'
import type { RemovedWorkspace } from '../../ports/workspace-folders.ts'
import type { Needs } from './context.ts'

export const isRemoval = (target: string): boolean => target.startsWith('removed-')

/** Contract: `not_found` if no removal has this id, or its days are over. */
export async function findRemoved(
  { workspaceFolders }: Needs<'workspaceFolders'>,
  target: string,
): Promise<RemovedWorkspace> {
  const found = (await workspaceFolders.removed()).find(({ id }) => id === target)
  if (found) return found
  throw new TirelessError('not_found', {
    what: 'no removed workspace has this id, or its seven days are over',
    got: target,
    fix: 'run tireless workspace list',
  })
}
