/** Window memory: the last turns in full, and nothing of earlier turns. */

import type { DeterministicMemory } from '../ports/memory.ts'
import { slidingWindow } from './sliding-window.ts'

export function windowMemory(n: number): DeterministicMemory {
  const turns = slidingWindow<{ readonly turn: number }>(n)
  return {
    reset: turns.reset,
    append({ turn }) {
      turns.add({ turn })
    },
    retrieve: () => ({ from: turns.from(), summary: '', recalled: [] }),
    summarise: () => '',
    evict: () => turns.evictHalf().length,
  }
}
