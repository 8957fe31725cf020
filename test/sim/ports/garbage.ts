/** Ports that sometimes return a value outside of their contract, as a plugin without types could. */

import type { Hook } from '../../../src/ports/hook.ts'
import type { DeterministicMemoryKind, MemoryKind } from '../../../src/ports/memory.ts'
import type { GarbagePort } from '../plan.ts'
import type { SimProcess } from '../process.ts'
import { integerBelow } from '../random.ts'
import type { World } from '../world.ts'

const GARBAGE: readonly unknown[] = [42, undefined, null, Number.NaN, 'nonsense', {}, [], () => {}]

/** Contract: returns the value, or garbage when the plan says so. */
export function orGarbage<T>(world: World, proc: SimProcess, port: GarbagePort, value: T): T {
  if (!world.faults.isGarbageDue(port)) return value
  world.garbage.onGarbage(proc, port)
  const nth = integerBelow(world.plan.seed, GARBAGE.length + 1, 'garbage', world.events, port)
  return (nth === GARBAGE.length ? withoutLastKey(value) : GARBAGE[nth]) as T
}

/** Drops the last key: an answer without its usage, a result without its text. */
const withoutLastKey = (value: unknown): unknown => Object.fromEntries(Object.entries(value ?? {}).slice(0, -1))

/** Not deterministic, because it returns garbage at times: a replay plays back what it gave. */
export const simMemory = (world: World, proc: SimProcess, kind: DeterministicMemoryKind): MemoryKind => ({
  name: kind.name,
  open() {
    const memory = kind.open()
    return {
      reset: () => memory.reset(),
      append: (turn) => memory.append(turn),
      retrieve: (query) => orGarbage(world, proc, 'memory', memory.retrieve(query)),
      summarise: (from, upto) => memory.summarise(from, upto),
      evict: () => memory.evict(),
    }
  },
})

/** A hook returns nothing, so it throws a value that is not an error. */
export const simHook = (world: World, proc: SimProcess): Hook => ({
  name: 'sim',
  on_before_decide() {
    const thrown = orGarbage<unknown>(world, proc, 'hook', undefined)
    if (thrown !== undefined) throw thrown
  },
})
