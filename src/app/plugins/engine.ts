/** Plugin `engine`: everything that a run needs, in one service. */

import { join } from 'node:path'
import { createWorkspaceSnapshots } from '../../adapters/envs/snapshots/snapshots.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { createBehaviours } from '../../behaviours/behaviours.ts'
import { type Config, capsOf } from '../../config.ts'
import { ASSISTANT } from '../../domain/agent.ts'
import { dayFormatter } from '../../domain/day.ts'
import type { Issue } from '../../domain/decision.ts'
import type { Budget } from '../../domain/task.ts'
import { LIVE_SOURCES } from '../../engine/live-sources.ts'
import { Breaker } from '../../engine/request/model-fallback.ts'
import type { Behaviours } from '../../ports/behaviour.ts'
import type { HookFailure } from '../../ports/hook.ts'
import { definePlugin, type Plugin, type PluginHost } from '../../ports/plugin.ts'
import type { Snapshots } from '../../ports/snapshots.ts'
import { findAgentIssues } from '../agent-issues.ts'
import { callHooks } from '../call-hooks.ts'
import { discoverTool } from '../discover-tool.ts'
import { createOwnerPolicy } from '../owner-policy.ts'
import { isOfferedByName } from './tools.ts'

export function engine(): Plugin {
  return definePlugin({
    name: 'engine',
    needs: [
      ...(['clock', 'ids', 'home', 'config', 'store', 'models', 'envs', 'events', 'log'] as const),
      ...(['secrets', 'skills', 'mcp', 'storedPaths'] as const),
      ...(['tools', 'critics', 'gates', 'behaviours', 'hooks', 'parsers', 'memories'] as const),
      ...(['recoveryRules', 'stopRules'] as const),
    ],
    provides: ['engine'],
    setup(host) {
      const config = host.get('config')
      const dayOf = dayFormatter(config.loaded.config.kernel.timezone)
      const critics = host.get('critics').all
      const gates = host.get('gates').all
      const hooks = host.get('hooks').all
      const log = host.get('log')
      const hookFailed = (failure: HookFailure): void => log.write('warn', 'hook failed', { ...failure })
      host.get('events').watch(callHooks(hooks, hookFailed))
      host.provide('engine', {
        store: host.get('store'),
        clock: host.get('clock'),
        ids: host.get('ids'),
        models: host.get('models'),
        breaker: new Breaker((provider, asked) => log.write('error', 'key refused', { provider, model: asked })),
        envs: host.get('envs'),
        behaviours: runBehaviours(host),
        agentIssues: (id) => agentIssues(host, id),
        unshownTools: (id) => (allowedTools(host, id) === null ? UNSHOWN_TOOLS : []),
        tools: host.get('tools').all,
        discoverTool: discoverTool(host),
        parsers: host.get('parsers').all,
        memories: host.get('memories').all,
        critics: () => [...critics.values()],
        gates: () => [...gates.values()],
        hooks: () => [...hooks.values()],
        recoveryRules: () => [...host.get('recoveryRules').all.values()],
        stopRules: () => [...host.get('stopRules').all.values()],
        hookFailed,
        sink: host.get('events').sink,
        secrets: host.get('secrets'),
        skills: host.get('skills'),
        snapshots: workspaceSnapshots(host),
        get budget() {
          return perDispatch(config.loaded.config)
        },
        budgetLimits: { caps: () => capsOf(config.loaded.config.budget), dayOf },
        policy: createOwnerPolicy(config, host.get('home').workspaces),
        failureLimits: { inARow: 3, inAll: 10 },
        sources: LIVE_SOURCES,
      })
    },
  })
}

/** Few agents need them, and the description of an offered tool is in every request. */
const UNSHOWN_TOOLS: readonly string[] = ['browser']

/** The tools that the agent's configuration lists; null: it has no list of its own. */
const allowedTools = (host: PluginHost, agentId: string): readonly string[] | null =>
  host
    .get('config')
    .roster.all()
    .find(({ agent }) => agent.agent_id === agentId)?.agent.tools ?? null

function runBehaviours(host: PluginHost): Behaviours {
  const tools = host.get('tools').all
  // Read when a run starts: plugins may add to the registries until set-up ends.
  const config = host.get('config')
  const all = () => host.get('behaviours').all
  const specs = () => config.loaded.behaviours
  const sources = {
    all,
    spec: (agentId: string, name: string) => specs().get(agentId)?.get(name) ?? specs().get(ASSISTANT)?.get(name),
    names: (agentId: string) =>
      [...new Set([agentId, ASSISTANT])].flatMap((id) => [...(specs().get(id)?.keys() ?? [])]),
  }
  return createBehaviours(sources, 'solo', {
    offered: () => all().get('solo')?.tools ?? [],
    allowedTools: (agentId) => allowedTools(host, agentId),
    toolExists: (tool) => tools.has(tool),
    isOptIn: (tool) => isOfferedByName(tool) || (tools.get(tool)?.lazy ?? false),
  })
}

function agentIssues(host: PluginHost, id: string): readonly Issue[] {
  const found = host
    .get('config')
    .roster.all()
    .find(({ agent }) => agent.agent_id === id)
  const tools = host.get('tools').all
  return found ? findAgentIssues(found.agent, { platform: process.platform, hasTool: (tool) => tools.has(tool) }) : []
}

function workspaceSnapshots(host: PluginHost): Snapshots {
  const log = host.get('log')
  return createWorkspaceSnapshots({
    folder: join(host.get('home').versions, 'workspaces.git'),
    paths: host.get('storedPaths'),
    // File times come from the system clock.
    clock: systemClock,
    warn: (message, about) => log.write('warn', 'snapshot missing or incomplete', { message, ...about }),
  })
}

function perDispatch({ budget, models }: Config): Budget {
  return {
    steps: budget.per_dispatch_calls,
    ms: budget.per_dispatch_minutes === null ? null : budget.per_dispatch_minutes * 60_000,
    tokens: budget.per_dispatch_tokens,
    usd: budget.per_dispatch_usd,
    context: models.max_input,
  }
}
