/**
 * The built-in kinds of memory. `whole`, the default, shows all turns while they fit, and then a summary and the last
 * turns.
 */

import type { DeterministicMemoryKind } from '../ports/memory.ts'
import { recallMemory } from './recall.ts'
import { summaryMemory } from './summary.ts'
import { windowMemory } from './window.ts'

/** At least this many of the last turns are shown in full, if they fit. */
const MIN_TURNS = 12

export const MEMORY_KINDS: readonly DeterministicMemoryKind[] = [
  { name: 'whole', isDeterministic: true, open: () => summaryMemory(Number.POSITIVE_INFINITY) },
  { name: 'window', isDeterministic: true, open: () => windowMemory(MIN_TURNS) },
  { name: 'summary', isDeterministic: true, open: () => summaryMemory(MIN_TURNS) },
  { name: 'recall', isDeterministic: true, open: () => recallMemory(MIN_TURNS) },
]
