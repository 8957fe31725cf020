/** Ports whose authors have no types: now and then one returns what is none of what it may return. */

import type { Hook } from '../../../src/ports/hook.ts'
import type { MemoryKind } from '../../../src/ports/memory.ts'
import type { GarbagePort } from '../plan.ts'
import type { Life } from '../process.ts'
import { whole } from '../random.ts'
import type { World } from '../world.ts'

const GARBAGE: readonly unknown[] = [42, undefined, null, Number.NaN, 'nonsense', {}, [], () => {}]

/** Contract: what is right, or garbage where the plan says so. */
export function orGarbage<T>(world: World, life: Life, port: GarbagePort, right: T): T {
  if (!world.faults.garbled(port)) return right
  world.garbage.returned(life, port)
  const nth = whole(world.plan.seed, GARBAGE.length + 1, 'garbage', world.events, port)
  return (nth === GARBAGE.length ? halfOf(right) : GARBAGE[nth]) as T
}

/** Without the last of its keys: an answer without its usage, a result without its text. */
const halfOf = (right: unknown): unknown => Object.fromEntries(Object.entries(right ?? {}).slice(0, -1))

export const simMemory = (world: World, life: Life, kind: MemoryKind): MemoryKind => ({
  ...kind,
  open() {
    const memory = kind.open()
    return {
      reset: () => memory.reset(),
      append: (turn) => memory.append(turn),
      retrieve: (query) => orGarbage(world, life, 'memory', memory.retrieve(query)),
      summarise: (from, upto) => memory.summarise(from, upto),
      evict: () => memory.evict(),
    }
  },
})

/** One that watches has nothing to return: it throws what is no error. */
export const simHook = (world: World, life: Life): Hook => ({
  name: 'sim',
  on_before_decide() {
    const thrown = orGarbage<unknown>(world, life, 'hook', undefined)
    if (thrown !== undefined) throw thrown
  },
})
