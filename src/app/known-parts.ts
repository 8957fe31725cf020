/** The tools and behaviours that exist, as people choose them for an agent. */

import type { KnownTool } from '../commands/lib/agent-directory.ts'
import { ASSISTANT } from '../domain/agent.ts'
import type { Effect, EffectReach } from '../domain/effect.ts'
import type { PluginHost } from '../ports/plugin.ts'
import type { AnyTool } from '../ports/tool.ts'

export function knownTools(host: PluginHost): readonly KnownTool[] {
  const offered = host.get('behaviours').all.get('solo')?.tools ?? []
  return [...host.get('tools').all.values()].map((tool) => ({
    ...{ name: tool.name, description: tool.description },
    reach: reachOf(tool),
    isOffered: offered.includes(tool.name),
    namesDestinations: tool.destinations !== undefined,
  }))
}

/** Null: it depends on the arguments, so the effect function takes some. */
function reachOf({ effect }: AnyTool): EffectReach | null {
  const fixed = effect as unknown as Effect | (() => Effect)
  if (typeof fixed === 'object') return fixed.reach
  return fixed.length > 0 ? null : fixed().reach
}

/** Contract: the behaviours that files define: the agent's own, then those of the assistant that it lacks. */
export function behavioursOf(host: PluginHost, agentId: string) {
  const specs = host.get('config').loaded.behaviours
  const own = [...(specs.get(agentId)?.keys() ?? [])]
  const shared = [...(specs.get(ASSISTANT)?.keys() ?? [])].filter((name) => !own.includes(name))
  return [...own.map((name) => ({ name, isOwn: true })), ...shared.map((name) => ({ name, isOwn: false }))]
}
