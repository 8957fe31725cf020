/** The registry of behaviours. A dispatch without the name of a behaviour gets the default. */

import { TirelessError } from '../domain/error.ts'
import type { Behaviour, Behaviours } from '../ports/behaviour.ts'

/** Restricts the tools of agents. */
interface ToolLimits {
  /** Contract: the tools that the agent may use; null if they are not restricted. */
  allowedTools(agentId: string): readonly string[] | null
  /** Contract: whether a tool of that name exists. */
  toolExists(tool: string): boolean
  /** Contract: whether an agent gets the tool only if its own list of tools names it. */
  isOptIn(tool: string): boolean
}

export function createBehaviours(
  all: () => ReadonlyMap<string, Behaviour>,
  defaultName: string,
  limits: ToolLimits = { allowedTools: () => null, toolExists: () => true, isOptIn: () => false },
): Behaviours {
  return {
    get(agentId, name = defaultName) {
      const behaviour = all().get(name)
      const only = limits.allowedTools(agentId)
      if (behaviour) return only ? { ...behaviour, tools: restrictTools(behaviour.tools, only, limits) } : behaviour
      throw new TirelessError('not_found', {
        what: `the agent ${agentId} has no such behaviour`,
        got: name,
        expected: `one of ${[...all().keys()].join(', ')}`,
      })
    },
  }
}

/** These tools express a decision and have no effect, so no restriction removes them. */
const DECISION_TOOLS: ReadonlySet<string> = new Set(['finish', 'wait'])

/** Names of tools that do not exist are kept, so that the preflight reports the typing error. */
function restrictTools(
  offered: readonly string[],
  only: readonly string[],
  { toolExists: knows, isOptIn: isByName }: ToolLimits,
): readonly string[] {
  const allowed = offered.filter((tool) => only.includes(tool) || DECISION_TOOLS.has(tool))
  // A behaviour without tools stays without tools.
  const named =
    offered.length === 0 ? [] : only.filter((tool) => knows(tool) && isByName(tool) && !offered.includes(tool))
  return [...allowed, ...named, ...only.filter((tool) => !knows(tool))]
}
