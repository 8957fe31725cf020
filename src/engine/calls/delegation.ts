/**
 * Delegation: what a run can hand on to a sub-agent (tools, money, trust), and how a sub-agent is kept within it.
 * Must not know: how a sub-agent is started.
 * Invariants: a sub-agent has no tool, no access, no grant and no money that its parent did not have (case 115).
 */

import type { Dispatch } from '../../domain/dispatch.ts'
import type { Grant } from '../../domain/grant.ts'
import { readSpawnedBy } from '../../domain/sub-agent.ts'
import type { Behaviour } from '../../ports/behaviour.ts'
import type { Delegation } from '../../ports/sub-agents.ts'
import { usdLeftToDelegate } from '../request/budget-reservation.ts'
import { callableTools } from '../request/toolbox.ts'
import type { Run } from '../run.ts'

export function delegationOf(run: Run): Delegation {
  const { engine, dispatch, thread, toolbox, env, workspace } = run
  const above = readSpawnedBy(dispatch.metadata)
  const unshown = engine.unshownTools?.(dispatch.agent_id) ?? []
  const passedOn = above ? unshown.filter((tool) => above.tools.includes(tool)) : unshown
  return {
    run: dispatch.dispatch_id,
    depth: above?.depth ?? 0,
    agents: [dispatch.agent_id, ...(above?.agents ?? [])],
    tools: [...new Set([...callableTools(toolbox).map(({ name }) => name), ...passedOn])],
    read_only: (env.access ?? 'write') !== 'write',
    usd_left: usdLeftToDelegate(run),
    open: [...thread.agents.values()],
    workspace_label: { ...workspace.label },
  }
}

/** Tools that express a decision, or keep the run's own list of todos: they reach nothing. */
const isOwnTool = (tool: string): boolean => tool === 'finish' || tool === 'wait' || tool.startsWith('todo_')

/** Contract: the behaviour as a sub-agent may use it; unchanged if no run spawned the dispatch. */
export function limitToParent(behaviour: Behaviour, metadata: Dispatch['metadata']): Behaviour {
  const above = readSpawnedBy(metadata)
  if (!above) return behaviour
  const tools = behaviour.tools.filter((tool) => above.tools.includes(tool) || isOwnTool(tool))
  const isTooMuch = above.read_only && (behaviour.access ?? 'write') === 'write'
  return { ...behaviour, tools, ...(isTooMuch ? { access: 'read_only' as const } : {}) }
}

/** A grant for one agent does not reach a sub-agent unless all agents above it are that agent, too. */
export function isGrantInherited({ agent_id }: Grant, metadata: Dispatch['metadata']): boolean {
  const above = readSpawnedBy(metadata)
  return agent_id === null || above === undefined || above.agents.every((agent) => agent === agent_id)
}
