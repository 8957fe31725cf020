/** What a seed draws in a world with sub-agents: what a run may spend, who is cancelled, which faults hit children. */

import { type Boundary, type Fault, type Item, TYPICAL_VISITS, times, type When } from './plan-types.ts'
import { chance, integerBelow, oneOf } from './random.ts'
import { hasSeveralProcesses } from './several-plan.ts'

/** A user cancels the run of a task, or one of the sub-agents that work by then. */
export interface Cancel extends Item, When {
  readonly kind: 'cancel'
  readonly what: 'task' | 'sub_agent'
  readonly how: 'after_step' | 'immediate'
}

/** By a remainder that no hinted world of another variant has. */
export const hasSubAgents = (seed: number): boolean => seed % 12 === 9 && !hasSeveralProcesses(seed)

/** Some runs have no limit of their own. In millionths of a dollar. */
const LOWEST_LIMIT = 40_000
const LIMITS_ABOVE = 200_000

export function drawRunLimit(seed: number): number | undefined {
  if (chance(seed, 'unlimited') < 0.2) return undefined
  return LOWEST_LIMIT + integerBelow(seed, LIMITS_ABOVE, 'limit')
}

export const drawCancels = (seed: number, faultEvents: number): readonly Cancel[] =>
  times(integerBelow(seed, 4, 'cancels'), (i) => ({
    ...{ id: `q${i}`, kind: 'cancel', at: Math.floor((0.1 + 0.7 * chance(seed, 'cancel', i, 'at')) * faultEvents) },
    what: chance(seed, 'cancel', i, 'what') < 0.4 ? 'task' : 'sub_agent',
    how: chance(seed, 'cancel', i, 'how') < 0.5 ? 'after_step' : 'immediate',
    ...(chance(seed, 'cancel', i, 'busy') < 0.5
      ? { duringRequest: 2 + integerBelow(seed, 16, 'cancel', i, 'asking') }
      : {}),
  }))

const CRASH_POINTS: readonly [Boundary, ...Boundary[]] = ['commit', 'ack', 'ack', 'copy', 'copy', 'open', 'paid']

/** The first one sets a run aside: it crashes too often. */
export function drawSubAgentFault(seed: number, i: number): Fault {
  const id = `y${i}`
  if (i === 0) return { id, kind: 'crash', at: 'open', nth: 2 + integerBelow(seed, 8, 'set aside'), repeats: 3 }
  const at = oneOf(seed, CRASH_POINTS, 'family crash', i, 'at')
  const nth = 1 + integerBelow(seed, TYPICAL_VISITS[at] * 3, 'family crash', i, 'nth')
  return { id, kind: 'crash', at, nth, repeats: 0 }
}
