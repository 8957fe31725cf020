/** The behaviours there are, by name. An agent begins with `solo` unless its dispatch asks for another. */

import { TirelessError } from '../domain/error.ts'
import type { Behaviour, Behaviours } from '../ports/behaviour.ts'

/** Which tools an agent is limited to, if it is. */
export interface Limits {
  of(agentId: string): readonly string[] | null
  /** Whether there is such a tool at all. */
  knows(tool: string): boolean
  /** Whether it is only for those that name it. */
  isByName(tool: string): boolean
}

export function namedBehaviours(
  all: () => ReadonlyMap<string, Behaviour>,
  first: string,
  limits: Limits = { of: () => null, knows: () => true, isByName: () => false },
): Behaviours {
  return {
    get(agentId, name = first) {
      const behaviour = all().get(name)
      const only = limits.of(agentId)
      if (behaviour) return only ? { ...behaviour, tools: limited(behaviour.tools, only, limits) } : behaviour
      throw new TirelessError('not_found', {
        what: `the agent ${agentId} has no such behaviour`,
        got: name,
        expected: `one of ${[...all().keys()].join(', ')}`,
      })
    },
  }
}

/** Decisions, not effects: whoever may act may also end, or wait. */
const ALWAYS: ReadonlySet<string> = new Set(['finish', 'wait'])

/** A name that nobody knows stays in: the preflight says so, where to leave it out would be to hide a slip of the pen. */
function limited(offered: readonly string[], only: readonly string[], { knows, isByName }: Limits): readonly string[] {
  const allowed = offered.filter((tool) => only.includes(tool) || ALWAYS.has(tool))
  // Whoever has no hands at all gets none by their names.
  const named =
    offered.length === 0 ? [] : only.filter((tool) => knows(tool) && isByName(tool) && !offered.includes(tool))
  return [...allowed, ...named, ...only.filter((tool) => !knows(tool))]
}
