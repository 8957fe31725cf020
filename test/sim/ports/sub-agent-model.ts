/** The model of runs that have sub-agents: it hands work on, waits for results, or finishes early. */

import type { RequestedCall } from '../../../src/domain/journal-record.ts'
import type { SessionState } from '../invariants/session.ts'
import { integerBelow, oneOf } from '../random.ts'
import type { World } from '../world.ts'
import { HELPER, SPAWN_TOOL } from './sub-agents.ts'
import type { MakeCall } from './talk-model.ts'

/** From these turns on a run spawns nothing, and waits no more. */
const LAST_TURN_TO_SPAWN = 6
const LAST_TURN_TO_WAIT = 14
const MOST_AT_ONCE = 3
/** A tenth of a cent: less than most answers may cost. */
const BUDGETS = [undefined, undefined, 0.001, 0.01, 0.02, 0.04] as const
const AGENTS = [undefined, undefined, HELPER, HELPER, HELPER, 'nobody'] as const
const DEADLINES = [undefined, undefined, '30s', '10m'] as const

/** Contract: undefined if the run does something else. */
export function drawDelegation(
  world: World,
  session: SessionState,
  keys: readonly (string | number)[],
  call: MakeCall,
): readonly RequestedCall[] | undefined {
  const { seed } = world.plan
  const turn = session.open?.turn ?? 0
  const { depth, open } = world.subAgents.standing(session.run)
  const kind = world.chance('delegate', ...keys)
  if (turn < LAST_TURN_TO_SPAWN && kind < 0.5 / (depth + 1))
    return Array.from({ length: 1 + Math.floor(world.chance('number', ...keys) ** 2 * MOST_AT_ONCE) }, (_, i) => {
      const agent = oneOf(seed, AGENTS, 'agent', i, ...keys)
      const budget = oneOf(seed, BUDGETS, 'budget', i, ...keys)
      const task = `part of ${keys.join('.')}.${i}`
      return call(SPAWN_TOOL, { task, ...(agent && { agent }), ...(budget && { budget }) }, i)
    })
  const isWaiting = open > 0 ? turn < LAST_TURN_TO_WAIT && kind < 0.85 : kind > 0.97
  if (!isWaiting) return undefined
  const until = DEADLINES[integerBelow(seed, DEADLINES.length, 'patience', ...keys)]
  return [call('wait', { for: 'agents', ...(until && { until }) }, 0)]
}

/** The task of a sub-agent in the text of a request. */
export const PART = /\bpart of \S+/
