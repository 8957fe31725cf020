/** Window: the last turns whole, and nothing of those before. */

import type { Memory } from '../ports/memory.ts'
import { slide } from './slide.ts'

export function windowMemory(n: number): Memory {
  const turns = slide<{ readonly turn: number }>(n)
  return {
    reset: turns.reset,
    append({ turn }) {
      turns.add({ turn })
    },
    retrieve: () => ({ from: turns.from(), summary: '', recalled: [] }),
    summarise: () => '',
    evict: () => turns.halve().length,
  }
}
