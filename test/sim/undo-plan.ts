/** What a seed draws in a world with undos: who takes back which run, and crashes in the middle of it. */

import { type Boundary, type Fault, type Item, TYPICAL_VISITS, times, type When } from './plan-types.ts'
import { chance, integerBelow, oneOf } from './random.ts'
import { hasSeveralProcesses } from './several-plan.ts'

/** A user takes back what one of the runs did, whether or not others have written since. */
export interface Undo extends Item, When {
  readonly kind: 'undo'
}

const isKernelSeed = (seed: number): boolean => [1, 6].includes(seed % 7)

/** By a remainder that no hinted world of another variant has. Without a kernel, which has documents to take back. */
export const hasUndo = (seed: number): boolean => seed % 16 === 10 && !isKernelSeed(seed) && !hasSeveralProcesses(seed)

/** Once some runs have ended, while others work; the last ones after everything else. */
export const drawUndos = (seed: number, faultEvents: number): readonly Undo[] =>
  times(3 + integerBelow(seed, 5, 'undos'), (i) => ({
    ...{ id: `z${i}`, kind: 'undo', at: Math.floor((0.8 + 0.2 * chance(seed, 'undo', i, 'at')) * faultEvents) },
    afterEnds: 1 + integerBelow(seed, 4, 'undo', i, 'ends'),
  }))

const CRASH_POINTS: readonly [Boundary, ...Boundary[]] = ['restore', 'restore', 'restore', 'copy', 'commit', 'done']

export function drawUndoFault(seed: number, i: number): Fault {
  const at = oneOf(seed, CRASH_POINTS, 'undo crash', i, 'at')
  const nth = 1 + integerBelow(seed, TYPICAL_VISITS[at] * 2, 'undo crash', i, 'nth')
  return { id: `v${i}`, kind: 'crash', at, nth, repeats: 0 }
}
