/** What a seed draws in a world of several processes on one store: homes with their clocks, and faults between them. */

import type { KernelPlan } from './kernel-plan.ts'
import { type Boundary, type Fault, times } from './plan-types.ts'
import { chance, integerBelow, oneOf } from './random.ts'

/** A machine with a home of its own, on which one process runs at a time. */
export interface HomePlan {
  readonly role: 'all' | 'worker' | 'scheduler'
  /** How far its clock is ahead of the store's when the world begins, in milliseconds. */
  readonly offset: number
  /** How fast its clock goes, compared with the store's. */
  readonly rate: number
}

export interface SeveralPlan {
  readonly lease: number
  /** How long a process waits for a store that it cannot reach, in milliseconds. */
  readonly patience: number
  /** Share of notifications that get lost, and the longest delay of the others. */
  readonly lost: number
  readonly delay: number
  readonly homes: readonly HomePlan[]
}

/** By a remainder that no hinted world of another variant has. */
export const hasSeveralProcesses = (seed: number): boolean => seed % 13 === 5

const LEASE_MS = 15_000
/** Most clocks differ little; the lease must not depend on it. */
const SMALL_OFFSET_MS = 3_000
const LARGE_OFFSET_MS = 600_000
const MOST_DRIFT = 0.05
const MINUTE = 60_000

export function drawSeveral(seed: number): SeveralPlan {
  const draw = (...keys: (string | number)[]): number => chance(seed, 'several', ...keys)
  const widest = draw('skew') < 0.6 ? SMALL_OFFSET_MS : LARGE_OFFSET_MS
  return {
    lease: LEASE_MS,
    patience: oneOf(seed, [20_000, 120_000], 'several', 'patience'),
    lost: oneOf(seed, [0, 0.1, 0.5, 1], 'several', 'lost'),
    delay: oneOf(seed, [10, 100, 2_000], 'several', 'delay'),
    homes: times(2 + integerBelow(seed, 3, 'homes'), (i) => ({
      role: i === 0 ? 'all' : oneOf(seed, ['all', 'all', 'worker', 'scheduler'] as const, 'role', i),
      offset: Math.round((draw('offset', i) * 2 - 1) * widest),
      rate: 1 + (draw('rate', i) * 2 - 1) * MOST_DRIFT,
    })),
  }
}

/** Every process follows the same schedules; no cycle is run by hand only, and none is late on purpose. */
export const withBeats = (seed: number, kernel: KernelPlan): KernelPlan => ({
  ...kernel,
  ...{ single: false, late: false, every: oneOf(seed, [20_000, MINUTE], 'several', 'every') },
})

const LEADER_POINTS = ['begun', 'begun', 'deliver', 'accepted', 'file'] as const
const RUN_POINTS = ['tool', 'done', 'paid', 'model', 'open', 'notified', 'read'] as const
const STORE_POINTS = ['commit', 'ack', 'commit', 'ack', 'sleep'] as const
const POINTS: readonly [Boundary, ...Boundary[]] = ['begun', ...LEADER_POINTS, ...RUN_POINTS, ...STORE_POINTS]
/** Roughly how often all processes together visit a boundary in a fault phase. */
const VISITS: Partial<Record<Boundary, number>> = { commit: 250, ack: 220, sleep: 250, read: 250, notified: 40 }
const OTHER_VISITS = 14

export const drawSeveralFaults = (seed: number, faultEvents: number): readonly Fault[] =>
  times(4 + integerBelow(seed, 8, 'several faults'), (i) => drawOne(seed, i, faultEvents))

function drawOne(seed: number, i: number, faultEvents: number): Fault {
  const draw = (name: string): number => chance(seed, 'several fault', i, name)
  const id = `j${i}`
  const kind = draw('kind')
  const at = oneOf(seed, POINTS, 'several fault', i, 'where')
  const where = { id, at, nth: 1 + Math.floor(draw('nth') * (VISITS[at] ?? OTHER_VISITS)) }
  // From shorter than a lease to longer than any patience.
  const ms = Math.round(LEASE_MS * (0.2 + draw('ms') ** 2 * 10))
  if (kind < 0.28) return { ...where, kind: 'crash', repeats: 0 }
  if (kind < 0.5) return { ...where, kind: 'stop', ms }
  if (kind < 0.8)
    return { ...where, kind: 'cut', ms, loses: draw('loses') < 0.5 ? 'requests' : 'replies', all: draw('all') < 0.15 }
  const event = Math.floor(draw('at') * faultEvents)
  if (kind < 0.88)
    return {
      id,
      kind: 'clock',
      at: event,
      home: integerBelow(seed, 4, id),
      by: Math.round((draw('by') - 0.5) * MINUTE),
    }
  return kind < 0.94
    ? { id, kind: 'term', at: event, patience: Math.floor(draw('patience') * 15) }
    : {
        id,
        kind: 'tool',
        nth: where.nth,
        trouble: oneOf(seed, ['hang', 'throw', 'throw_after'], 'several fault', i, 'tool'),
      }
}
