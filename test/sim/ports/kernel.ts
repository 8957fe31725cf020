/** The kernel of a world that has one: the real loop, cycles, planners and documents over simulated ports. */

import { createDocuments, type ManagedDocuments } from '../../../src/adapters/documents/documents.ts'
import type { KernelControl } from '../../../src/commands/lib/context.ts'
import type { Agent } from '../../../src/domain/agent.ts'
import type { Engine } from '../../../src/engine/run.ts'
import type { CycleOutcome } from '../../../src/kernel/cycle/cycle.ts'
import { recordBoot, recordCycle, recordInterruptedCycle } from '../../../src/kernel/cycle/recorder.ts'
import { runSingleCycle } from '../../../src/kernel/cycle/single-cycle.ts'
import { KernelLoop } from '../../../src/kernel/loop.ts'
import type { Notifier } from '../../../src/kernel/notify/notifier.ts'
import { type DrainAccess, runOnly } from '../../../src/kernel/queue/drain-only.ts'
import type { Leadership } from '../../../src/kernel/queue/leadership.ts'
import { dispatchManually } from '../../../src/kernel/queue/manual-dispatch.ts'
import type { KernelDeps, KernelSettings } from '../../../src/kernel/settings.ts'
import type { Op } from '../../../src/ports/store.ts'
import { SEED_STATE } from '../invariants/state-document.ts'
import type { AgentPlan, KernelPlan } from '../kernel-plan.ts'
import type { SimProcess } from '../process.ts'
import { CHANNEL } from '../talk-plan.ts'
import type { World } from '../world.ts'
import { simFiles } from './files.ts'

export interface KernelParts extends DrainAccess, Pick<KernelDeps, 'hold'> {
  readonly engine: Engine
  /** Of one of several processes on a shared store. */
  readonly beside?: KernelBeside
}

interface KernelBeside {
  readonly documents: ManagedDocuments
  readonly notifier: Notifier
  readonly leadership: Leadership
  requireLead(): Promise<void>
}

export function simKernel(world: World, proc: SimProcess, plan: KernelPlan, parts: KernelParts): KernelControl {
  let since: number | null = null
  const deps = createKernelDeps(world, proc, plan, parts)
  const { beside } = parts
  const loop = new KernelLoop(deps, async (cycled) => {
    await recordCycle(deps, cycled.result)
    return beside ? [...(await beside.notifier.noticeOps(cycled, [])), reportOp(cycled, parts.clock.now())] : []
  })
  let interruptionRecorded: Promise<void> | undefined
  const boot = async (): Promise<void> => {
    if (beside) await beside.requireLead()
    await recordBoot(deps, 'init')
    interruptionRecorded ??= recordInterruptedCycle(deps)
    interruptionRecorded.catch(() => (interruptionRecorded = undefined))
    await interruptionRecorded
  }
  return {
    isRunning: () => since !== null,
    isElsewhere: () => beside !== undefined && !beside.leadership.isLeading,
    asLeader: async (work) => (beside === undefined || beside.leadership.isLeading ? work() : undefined),
    watchConfig: async () => {},
    nextBeatAt: () => loop.nextBeat(),
    nextBeatOf: () => undefined,
    reloadSchedules: () => loop.refresh(),
    runFirstCycle: async () => undefined,
    runCycleElsewhere: async () => undefined,
    runCycleNow: () => loop.requestCycle(),
    enqueueAgents: (agents, prompt, metadata) => dispatchManually(deps, agents, prompt, metadata),
    async runOneCycle(signal) {
      await boot()
      const runOnce = (): Promise<CycleOutcome> =>
        runSingleCycle(parts, (until, planned) => loop.runOnce(until, planned), undefined, signal)
      return beside ? beside.leadership.withinTerm(runOnce) : runOnce()
    },
    async catchUp(signal) {
      await boot()
      await loop.catchUp(signal)
    },
    async run(signal) {
      await boot()
      since = parts.clock.now()
      world.beatTiming.kernelStarted(proc)
      try {
        await loop.run(signal)
      } finally {
        since = null
        if (beside) interruptionRecorded = undefined
        world.beatTiming.kernelStopped(proc)
      }
    },
    healthProblems: async () => [],
  }
}

/** Beside the notices, every cycle of several processes sends a message. */
const reportOp = ({ result }: CycleOutcome, now: number): Op => ({
  op: 'post',
  message: { id: `report-${result.cycle_id}`, channel: CHANNEL, chat_id: null, kind: 'notice', text: result.status },
  ...{ due: now, now },
})

function createKernelDeps(world: World, proc: SimProcess, plan: KernelPlan, parts: KernelParts): KernelDeps {
  const { engine, store, clock, wakeSignal, hold } = parts
  return {
    store,
    clock,
    wakeSignal: world.variant.wrapWakeSignal?.(wakeSignal, proc.term.signal) ?? wakeSignal,
    ids: engine.ids,
    models: engine.models,
    breaker: engine.breaker,
    documents: parts.beside?.documents ?? createSimDocuments(world, proc, engine),
    settings: () => kernelSettings(world, plan),
    noticeTarget: async () => null,
    watchFingerprint: async () => '',
    survey: async () => ({ text: '', marks: { newest: 0, heads: {} } }),
    prepareWorkspace: async (sessionId, wanted) => `/nowhere/${wanted ?? sessionId}`,
    runDispatches: (ids, until) => runOnly(parts, ids, until),
    hold,
    systemPrompt: () => 'you are simulated',
    onCycleEnd: () => {},
    log: (_, event) => world.logEvent(`${proc.id} ${event}`),
  }
}

export function createSimDocuments(world: World, proc: SimProcess, { store, clock }: Engine): ManagedDocuments {
  const files = simFiles(world, proc)
  return createDocuments({
    kernelId: 'sim',
    home: proc.home && `home${proc.home.n}`,
    store,
    clock,
    files: world.variant.files?.(files, (what, work) => world.io(proc, 'file', what, work)) ?? files,
    fallback: files,
    mirror: null,
    needsAcceptance: () => false,
    redact: (text) => text,
    report: (event, { about }) => {
      if (event !== 'recovered') world.fail('I7', `${about}: ${event}`)
    },
  })
}

/** After the fault phase the agents are disabled, so that the world can come to rest. */
export function kernelSettings(world: World, { every, mode, missed, overrun, agents }: KernelPlan): KernelSettings {
  return {
    id: 'sim',
    enabled: true,
    schedule: { every },
    timezone: 'UTC',
    jitter: 0,
    overrun,
    missed,
    planner: { mode, model: null, max_dispatches: 2, timeout: null },
    max_concurrent: world.plan.maxConcurrent,
    stop_timeout: 30_000,
    max_cycle_history: 3,
    seed_state: SEED_STATE,
    quiet_hours: null,
    digest: null,
    ping_url: null,
    user_id: null,
    channel: world.plan.several ? CHANNEL : null,
    chat_id: null,
    agents: agents.map((agent) => agentFromPlan(agent, !world.faults.ended)),
  }
}

const agentFromPlan = ({ agent_id, schedule, cooldown }: AgentPlan, enabled: boolean): Agent => ({
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
  workspace: `workspaces/${agent_id}`,
})
