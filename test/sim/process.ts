/** One life of the process: the real engine, kernel and commands, composed over ports that the world answers. */

import type { CommandContext, Progress } from '../../src/commands/lib/command.ts'
import { validateAndRun } from '../../src/commands/lib/validate-and-run.ts'
import { asTirelessError, TirelessError } from '../../src/domain/error.ts'
import type { Engine } from '../../src/engine/run.ts'
import { type DrainDeps, drain, joinHome, leaveHome } from '../../src/kernel/queue/drain.ts'
import { createHeldDispatches, type HeldDispatches } from '../../src/kernel/queue/held-dispatches.ts'
import { createWakeSignal, ringOnCommit, type WakeSignal } from '../../src/kernel/queue/wake-signal.ts'
import { COMMANDS } from './commands.ts'
import { compose } from './compose-engine.ts'
import type { KernelPlan } from './kernel-plan.ts'
import { type Parts, settingsOf, simKernel } from './ports/kernel.ts'
import { simStore } from './ports/store.ts'
import type { World } from './world.ts'

/** In a world without a kernel. */
const ASLEEP: CommandContext['kernel'] = {
  isRunning: () => false,
  nextBeatAt: () => undefined,
  nextBeatOf: () => undefined,
  run: async () => {},
  catchUp: async () => {},
  runOneCycle: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  runFirstCycle: async () => undefined,
  runCycleNow: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  enqueueAgents: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  reloadSchedules: () => {},
  healthProblems: async () => [],
}

const NO_KERNEL: KernelPlan = {
  single: false,
  late: false,
  every: 60_000,
  mode: 'static',
  missed: 'skip',
  overrun: 'skip',
  agents: [],
}

/** Nor is anybody told of them. */
const SILENT: CommandContext['notifier'] = {
  run: async () => {},
  once: async () => {},
  deliver: async () => {},
  target: async () => null,
  unpairedTarget: async () => null,
  language: () => 'en',
}

/** What these verbs ask of their context; the rest is for those that look at the house itself. */
type Used = Pick<
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
  | 'agents'
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
  | 'serveHttp'
>

export type LifeState = 'up' | 'paused' | 'dead' | 'over'

export class Life {
  readonly id: number
  readonly term = new AbortController()
  readonly abort = new AbortController()
  state: LifeState = 'up'
  epoch: number | undefined
  /** Another life has joined after it. */
  superseded = false
  /** Since when its disk is gone, in events. */
  sickSince = Number.POSITIVE_INFINITY
  /** It takes no more commands. */
  leaving = false
  /** It was paused, and another one was started in its place. */
  zombie = false
  /** When it hears again, in events. */
  resumeAt = Number.POSITIVE_INFINITY
  /** When somebody has no more patience with what hangs in it, and tells it to stop, in events. */
  termAt = Number.POSITIVE_INFINITY
  /** When it is told to stop for the second time, in events. */
  abortAt = Number.POSITIVE_INFINITY
  /** When that was, monotonic. */
  abortedAt = Number.POSITIVE_INFINITY
  /** Commands of people that it runs right now. */
  readonly #errands = new Set<Promise<unknown>>()
  readonly #world: World
  readonly #context: CommandContext
  readonly #bell: WakeSignal
  readonly #held: HeldDispatches
  #kernel: Promise<DrainDeps> | undefined
  #epoch: number | undefined
  #draining = 0
  #enough: AbortSignal | undefined

  constructor(world: World) {
    this.#world = world
    this.id = world.lives.length + 1
    world.lives.push(this)
    this.#bell = createWakeSignal()
    this.#held = createHeldDispatches(this.#bell)
    const plain = simStore(world, this)
    const store = world.variant.store?.(plain) ?? plain
    this.#context = this.#compose(compose(world, this, world.variant.deaf ? store : ringOnCommit(store, this.#bell)))
  }

  #compose(engine: Engine): CommandContext {
    const { store, clock, ids, budgetLimits: purse } = engine
    const signals = { drain: this.term.signal, abort: this.abort.signal }
    const drains = (wanted: Parameters<CommandContext['drain']>[0]): Promise<void> =>
      this.#drain(engine, wanted, signals)
    const parts: Parts = { engine, store, clock, wakeSignal: this.#bell, drain: drains, hold: this.#held.hold }
    const { kernel } = this.#world.plan
    const used: Used = {
      store,
      clock,
      ids,
      epoch: () => this.#epoch,
      budgetLimits: purse,
      wakeSignal: this.#bell,
      kernelId: 'sim',
      agents: () => ['default'],
      startNotices: async () => [],
      sandboxNotices: async () => [],
      requireSandbox: async () => {},
      signals,
      prepareWorkspace: async (sessionId) => ({ path: `/nowhere/${sessionId}` }),
      listen: () => () => {},
      health: async () => ({ ok: true, reasons: [], degraded: [] }),
      notifier: SILENT,
      settings: () => settingsOf(this.#world, kernel ?? NO_KERNEL),
      kernel: kernel ? simKernel(this.#world, this, kernel, parts) : ASLEEP,
      draining: () => this.#draining > 0,
      serveHttp: async () => ({ url: '', login_url: '', token_file: '', loopback: true }),
      drain: drains,
    }
    return used as CommandContext
  }

  async #drain(
    engine: Engine,
    wanted: Parameters<CommandContext['drain']>[0],
    signals: CommandContext['signals'],
  ): Promise<void> {
    this.#kernel ??= this.#join(engine)
    const share = wanted.only === undefined ? 1 : 0
    this.#draining += share
    if (share > 0) this.#enough = wanted.until
    try {
      await drain(await this.#kernel, { ...wanted, signals })
    } finally {
      this.#draining -= share
      this.#bell.ring()
    }
  }

  async #join(engine: Engine): Promise<DrainDeps> {
    const { epoch } = await joinHome(engine, `life ${this.id}`)
    this.#epoch = epoch
    return {
      engine,
      wakeSignal: this.#bell,
      epoch,
      maxConcurrent: this.#world.plan.width,
      controls: new Map(),
      held: this.#held,
    }
  }

  /** It works the whole queue, and nobody has told it to stop. */
  claiming(): boolean {
    return this.#draining > 0 && !this.term.signal.aborted && !this.#enough?.aborted
  }

  /** A command that somebody asks for through the socket. */
  errand(name: string, input: object): Promise<unknown> {
    const running = this.#run(name, input).finally(() => this.#errands.delete(running))
    this.#errands.add(running)
    return running
  }

  #run(name: string, input: object): Promise<unknown> {
    const command = COMMANDS.find((known) => known.name === name)
    if (!command) throw new TirelessError('usage', `there is no command ${name}`)
    return validateAndRun(command, this.#context, input, (_: Progress) => {})
  }

  /** The process does one thing, leaves the home and exits. */
  async live(name: string, input: object): Promise<unknown> {
    try {
      const output = await this.#run(name, input)
      this.leaving = true
      // The socket takes no new question and lets the open ones be answered.
      await Promise.allSettled(this.#errands)
      this.#checkAllDone(name)
      if (this.#kernel) await leaveHome(await this.#kernel)
      return output
    } catch (thrown) {
      this.#checkReason(name, thrown)
      throw thrown
    } finally {
      this.#end('over')
    }
  }

  /** What started was stopped: nothing of a drain that returned is still under way. */
  #checkAllDone(name: string): void {
    const left = this.#world.underWay(this)
    if (left.length > 0)
      this.#world.fail('I10', `life ${this.id}: ${name} is over, and this is not: ${left.join(', ')}`)
  }

  #checkReason(name: string, thrown: unknown): void {
    const { code, message } = asTirelessError(thrown)
    const known =
      (code === 'store_failed' && Number.isFinite(this.sickSince)) ||
      (code === 'store_fenced' && this.superseded) ||
      (name !== 'start' && code !== 'internal')
    if (!known) this.#world.fail('kernel', `life ${this.id}: ${name} ended with ${code}: ${message}`)
  }

  die(how: string): void {
    this.#world.counters.add('crash')
    this.#world.note(`${this.id} ${how}`)
    this.#end('dead')
  }

  pause(until: number): void {
    this.#world.counters.add('pause')
    this.state = 'paused'
    this.zombie = this.#world.plan.kernel === undefined
    this.resumeAt = until
  }

  #end(state: 'dead' | 'over'): void {
    if (this.state === 'dead') return
    this.state = state
    this.#world.forget(this)
    this.#world.garbage.forget(this)
  }
}
