/** What of a workspace is guarded while a command runs in it, and what is taken away when the command has ended. */

import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Bind } from './layout.ts'
import { beside, guardsOf, type Repository, repositoriesIn } from './repositories.ts'
import { type Before, protectedNames, sweep } from './sweep.ts'

export interface Guard {
  /** What is laid over the workspace, or beside it. */
  readonly binds: readonly Bind[]
  /** Contract: called when nothing of the command runs any more; what was taken away, a line for whoever asked for it. */
  swept(): Promise<readonly string[]>
}

/** Contract: for the commands of a process: what the last one has left is what the next one finds. */
export function guards(): (root: string) => Promise<Guard> {
  const known = new Map<string, Promise<readonly Repository[]>>()
  return async (root) => {
    makeEnterable(root)
    const before: Before = {
      repositories: await (known.get(root) ?? repositoriesIn(root)),
      names: protectedNames(root),
    }
    return {
      binds: await bindsFor(root, before),
      async swept() {
        const swept = sweep(root, before)
        known.set(
          root,
          swept.then((after) => after.repositories),
        )
        const { removed } = await swept
        return removed.length === 0 ? [] : [`removed, because agents do not write these: ${removed.join(', ')}`]
      },
    }
  }
}

/** For what cannot write anything that has to be guarded. */
export const unguarded = (binds: readonly Bind[]): Guard => ({ binds, swept: async () => [] })

/** Who shuts himself out of his own workspace could not open it again: nothing runs but in there. */
function makeEnterable(root: string): void {
  const { mode } = statSync(root)
  if ((mode & 0o700) !== 0o700) chmodSync(root, (mode & 0o777) | 0o700)
}

async function bindsFor(root: string, { repositories, names }: Before): Promise<readonly Bind[]> {
  return [
    ...(await beside(root)),
    ...(await guardsOf(repositories)),
    ...[...names].map((name) => ({ from: join(root, name), at: join(root, name), writable: false })),
  ]
}
