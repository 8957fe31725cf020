/** A gate that asks about some calls, always about the same ones. In most worlds there is none. */

import type { Gate } from '../../../src/ports/gate.ts'
import type { World } from '../world.ts'

export const isGated = ({ plan }: World): boolean => plan.seed % 5 === 1

export function asks(world: World, session_id: string, tool: string, args: string): boolean {
  return isGated(world) && world.chance('gate', session_id, tool, args) < 0.25
}

export function simGate(world: World): Gate {
  return {
    name: 'sim',
    judge: ({ tool, args, session_id }) =>
      asks(world, session_id, tool, JSON.stringify(args)) ? { kind: 'ask', reason: 'by the seed' } : { kind: 'allow' },
  }
}
