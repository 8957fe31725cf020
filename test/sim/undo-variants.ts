/** Broken undos. */

import type { Variant } from './variants.ts'

export const UNDO_VARIANTS: readonly Variant[] = [
  {
    // The plan takes for granted that the files are as the runs left them.
    name: 'undo-over-a-later-writer',
    seed: 1146,
    snapshots: (snapshots) => ({
      ...snapshots,
      compare: async (before, after) => (after.startsWith('present') ? [] : snapshots.compare(before, after)),
    }),
  },
]
