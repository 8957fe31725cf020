/** Composes the engine, the queue, the kernel and the commands of a simulated process. */

import type { CommandContext } from '../../src/commands/lib/context.ts'
import type { Engine } from '../../src/engine/run.ts'
import { fenceLeader, Leadership } from '../../src/kernel/queue/leadership.ts'
import { createWakeSignal, ringOnCommit, type WakeSignal } from '../../src/kernel/queue/wake-signal.ts'
import {
  emptyPast,
  NO_AGENTS,
  NO_CONNECTIONS,
  NO_DOCUMENTS,
  NO_KERNEL,
  NO_KERNEL_CONTROL,
  NO_MODELS,
  NO_NOTIFIER,
  NO_PROGRESS_MESSAGES,
} from './absent-services.ts'
import { composeEngine } from './compose-engine.ts'
import type { SimHome } from './homes.ts'
import { createLoneQueue, type ProcessQueue } from './lone-queue.ts'
import { simChannels, simNotifier } from './ports/channel.ts'
import { createSimDocuments, type KernelParts, kernelSettings, simKernel } from './ports/kernel.ts'
import { NO_SOURCES, simResidents } from './ports/residents.ts'
import { openSharedStore } from './ports/shared-store.ts'
import { simStore } from './ports/store.ts'
import { SHARED_FOLDER, workspaceOf } from './ports/talk.ts'
import type { SimProcess } from './process.ts'
import { createSharedQueue } from './shared-queue.ts'
import { hasUndo } from './undo-plan.ts'
import type { World } from './world.ts'

/** The part of the context that the simulated commands use. */
type UsedContext = Pick<
  CommandContext,
  | 'store'
  | 'clock'
  | 'ids'
  | 'epoch'
  | 'wakeSignal'
  | 'kernelId'
  | 'kernel'
  | 'settings'
  | 'notifier'
  | 'progressMessages'
  | 'connections'
  | 'residents'
  | 'sources'
  | 'agents'
  | 'channels'
  | 'snapshots'
  | 'models'
  | 'agentDirectory'
  | 'startNotices'
  | 'sandboxNotices'
  | 'requireSandbox'
  | 'signals'
  | 'prepareWorkspace'
  | 'listen'
  | 'health'
  | 'budgetLimits'
  | 'draining'
  | 'drain'
  | 'tellRun'
  | 'documents'
  | 'past'
  | 'redact'
  | 'withoutClaims'
  | 'serveHttp'
  | 'pageAddress'
>

export interface ComposedProcess {
  readonly context: CommandContext
  readonly queue: ProcessQueue
  /** Closes the store. */
  close(): Promise<void>
}

export const composeProcess = (world: World, proc: SimProcess): ComposedProcess =>
  proc.home ? composeBeside(world, proc, proc.home) : composeAlone(world, proc)

function composeAlone(world: World, proc: SimProcess): ComposedProcess {
  const wakeSignal = createWakeSignal()
  const plain = simStore(world, proc)
  const store = world.variant.store?.(plain) ?? plain
  const engine = composeEngine(world, proc, world.variant.withoutWakeSignal ? store : ringOnCommit(store, wakeSignal))
  const signals = { drain: proc.term.signal, abort: proc.abort.signal }
  const queue = createLoneQueue(world, proc, { engine, wakeSignal, signals })
  const parts = kernelParts(engine, queue, wakeSignal)
  return { context: contextOf(world, proc, parts, queue), queue, close: async () => {} }
}

/** As the plugin `store` does for a shared store. */
function composeBeside(world: World, proc: SimProcess, home: SimHome): ComposedProcess {
  const wakeSignal = createWakeSignal()
  const opened = openSharedStore(world, proc)
  const store = world.variant.store?.(opened.store) ?? opened.store
  const leadership = new Leadership('sim')
  store.onChange?.(() => wakeSignal.ring())
  const engine = composeEngine(world, proc, ringOnCommit(fenceLeader(store, leadership), wakeSignal))
  const documents = createSimDocuments(world, proc, engine)
  const queue = createSharedQueue(world, proc, { home, engine, wakeSignal, leadership, documents })
  const notifier = simNotifier(world, proc, { ...engine, wakeSignal })
  const parts = {
    ...kernelParts(engine, queue, wakeSignal),
    beside: { documents, notifier, leadership, requireLead: queue.requireLead },
  }
  const context = { ...contextOf(world, proc, parts, queue), notifier, channels: simChannels(world, proc), documents }
  return { context, queue, close: opened.close }
}

const kernelParts = (engine: Engine, { drain, hold }: ProcessQueue, wakeSignal: WakeSignal): KernelParts => ({
  ...{ engine, store: engine.store, clock: engine.clock, wakeSignal, drain, hold },
})

function contextOf(world: World, proc: SimProcess, parts: KernelParts, queue: ProcessQueue): CommandContext {
  const { store, clock, ids, budgetLimits, snapshots } = parts.engine
  const { plan } = world
  const { kernel } = plan
  const used: UsedContext = {
    ...{ store, clock, ids, budgetLimits, snapshots, wakeSignal: parts.wakeSignal },
    kernelId: 'sim',
    agents: () => ['default'],
    agentDirectory: NO_AGENTS,
    models: NO_MODELS,
    startNotices: async () => [],
    sandboxNotices: async () => [],
    requireSandbox: async () => {},
    prepareWorkspace: async (sessionId) => ({ path: hasUndo(plan.seed) ? SHARED_FOLDER : workspaceOf(sessionId) }),
    channels: new Map(),
    documents: NO_DOCUMENTS,
    past: emptyPast(clock.now),
    redact: (text) => text,
    listen: () => () => {},
    health: async () => ({ ok: true, reasons: [], degraded: [] }),
    notifier: NO_NOTIFIER,
    progressMessages: NO_PROGRESS_MESSAGES,
    connections: NO_CONNECTIONS,
    residents: simResidents(world, proc, parts),
    sources: NO_SOURCES,
    settings: () => kernelSettings(world, kernel ?? NO_KERNEL),
    kernel: kernel ? simKernel(world, proc, kernel, parts) : NO_KERNEL_CONTROL,
    serveHttp: async () => ({ url: '', login_url: '', token_file: '', loopback: true }),
    pageAddress: () => undefined,
    ...queue,
  }
  return used as CommandContext
}
