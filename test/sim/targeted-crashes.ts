/** Crashes that are aimed: by chance alone a process would rarely die just there. */

import type { Fault } from './plan-types.ts'
import { whole } from './random.ts'

/** Twice it dies as soon as the run is opened, then it gets somewhere, and later it dies there once more. */
export const drawRelapse = (seed: number, i: number): Fault => ({
  id: `p${i}`,
  ...{ kind: 'crash', at: 'open', again: 1 },
  nth: 1 + whole(seed, 2, 'relapse', i),
  relapse: 2 + whole(seed, 2, 'pause', i),
})

export const drawLastWord = (i: number): Fault => ({ id: `o${i}`, kind: 'crash', at: 'word', nth: 1 + i, again: 0 })

/** A call of which nobody knows what became: there has to be something to say a word on. */
export const drawCutShort = (seed: number, i: number): Fault => ({
  id: `c${i}`,
  ...{ kind: 'crash', at: 'done', again: 0 },
  nth: 1 + 2 * i + whole(seed, 2, 'cut short', i),
})

export const drawPoison = (seed: number, i: number): Fault => ({
  id: `d${i}`,
  ...{ kind: 'crash', at: 'open', again: 3 },
  nth: 2 + whole(seed, 4, 'poison', i),
})
