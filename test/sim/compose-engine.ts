/** Composes the real engine of a simulated process over ports that the world answers. */

import { TirelessError } from '../../src/domain/error.ts'
import { type Cap, MICROS_PER_USD } from '../../src/domain/money.ts'
import { LIVE_SOURCES } from '../../src/engine/live-sources.ts'
import { Breaker } from '../../src/engine/request/model-fallback.ts'
import type { Engine } from '../../src/engine/run.ts'
import { MEMORY_KINDS } from '../../src/memory/memory-kinds.ts'
import type { Env } from '../../src/ports/env.ts'
import { singleModel } from '../../src/ports/model.ts'
import { NO_SECRETS } from '../../src/ports/secrets.ts'
import { NO_SKILLS } from '../../src/ports/skills.ts'
import { NO_SNAPSHOTS, type Snapshots } from '../../src/ports/snapshots.ts'
import type { Store } from '../../src/ports/store.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { NO_BUDGET } from '../support/journals.ts'
import type { Plan } from './plan.ts'
import { simBehaviours, simCritic } from './ports/behaviour.ts'
import { simHook, simMemory } from './ports/garbage.ts'
import { simGate } from './ports/gate.ts'
import { simModel } from './ports/model.ts'
import { withResidentTools } from './ports/residents.ts'
import { SPAWN_TOOL, simSnapshots, spawnTool } from './ports/sub-agents.ts'
import { talkTools } from './ports/talk.ts'
import { simTools } from './ports/tools.ts'
import { withCopies } from './ports/workspace.ts'
import type { SimProcess } from './process.ts'
import { hasSubAgents } from './sub-agent-plan.ts'
import { hasTalk } from './talk-plan.ts'
import { hasUndo } from './undo-plan.ts'
import type { World } from './world.ts'

export function composeEngine(world: World, proc: SimProcess, store: Store): Engine {
  const { clock } = proc
  const ids = { next: () => world.nextId() }
  const own = simTools(world, proc)
  const isFamily = hasSubAgents(world.plan.seed)
  const snapshots = snapshotsOf(world, proc)
  const base = world.plan.residents ? withResidentTools(own) : own
  const known = new Map([
    ...(hasTalk(world.plan.seed) ? withTalkTools(own, { store, clock, ids }) : base),
    ...(isFamily ? [[SPAWN_TOOL, spawnTool(world, proc, { store, clock, snapshots })] as const] : []),
  ])
  const tools = world.variant.tools?.(known) ?? known
  const withdrawing = world.faults.withdrawing(proc.id)
  const withdrawn = new Set(
    withdrawing ? world.mirror.unsettledCalls().flatMap(({ tool }) => (own.has(tool) ? tool : [])) : [],
  )
  const model = simModel(world, proc)
  return {
    store,
    clock,
    ids,
    models: singleModel(model),
    breaker: new Breaker(),
    envs: { open: (root) => world.io(proc, 'open', '', () => withCopies(world, proc, openEnv(world, root))) },
    behaviours: simBehaviours(world, [
      ...[...own.keys()].filter((name) => !withdrawn.has(name)),
      ...(isFamily ? [SPAWN_TOOL] : []),
    ]),
    tools: new Map([...tools].filter(([name]) => !(withdrawing?.removed && withdrawn.has(name)))),
    critics: () => [simCritic(world, proc)],
    gates: () => [simGate(world, proc)],
    sink: {
      onRunOpened: () => {},
      onRunClosed: () => {},
      onRecord({ session_id }, { seq }) {
        // Retention may already have removed the session; one that has a record was on disk.
        if ((world.mirror.byId.get(session_id)?.head ?? seq) < seq)
          world.fail('live events', `${session_id} #${seq} is published before it is on disk`)
      },
      delta: () => {},
    },
    agentIssues: () => [],
    secrets: NO_SECRETS,
    snapshots,
    skills: NO_SKILLS,
    parsers: new Map(),
    memories: new Map(MEMORY_KINDS.map((kind) => [kind.name, simMemory(world, proc, kind)])),
    ...{ recoveryRules: () => [], stopRules: () => [] },
    hooks: () => [simHook(world, proc)],
    budget: budgetOf(world.plan),
    budgetLimits: { caps: () => capsOf(world.plan), dayOf: () => '2030-01-01' },
    policy: openPolicy([...tools.keys()]),
    failureLimits: { inARow: 3, inAll: 10 },
    sources: LIVE_SOURCES,
  }
}

const withTalkTools = (own: ReadonlyMap<string, AnyTool>, parts: Parameters<typeof talkTools>[0]) =>
  new Map([...own, ...talkTools(parts).map((tool) => [tool.name, tool] as const)])

function snapshotsOf(world: World, proc: SimProcess): Snapshots {
  if (hasSubAgents(world.plan.seed)) return simSnapshots(world, proc)
  if (!hasUndo(world.plan.seed)) return NO_SNAPSHOTS
  const honest = world.versionedFiles.of(proc)
  return world.variant.snapshots?.(honest) ?? honest
}

const budgetOf = ({ maxSteps: steps, context, runLimit }: Plan): Engine['budget'] => ({
  ...{ ...NO_BUDGET, steps, context },
  usd: runLimit === undefined ? null : runLimit / MICROS_PER_USD,
})

const capsOf = ({ cap }: Plan): readonly Cap[] =>
  cap === undefined ? [] : [{ name: 'per_day_usd', scope: 'day', unit: 'usd', limit: cap }]

/** Grants everything: only the simulator's own gate asks for approval. */
const openPolicy = (tools: readonly string[]): Engine['policy'] => ({
  isAllowed: () => true,
  isAllowedByName: () => true,
  grants: () =>
    // One grant for any destination, one for calls without a destination.
    tools.flatMap((tool) =>
      [['*'], []].map((to) => ({
        ...{ id: tool, tool, agent_id: null, session_id: null, to, args: null },
        ...{ granted_at: '2030-01-01T00:00:00.000Z', expires_at: null },
      })),
    ),
  unattended: 'park',
  isForeignWorkspace: () => false,
})

/** An env that no test may use. */
function openEnv(world: World, root: string): Env {
  if (world.faults.nextFor('env')) {
    world.counters.add('run refused (workspace cannot be opened)')
    throw new TirelessError('path_refused', 'the folder cannot be opened')
  }
  const refuse = (): never => {
    world.fail('injection', 'a tool used the env')
    throw new TirelessError('internal', 'the simulator has no env')
  }
  return { root, groups: [], getOps: refuse, health: async () => ({ ok: true }), async close() {} }
}
