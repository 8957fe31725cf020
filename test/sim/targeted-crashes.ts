/** Crashes at chosen points that random crashes would rarely hit. */

import type { Fault } from './plan-types.ts'
import { integerBelow } from './random.ts'

/** Crashes twice as soon as the run is opened; then the run makes progress, and crashes there once more. */
export const drawRepeatedCrash = (seed: number, i: number): Fault => ({
  id: `p${i}`,
  ...{ kind: 'crash', at: 'open', repeats: 1 },
  nth: 1 + integerBelow(seed, 2, 'relapse', i),
  finalRepeat: 2 + integerBelow(seed, 2, 'pause', i),
})

export const drawCrashOnResolution = (i: number): Fault => ({
  id: `o${i}`,
  kind: 'crash',
  at: 'resolved',
  nth: 1 + i,
  repeats: 0,
})

/** Crashes after an effect, so that there is an unknown outcome to resolve. */
export const drawCrashAfterEffect = (seed: number, i: number): Fault => ({
  id: `c${i}`,
  ...{ kind: 'crash', at: 'done', repeats: 0 },
  nth: 1 + 2 * i + integerBelow(seed, 2, 'cut short', i),
})

export const drawPoisonCrashes = (seed: number, i: number): Fault => ({
  id: `d${i}`,
  ...{ kind: 'crash', at: 'open', repeats: 3 },
  nth: 2 + integerBelow(seed, 4, 'poison', i),
})
