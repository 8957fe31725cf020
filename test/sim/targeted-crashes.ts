/** Crashes that are aimed: by chance alone a process would rarely die just there. */

import type { Fault } from './plan-types.ts'
import { integerBelow } from './random.ts'

/** Twice it dies as soon as the run is opened, then it gets somewhere, and later it dies there once more. */
export const drawRepeatedCrash = (seed: number, i: number): Fault => ({
  id: `p${i}`,
  ...{ kind: 'crash', at: 'open', repeats: 1 },
  nth: 1 + integerBelow(seed, 2, 'relapse', i),
  finalRepeat: 2 + integerBelow(seed, 2, 'pause', i),
})

export const drawCrashOnResolution = (i: number): Fault => ({
  id: `o${i}`,
  kind: 'crash',
  at: 'word',
  nth: 1 + i,
  repeats: 0,
})

/** A call of which nobody knows what became: there has to be something to say a word on. */
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
