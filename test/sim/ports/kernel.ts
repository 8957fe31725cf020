/** The kernel of a world that has one: the real loop, cycles, planners and documents, over the world's store, clock and files. */

import { createDocuments, type ManagedDocuments } from '../../../src/adapters/documents/documents.ts'
import type { KernelControl } from '../../../src/commands/lib/command.ts'
import type { Agent } from '../../../src/domain/agent.ts'
import type { Engine } from '../../../src/engine/run.ts'
import { recordBoot, recordCycle, recordInterruptedCycle } from '../../../src/kernel/cycle/recorder.ts'
import { runSingleCycle } from '../../../src/kernel/cycle/single-cycle.ts'
import { KernelLoop } from '../../../src/kernel/loop.ts'
import { type DrainAccess, runOnly } from '../../../src/kernel/queue/drain-only.ts'
import { dispatchManually } from '../../../src/kernel/queue/manual-dispatch.ts'
import type { KernelDeps, KernelSettings } from '../../../src/kernel/settings.ts'
import { SEED_STATE } from '../invariants/state-document.ts'
import type { AgentPlan, KernelPlan } from '../kernel-plan.ts'
import type { Life } from '../process.ts'
import type { World } from '../world.ts'
import { simFiles } from './files.ts'

export interface Parts extends DrainAccess, Pick<KernelDeps, 'hold'> {
  readonly engine: Engine
}

export function simKernel(world: World, life: Life, plan: KernelPlan, parts: Parts): KernelControl {
  const { engine, store, clock, wakeSignal: bell } = parts
  let since: number | null = null
  const around: KernelDeps = {
    store,
    clock,
    wakeSignal: world.variant.bell?.(bell, life.term.signal) ?? bell,
    ids: engine.ids,
    models: engine.models,
    breaker: engine.breaker,
    documents: documentsOf(world, life, engine),
    settings: () => settingsOf(world, plan),
    watchFingerprint: async () => '',
    survey: async () => ({ text: '', marks: { newest: 0, heads: {} } }),
    prepareWorkspace: async (sessionId) => `/nowhere/${sessionId}`,
    runDispatches: (ids, until) => runOnly(parts, ids, until),
    hold: parts.hold,
    systemPrompt: () => 'you are simulated',
    onCycleEnd: () => {},
    log: (_, event) => world.note(`${life.id} ${event}`),
  }
  const loop = new KernelLoop(around, async ({ result }) => {
    await recordCycle(around, result)
    return []
  })
  let cut: Promise<void> | undefined
  const boot = async (): Promise<void> => {
    await recordBoot(around, 'init')
    cut ??= recordInterruptedCycle(around)
    await cut
  }
  return {
    isRunning: () => since !== null,
    nextBeatAt: () => loop.nextBeat(),
    nextBeatOf: () => undefined,
    reloadSchedules: () => loop.refresh(),
    runFirstCycle: async () => undefined,
    runCycleNow: () => loop.requestCycle(),
    enqueueAgents: (agents, prompt, metadata) => dispatchManually(around, agents, prompt, metadata),
    async runOneCycle(signal) {
      await boot()
      return runSingleCycle(parts, (until, planned) => loop.runOnce(until, planned), undefined, signal)
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
    healthProblems: async () => [],
  }
}

function documentsOf(world: World, life: Life, { store, clock }: Engine): ManagedDocuments {
  const files = simFiles(world, life)
  return createDocuments({
    kernelId: 'sim',
    store,
    clock,
    files: world.variant.files?.(files, (what, work) => world.io(life, 'file', what, work)) ?? files,
    fallback: files,
    mirror: null,
    needsAcceptance: () => false,
    redact: (text) => text,
    report: (event, { about }) => {
      if (event !== 'recovered') world.fail('I7', `${about}: ${event}`)
    },
  })
}

/** When the storm is over the owner takes the agents off, so that the world can come to rest. */
export function settingsOf(world: World, { every, mode, missed, overrun, agents }: KernelPlan): KernelSettings {
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
