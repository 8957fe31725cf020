/** The built-in kinds of memory, by name. `whole`, the default, shows everything until there is no room for it, and from then on a summary too. */

import type { MemoryKind } from '../ports/memory.ts'
import { recallMemory } from './recall.ts'
import { summaryMemory } from './summary.ts'
import { windowMemory } from './window.ts'

/** Turns that are shown whole at the least. */
const TURNS = 12

export const MEMORY_KINDS: readonly MemoryKind[] = [
  { name: 'whole', open: () => summaryMemory(Number.POSITIVE_INFINITY) },
  { name: 'window', open: () => windowMemory(TURNS) },
  { name: 'summary', open: () => summaryMemory(TURNS) },
  { name: 'recall', open: () => recallMemory(TURNS) },
]
