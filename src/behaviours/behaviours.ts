/**
 * The registry of behaviours: those of files (`behaviours/*.md` of the agent, else of the assistant), then those in
 * code. A dispatch without the name of a behaviour gets the default.
 */

import type { BehaviourSpec } from '../domain/behaviour-spec.ts'
import { TirelessError } from '../domain/error.ts'
import { RESIDENT_ACTIONS } from '../domain/resident.ts'
import type { Behaviour, Behaviours } from '../ports/behaviour.ts'
import { behaviourFromSpec } from './data-behaviour.ts'

/** Restricts the tools of agents. */
interface ToolLimits {
  /** Contract: the tools that the agent may use; null if they are not restricted. */
  allowedTools(agentId: string): readonly string[] | null
  /** Contract: whether a tool of that name exists. */
  toolExists(tool: string): boolean
  /** Contract: whether an agent gets the tool only if its own list of tools names it. */
  isOptIn(tool: string): boolean
  /** Contract: the tools that an agent without a list of its own gets. */
  offered(): readonly string[]
}

interface BehaviourSources {
  /** Contract: behaviours in code, by name. */
  all(): ReadonlyMap<string, Behaviour>
  /** Contract: the behaviour that a file defines for the agent; undefined if there is none. */
  spec(agentId: string, name: string): BehaviourSpec | undefined
  /** Contract: the names of all behaviours that files define for the agent. */
  names(agentId: string): readonly string[]
}

/** In a file's list of tools: all tools that the agent gets anyway. */
const ALL_TOOLS = '*'

export function createBehaviours(sources: BehaviourSources, defaultName: string, limits: ToolLimits): Behaviours {
  const made = new WeakMap<BehaviourSpec, Behaviour>()
  const fromSpec = (spec: BehaviourSpec): Behaviour => {
    const behaviour = made.get(spec) ?? behaviourFromSpec(spec)
    made.set(spec, behaviour)
    return { ...behaviour, tools: availableTools(behaviour.tools, limits) }
  }
  return {
    get(agentId, name = defaultName) {
      const spec = sources.spec(agentId, name)
      const behaviour = spec ? fromSpec(spec) : sources.all().get(name)
      const only = limits.allowedTools(agentId)
      if (behaviour) return only ? { ...behaviour, tools: restrictTools(behaviour.tools, only, limits) } : behaviour
      throw new TirelessError('not_found', {
        what: `the agent ${agentId} has no such behaviour`,
        got: name,
        expected: `one of ${[...sources.all().keys(), ...sources.names(agentId)].join(', ')}`,
      })
    },
  }
}

/** Tools that a file lists and that this home can offer. Unknown names are kept: the preflight reports them. */
function availableTools(listed: readonly string[], { offered, toolExists, isOptIn }: ToolLimits): readonly string[] {
  const usual = offered()
  const all = listed.flatMap((tool) => (tool === ALL_TOOLS ? usual : [tool]))
  const fits = (tool: string): boolean =>
    toolExists(tool) ? usual.includes(tool) || isOwnTool(tool) || isOptIn(tool) : !OPTIONAL_TOOLS.has(tool)
  return [...new Set(all)].filter(fits)
}

/** Tools that not every home has. */
const OPTIONAL_TOOLS: ReadonlySet<string> = new Set([
  'tool_search',
  'tool_call',
  'browser',
  'web_search',
  'coding_agent',
])

/** Tools that express a decision or keep the agent's own records; no restriction removes them. */
const isOwnTool = (tool: string): boolean => OWN_TOOLS.has(tool) || tool.startsWith('todo_')
const OWN_TOOLS: ReadonlySet<string> = new Set([
  ...['finish', 'wait', 'route', 'spawn_agent', 'learn'],
  ...RESIDENT_ACTIONS,
])

/** Names of tools that do not exist are kept, so that the preflight reports the typing error. */
function restrictTools(
  offered: readonly string[],
  only: readonly string[],
  { toolExists: knows, isOptIn: isByName }: ToolLimits,
): readonly string[] {
  const allowed = offered.filter((tool) => only.includes(tool) || isOwnTool(tool))
  // A behaviour without tools stays without tools.
  const named =
    offered.length === 0 ? [] : only.filter((tool) => knows(tool) && isByName(tool) && !offered.includes(tool))
  return [...allowed, ...named, ...only.filter((tool) => !knows(tool) && !OPTIONAL_TOOLS.has(tool))]
}
