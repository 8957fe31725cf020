/** What a seed draws in a world with residents: their rates, what they are told and when, and crashes between looks. */

import type { OverrunPolicy } from '../../src/domain/schedule.ts'
import { type Boundary, type Fault, type Item, TYPICAL_VISITS, times, type When } from './plan-types.ts'
import { chance, integerBelow, oneOf } from './random.ts'
import { hasSeveralProcesses } from './several-plan.ts'

export interface ResidentPlan {
  readonly agent_id: string
  readonly hz: number
  readonly overrun: OverrunPolicy
  readonly max_queries: number | null
}

/** Something happens, or somebody writes to a resident. The same key again is a duplicate. */
export interface Observe extends Item, When {
  readonly kind: 'observe'
  readonly agent: string
  readonly key: string
  /** `chat`: a message from a chat, which is where the answer goes. */
  readonly what: 'event' | 'message' | 'chat'
}

/** The latest value of something that changes often. */
export interface SetSlice extends Item, When {
  readonly kind: 'slice'
  readonly agent: string
  readonly name: string
  readonly value: number
}

const isKernelSeed = (seed: number): boolean => [1, 6].includes(seed % 7)

/** By a remainder that no hinted world of another variant has. */
export const hasResidents = (seed: number): boolean =>
  seed % 8 === 0 && !isKernelSeed(seed) && !hasSeveralProcesses(seed)

const RATES = [0.1, 0.5, 1, 3, 10] as const
const SLICES = ['mouse', 'line'] as const
/** Share of observations that are published a second time. */
const REPEATED = 0.35

export const drawResidents = (seed: number): readonly ResidentPlan[] =>
  times(1 + integerBelow(seed, 3, 'residents'), (i) => ({
    agent_id: `r${i}`,
    hz: oneOf(seed, RATES, 'hz', i),
    overrun: oneOf(seed, ['skip', 'catch_up'], 'resident overrun', i),
    max_queries: oneOf(seed, [null, 1, 3], 'queries', i),
  }))

export function drawObservations(seed: number, faultEvents: number): readonly (Observe | SetSlice)[] {
  const residents = drawResidents(seed).map(({ agent_id }) => agent_id)
  const agentOf = (...keys: readonly (string | number)[]): string =>
    residents[integerBelow(seed, residents.length, ...keys)] ?? ''
  const seen = times(3 + integerBelow(seed, 8, 'observations'), (i): readonly Observe[] => {
    const what = oneOf(seed, ['event', 'event', 'event', 'message', 'chat'] as const, 'observed', i)
    const one: Observe = {
      ...{ id: `n${i}`, kind: 'observe', key: `n${i}`, agent: agentOf('observer', i), what },
      ...drawWhen(seed, 'observed', i, faultEvents),
    }
    if (chance(seed, 'observed', i, 'again') >= REPEATED) return [one]
    return [one, { ...one, id: `${one.id}-again`, ...drawWhen(seed, 'observed again', i, faultEvents) }]
  })
  const slices = times(
    2 + integerBelow(seed, 8, 'slices'),
    (i): SetSlice => ({
      ...{ id: `e${i}`, kind: 'slice', agent: agentOf('slice', i), name: oneOf(seed, SLICES, 'slice', i), value: i },
      ...drawWhen(seed, 'slice', i, faultEvents),
    }),
  )
  return [...seen.flat(), ...slices]
}

/** Most things happen while a look is under way, or after one. */
function drawWhen(seed: number, what: string, i: number, faultEvents: number): When {
  const draw = (name: string): number => chance(seed, what, i, name)
  const at = Math.floor(draw('at') * faultEvents * 0.8)
  if (draw('busy') < 0.35) return { at, duringRequest: 1 + Math.floor(draw('asking') * 14) }
  return draw('busy') < 0.8 ? { at, afterEnds: 1 + Math.floor(draw('ends') * 8) } : { at }
}

const CRASH_POINTS: readonly [Boundary, ...Boundary[]] = ['commit', 'ack', 'ack', 'read', 'paid', 'sleep', 'posted']

export function drawResidentFault(seed: number, i: number): Fault {
  const at = oneOf(seed, CRASH_POINTS, 'resident crash', i, 'at')
  const nth = 1 + integerBelow(seed, TYPICAL_VISITS[at] * 3, 'resident crash', i, 'nth')
  return { id: `h${i}`, kind: 'crash', at, nth, repeats: 0 }
}
