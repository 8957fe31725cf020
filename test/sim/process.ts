/** One process lifetime: the real engine, kernel and commands over ports that the world answers. */

import type { CommandContext } from '../../src/commands/lib/context.ts'
import type { Progress } from '../../src/commands/lib/progress.ts'
import { validateAndRun } from '../../src/commands/lib/validate-and-run.ts'
import { asTirelessError, TirelessError } from '../../src/domain/error.ts'
import type { Engine } from '../../src/engine/run.ts'
import { type DrainDeps, drain, joinHome, leaveHome } from '../../src/kernel/queue/drain.ts'
import { createHeldDispatches, type HeldDispatches } from '../../src/kernel/queue/held-dispatches.ts'
import { signalRun } from '../../src/kernel/queue/run-controls.ts'
import { createWakeSignal, ringOnCommit, type WakeSignal } from '../../src/kernel/queue/wake-signal.ts'
import { finishInterruptedUndo } from '../../src/kernel/undo/perform.ts'
import {
  ALONE,
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
import { COMMANDS } from './commands.ts'
import { composeEngine } from './compose-engine.ts'
import { type KernelParts, kernelSettings, simKernel } from './ports/kernel.ts'
import { NO_SOURCES, simResidents } from './ports/residents.ts'
import { simStore } from './ports/store.ts'
import { SHARED_FOLDER, workspaceOf } from './ports/talk.ts'
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

export type ProcessState = 'up' | 'paused' | 'dead' | 'exited'

export class SimProcess {
  readonly id: number
  readonly term = new AbortController()
  readonly abort = new AbortController()
  state: ProcessState = 'up'
  epoch: number | undefined
  /** Another process has joined the home after this one. */
  superseded = false
  /** The event at which its disk failed. */
  diskFailedAt = Number.POSITIVE_INFINITY
  /** It accepts no more commands. */
  isExiting = false
  /** It was paused, and another process was started in its place. */
  isReplaced = false
  /** The event at which a paused process continues. */
  resumeAt = Number.POSITIVE_INFINITY
  /** The event of SIGTERM for a process with a hanging tool. */
  termAt = Number.POSITIVE_INFINITY
  /** The event of the second SIGTERM. */
  abortAt = Number.POSITIVE_INFINITY
  /** The time of the second SIGTERM, monotonic. */
  abortedAt = Number.POSITIVE_INFINITY
  /** User commands that it is running. */
  readonly #openCommands = new Set<Promise<unknown>>()
  readonly #world: World
  readonly #context: CommandContext
  readonly #wakeSignal: WakeSignal
  readonly #heldDispatches: HeldDispatches
  #joined: Promise<DrainDeps> | undefined
  #epoch: number | undefined
  readonly #controls: DrainDeps['controls'] = new Map()
  #openDrains = 0
  #drainUntil: AbortSignal | undefined

  constructor(world: World) {
    this.#world = world
    this.id = world.processes.length + 1
    world.processes.push(this)
    this.#wakeSignal = createWakeSignal()
    this.#heldDispatches = createHeldDispatches(this.#wakeSignal)
    const plain = simStore(world, this)
    const store = world.variant.store?.(plain) ?? plain
    this.#context = this.#compose(
      composeEngine(world, this, world.variant.withoutWakeSignal ? store : ringOnCommit(store, this.#wakeSignal)),
    )
  }

  #compose(engine: Engine): CommandContext {
    const { store, clock, ids, budgetLimits: purse } = engine
    const signals = { drain: this.term.signal, abort: this.abort.signal }
    const drainQueue = (wanted: Parameters<CommandContext['drain']>[0]): Promise<void> =>
      this.#drain(engine, wanted, signals)
    const parts: KernelParts = {
      engine,
      store,
      clock,
      wakeSignal: this.#wakeSignal,
      drain: drainQueue,
      hold: this.#heldDispatches.hold,
    }
    const { plan } = this.#world
    const { kernel } = plan
    const used: UsedContext = {
      store,
      clock,
      ids,
      epoch: () => this.#epoch,
      budgetLimits: purse,
      wakeSignal: this.#wakeSignal,
      kernelId: 'sim',
      agents: () => ['default'],
      agentDirectory: NO_AGENTS,
      models: NO_MODELS,
      startNotices: async () => [],
      sandboxNotices: async () => [],
      requireSandbox: async () => {},
      signals,
      prepareWorkspace: async (sessionId) => ({ path: hasUndo(plan.seed) ? SHARED_FOLDER : workspaceOf(sessionId) }),
      channels: new Map(),
      snapshots: engine.snapshots,
      documents: NO_DOCUMENTS,
      past: emptyPast(clock.now),
      redact: (text) => text,
      withoutClaims: this.#heldDispatches.alone,
      listen: () => () => {},
      health: async () => ({ ok: true, reasons: [], degraded: [] }),
      notifier: NO_NOTIFIER,
      progressMessages: NO_PROGRESS_MESSAGES,
      connections: NO_CONNECTIONS,
      residents: simResidents(this.#world, this, parts),
      sources: NO_SOURCES,
      settings: () => kernelSettings(this.#world, kernel ?? NO_KERNEL),
      kernel: kernel ? simKernel(this.#world, this, kernel, parts) : NO_KERNEL_CONTROL,
      draining: () => this.#openDrains > 0,
      ...ALONE,
      serveHttp: async () => ({ url: '', login_url: '', token_file: '', loopback: true }),
      pageAddress: () => undefined,
      drain: drainQueue,
      tellRun: (id, what) => signalRun(this.#controls, id, what),
    }
    return used as CommandContext
  }

  async #drain(
    engine: Engine,
    wanted: Parameters<CommandContext['drain']>[0],
    signals: CommandContext['signals'],
  ): Promise<void> {
    this.#joined ??= this.#join(engine)
    const share = wanted.only === undefined ? 1 : 0
    this.#openDrains += share
    if (share > 0) this.#drainUntil = wanted.until
    try {
      await drain(await this.#joined, { ...wanted, signals })
    } finally {
      this.#openDrains -= share
      this.#wakeSignal.ring()
    }
  }

  async #join(engine: Engine): Promise<DrainDeps> {
    const { epoch } = await joinHome(engine, `process ${this.id}`)
    this.#epoch = epoch
    if (hasUndo(this.#world.plan.seed)) await this.#finishUndo(engine)
    return {
      engine,
      wakeSignal: this.#wakeSignal,
      epoch,
      maxConcurrent: this.#world.plan.maxConcurrent,
      controls: this.#controls,
      held: this.#heldDispatches,
    }
  }

  async #finishUndo(engine: Engine): Promise<void> {
    const undone = await this.#heldDispatches.alone(() => finishInterruptedUndo({ ...engine, documents: NO_DOCUMENTS }))
    if (undone !== undefined) this.#world.counters.add('undo finished by the next process')
  }

  /** Tells whether it claims from the whole queue and was not told to stop. */
  isClaiming(): boolean {
    return this.#openDrains > 0 && !this.term.signal.aborted && !this.#drainUntil?.aborted
  }

  /** Runs a command that a user sends through the socket. */
  runCommand(name: string, input: object): Promise<unknown> {
    const running = this.#run(name, input).finally(() => this.#openCommands.delete(running))
    this.#openCommands.add(running)
    return running
  }

  #run(name: string, input: object): Promise<unknown> {
    const command = COMMANDS.find((known) => known.name === name)
    if (!command) throw new TirelessError('usage', `unknown command ${name}`)
    return validateAndRun(command, this.#context, input, (_: Progress) => {})
  }

  /** Runs one command as the whole process, then leaves the home and exits. */
  async runToExit(name: string, input: object): Promise<unknown> {
    try {
      const output = await this.#run(name, input)
      this.isExiting = true
      // The socket accepts no new command and answers the open ones.
      await Promise.allSettled(this.#openCommands)
      this.#checkNothingPending(name)
      if (this.#joined) await leaveHome(await this.#joined)
      return output
    } catch (thrown) {
      this.#checkExitError(name, thrown)
      throw thrown
    } finally {
      this.#end('exited')
    }
  }

  /** I10: once a drain has returned, nothing that it started is still pending. */
  #checkNothingPending(name: string): void {
    const left = this.#world.pendingOf(this)
    if (left.length > 0)
      this.#world.fail('I10', `process ${this.id}: ${name} has ended, but these calls are pending: ${left.join(', ')}`)
  }

  #checkExitError(name: string, thrown: unknown): void {
    const { code, message } = asTirelessError(thrown)
    const known =
      (code === 'store_failed' && Number.isFinite(this.diskFailedAt)) ||
      (code === 'store_fenced' && this.superseded) ||
      (name !== 'start' && code !== 'internal')
    if (!known) this.#world.fail('kernel', `process ${this.id}: ${name} ended with ${code}: ${message}`)
  }

  crash(how: string): void {
    this.#world.counters.add('process crashed')
    this.#world.logEvent(`${this.id} ${how}`)
    this.#end('dead')
  }

  pause(until: number): void {
    this.#world.counters.add('process paused')
    this.state = 'paused'
    this.isReplaced = (this.#world.plan.kernel ?? this.#world.plan.residents) === undefined
    this.resumeAt = until
  }

  #end(state: 'dead' | 'exited'): void {
    if (this.state === 'dead') return
    this.state = state
    this.#world.dropPending(this)
    this.#world.garbage.forgetProcess(this)
  }
}
