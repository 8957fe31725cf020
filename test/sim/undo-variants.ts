/** Broken undos. */

import type { Variant } from './variants.ts'

export const UNDO_VARIANTS: readonly Variant[] = [
  {
    // The plan takes for granted that the files are as the runs left them, and so does each change of a file.
    name: 'undo-over-a-later-writer',
    seed: 1354,
    snapshots: (snapshots) => ({
      ...snapshots,
      compare: async (before, after) => (after.startsWith('present') ? [] : snapshots.compare(before, after)),
      restore: async (workspace, changes, id) => {
        const there = await snapshots.compare('nothing', (await snapshots.look(workspace)) ?? '')
        const stateOf = new Map(there.map(({ path, after }) => [path, after]))
        const blind = changes.map((change) => ({ ...change, before: stateOf.get(change.path) ?? null }))
        return snapshots.restore(workspace, blind, id)
      },
    }),
  },
]
