/** A gate that asks about some calls, always about the same ones. Most worlds have none. */

import type { Gate, GateVerdict } from '../../../src/ports/gate.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'
import { orGarbage } from './garbage.ts'
import { isResidentTool } from './residents.ts'
import { isConversationTool } from './talk.ts'

export const hasGate = ({ plan }: World): boolean => plan.seed % 5 === 1

export function needsApproval(world: World, session_id: string, tool: string, args: string): boolean {
  if (!hasGate(world) || isConversationTool(tool) || isResidentTool(tool)) return false
  return world.chance('gate', session_id, tool, args) < 0.25
}

export function simGate(world: World, proc: SimProcess): Gate {
  return {
    name: 'sim',
    judge({ tool, args, session_id }) {
      const call = [session_id, tool, JSON.stringify(args)] as const
      const verdict: GateVerdict = needsApproval(world, ...call)
        ? { kind: 'ask', reason: 'by the seed' }
        : { kind: 'allow' }
      const returned = orGarbage(world, proc, 'gate', verdict)
      if (returned !== verdict) world.garbage.markJudged(proc, ...call)
      return returned
    },
  }
}
