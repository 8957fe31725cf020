/** Draws a fault of a random kind. Faults that aim at one situation are in targeted-crashes.ts and kernel-plan.ts. */

import { BOUNDARIES, type Fault, HOUR, PROVIDER_TROUBLES, TYPICAL_VISITS } from './plan-types.ts'
import { chance, oneOf } from './random.ts'

/** Boundaries that a resumed run visits again before it has written anything. */
const REPEATED_CRASH_POINTS = ['open', 'open', 'tool', 'tool', 'done', 'done', 'probe', 'remains', 'listed'] as const
const CRASH_POINTS = ['ack', 'ack', 'commit', 'done', 'done', 'done', 'tool', 'tool', 'paid', ...BOUNDARIES] as const

export function drawFault(seed: number, i: number, faultEvents: number): Fault {
  const id = `f${i}`
  const draw = (name: string): number => chance(seed, 'fault', i, name)
  const nth = (often: number): number => 1 + Math.floor(draw('nth') * often)
  const times = (most: number): number => (draw('again') < 0.4 ? 2 + Math.floor(draw('times') * (most - 1)) : 1)
  const among = <T>(options: readonly [T, ...T[]]): T => oneOf(seed, options, 'fault', i, 'among')
  const at = Math.floor(draw('at') * faultEvents)
  switch (pickByWeight(draw('kind'))) {
    case 'crash': {
      const repeats = draw('again') < 0.4 ? 1 + Math.floor(draw('times') * 3) : 0
      const where = among(repeats > 0 ? REPEATED_CRASH_POINTS : CRASH_POINTS)
      const finalRepeat = repeats > 0 && draw('relapse') < 0.5 ? { finalRepeat: 2 + Math.floor(draw('pause') * 4) } : {}
      return { id, kind: 'crash', at: where, nth: nth(TYPICAL_VISITS[where]), repeats, ...finalRepeat }
    }
    case 'pause': {
      const where = among(CRASH_POINTS)
      return {
        id,
        kind: 'pause',
        at: where,
        nth: nth(TYPICAL_VISITS[where]),
        events: 10 + Math.floor(draw('events') * 90),
      }
    }
    case 'disk':
      return { id, kind: 'disk', nth: nth(TYPICAL_VISITS.commit), written: draw('written') < 0.5 }
    case 'provider':
      return {
        id,
        kind: 'provider',
        nth: nth(TYPICAL_VISITS.model),
        times: times(4),
        trouble: among(PROVIDER_TROUBLES),
      }
    case 'tool': {
      const trouble = among<'hang' | 'throw' | 'throw_after'>(['hang', 'throw', 'throw_after'])
      const ignoresAbort = trouble === 'hang' && draw('deaf') < 0.6
      return { id, kind: 'tool', nth: nth(TYPICAL_VISITS.tool), trouble: ignoresAbort ? 'ignores_abort' : trouble }
    }
    case 'before':
      return { id, kind: 'before', nth: nth(4) }
    case 'probe':
      return { id, kind: 'probe', nth: 1, times: times(3), trouble: among(['unclear', 'throw']) }
    case 'remains':
      return { id, kind: 'remains', nth: 1 }
    case 'critic':
      return { id, kind: 'critic', nth: nth(12), verdict: among(['retry', 'retry', 'stop', 'throw']) }
    case 'env':
      return { id, kind: 'env', nth: nth(12) }
    case 'withdraw':
      return { id, kind: 'withdraw', fromProcess: 2 + Math.floor(draw('life') * 4), removed: draw('gone') < 0.5 }
    case 'wall':
      return { id, kind: 'wall', at, by: Math.round((draw('by') * 2 - 1) * 12 * HOUR) }
    case 'term':
      return { id, kind: 'term', at, patience: Math.floor(draw('patience') * 15) }
  }
}

const WEIGHTS = {
  crash: 34,
  pause: 10,
  disk: 3,
  provider: 15,
  tool: 8,
  before: 1,
  probe: 5,
  remains: 2,
  critic: 4,
  env: 2,
  withdraw: 3,
  wall: 4,
  term: 9,
} as const satisfies Record<RandomFaultKind, number>

/** The faults that are drawn by weight; the other kinds are drawn separately. */
type RandomFaultKind = Exclude<Fault['kind'], 'rival' | 'late' | 'garbage' | 'stop' | 'cut' | 'clock'>

function pickByWeight(draw: number): RandomFaultKind {
  let left = draw * 100
  for (const [kind, weight] of Object.entries(WEIGHTS)) {
    left -= weight
    if (left < 0) return kind as RandomFaultKind
  }
  return 'crash'
}
