/** The kernel of a world that has one: the real loop, cycles, planners and documents, over the world's store, clock and files. */

import { createDocuments, type OwnDocuments } from '../../../src/adapters/documents/documents.ts'
import type { Living } from '../../../src/commands/command.ts'
import type { Agent } from '../../../src/domain/agent.ts'
import type { Engine } from '../../../src/engine/run.ts'
import { dispatchByHand } from '../../../src/kernel/by-hand.ts'
import { Loop } from '../../../src/kernel/loop.ts'
import { recordBoot, recordCut, recordCycle } from '../../../src/kernel/recorder.ts'
import type { Settings, Surroundings } from '../../../src/kernel/settings.ts'
import { runSingleCycle } from '../../../src/kernel/single-cycle.ts'
import { type Hands, workOn } from '../../../src/kernel/work-on.ts'
import { SEED_STATE } from '../invariants/state.ts'
import type { AgentPlan, KernelPlan } from '../kernel-plan.ts'
import type { Life } from '../life.ts'
import type { World } from '../world.ts'
import { simFiles } from './files.ts'

export interface Parts extends Hands, Pick<Surroundings, 'hold'> {
  readonly engine: Engine
}

export function simKernel(world: World, life: Life, plan: KernelPlan, parts: Parts): Living {
  const { engine, store, clock, bell } = parts
  let since: number | null = null
  const around: Surroundings = {
    store,
    clock,
    bell: world.variant.bell?.(bell, life.term.signal) ?? bell,
    ids: engine.ids,
    models: engine.models,
    breaker: engine.breaker,
    documents: documentsOf(world, life, engine),
    settings: () => settingsOf(world, plan),
    look: async () => '',
    survey: async () => ({ text: '', marks: { newest: 0, heads: {} } }),
    workspace: async (sessionId) => `/nowhere/${sessionId}`,
    work: (ids, until) => workOn(parts, ids, until),
    hold: parts.hold,
    systemPrompt: () => 'you are simulated',
    ended: () => {},
    log: (_, event) => world.note(`${life.id} ${event}`),
  }
  const loop = new Loop(around, async ({ result }) => {
    await recordCycle(around, result)
    return []
  })
  let cut: Promise<void> | undefined
  const boot = async (): Promise<void> => {
    await recordBoot(around, 'init')
    cut ??= recordCut(around)
    await cut
  }
  return {
    running: () => since !== null,
    nextBeat: () => loop.nextBeat(),
    nextFor: () => undefined,
    refresh: () => loop.refresh(),
    first: async () => undefined,
    now: () => loop.now(),
    byHand: (agents, prompt, metadata) => dispatchByHand(around, agents, prompt, metadata),
    async once(signal) {
      await boot()
      return runSingleCycle(parts, (until, planned) => loop.once(until, planned), undefined, signal)
    },
    async catchUp(signal) {
      await boot()
      await loop.catchUp(signal)
    },
    async run(signal) {
      await boot()
      since = clock.now()
      world.rhythm.begins(life)
      try {
        await loop.run(signal)
      } finally {
        since = null
        world.rhythm.ends(life)
      }
    },
    ailments: async () => [],
  }
}

function documentsOf(world: World, life: Life, { store, clock }: Engine): OwnDocuments {
  const files = simFiles(world, life)
  return createDocuments({
    kernelId: 'sim',
    store,
    clock,
    files: world.variant.files?.(files, (what, work) => world.io(life, 'file', what, work)) ?? files,
    fallback: files,
    mirror: null,
    guarded: () => false,
    redact: (text) => text,
    tell: (event, { about }) => {
      if (event !== 'recovered') world.fail('I7', `${about}: ${event}`)
    },
  })
}

/** When the storm is over the owner takes the agents off, so that the world can come to rest. */
export function settingsOf(world: World, { every, mode, missed, overrun, agents }: KernelPlan): Settings {
  return {
    id: 'sim',
    enabled: true,
    schedule: { every },
    timezone: 'UTC',
    jitter: 0,
    overrun,
    missed,
    planner: { mode, model: null, max_dispatches: 2, timeout: null },
    max_concurrent: world.plan.width,
    stop_timeout: 30_000,
    max_cycle_history: 3,
    seed_state: SEED_STATE,
    quiet_hours: null,
    digest: null,
    ping_url: null,
    user_id: null,
    channel: null,
    chat_id: null,
    agents: agents.map((agent) => agentOf(agent, !world.faults.over)),
  }
}

const agentOf = ({ agent_id, schedule, cooldown }: AgentPlan, enabled: boolean): Agent => ({
  agent_id,
  prompt: `work of ${agent_id} {STATE} {RECENT_RESULTS}`,
  priority: 0,
  enabled,
  metadata: {},
  schedule: schedule === null ? null : { every: schedule },
  cooldown,
  watch: [],
  model: null,
  tools: null,
  workspace: null,
})
