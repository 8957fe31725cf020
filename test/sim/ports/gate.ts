/** A gate that asks about some calls, always about the same ones. In most worlds there is none. */

import type { Gate, GateVerdict } from '../../../src/ports/gate.ts'
import type { Life } from '../process.ts'
import type { World } from '../world.ts'
import { orGarbage } from './garbage.ts'

export const isGated = ({ plan }: World): boolean => plan.seed % 5 === 1

export function asks(world: World, session_id: string, tool: string, args: string): boolean {
  return isGated(world) && world.chance('gate', session_id, tool, args) < 0.25
}

export function simGate(world: World, life: Life): Gate {
  return {
    name: 'sim',
    judge({ tool, args, session_id }) {
      const call = [session_id, tool, JSON.stringify(args)] as const
      const right: GateVerdict = asks(world, ...call) ? { kind: 'ask', reason: 'by the seed' } : { kind: 'allow' }
      const said = orGarbage(world, life, 'gate', right)
      if (said !== right) world.garbage.judged(life, ...call)
      return said
    },
  }
}
