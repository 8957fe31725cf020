/** One life of the process: the real engine, kernel and commands, composed over ports that the world answers. */

import { approvalsAllow, approvalsDeny, approvalsList } from '../../src/commands/approvals.ts'
import type { Command, Context, Progress } from '../../src/commands/command.ts'
import { cycleNow, once, pause, resume } from '../../src/commands/cycles.ts'
import { execute } from '../../src/commands/execute.ts'
import { enqueue, queueList } from '../../src/commands/queue.ts'
import { run } from '../../src/commands/run.ts'
import { send, sessionsList } from '../../src/commands/sessions.ts'
import { start } from '../../src/commands/start.ts'
import { status } from '../../src/commands/status.ts'
import { unknownsList, unknownsResolve } from '../../src/commands/unknowns.ts'
import { asTirelessError, TirelessError } from '../../src/domain/error.ts'
import type { Cap } from '../../src/domain/money.ts'
import { Breaker } from '../../src/engine/chain.ts'
import type { Engine } from '../../src/engine/run.ts'
import { createDoorbell, type Doorbell, ringing } from '../../src/kernel/doorbell.ts'
import { drain, joinHome, type Kernel, leaveHome } from '../../src/kernel/drain.ts'
import { MEMORY_KINDS } from '../../src/memory/kinds.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Env } from '../../src/ports/env.ts'
import { onlyModel } from '../../src/ports/model.ts'
import { NO_SECRETS } from '../../src/ports/secrets.ts'
import { NO_SKILLS } from '../../src/ports/skills.ts'
import { NO_SNAPSHOTS } from '../../src/ports/snapshots.ts'
import type { Store } from '../../src/ports/store.ts'
import { NO_BUDGET } from '../journals.ts'
import type { KernelPlan } from './kernel-plan.ts'
import type { Plan } from './plan.ts'
import { simBehaviours, simCritic } from './ports/behaviour.ts'
import { simGate } from './ports/gate.ts'
import { settingsOf, simKernel } from './ports/kernel.ts'
import { simModel } from './ports/model.ts'
import { simStore } from './ports/store.ts'
import { simTools } from './ports/tools.ts'
import type { World } from './world.ts'

/** What people ask for here: the verbs that move the queue, and some that look at it. */
const VERBS = [
  ...[run, start, enqueue, send, status, queueList, sessionsList],
  ...[unknownsList, unknownsResolve, approvalsList, approvalsAllow, approvalsDeny],
  ...[once, cycleNow, pause, resume],
]
/** Their strict input is compiled once and not once per world: that would take longer than the world does. */
const COMMANDS = (VERBS as unknown as readonly Command[]).map((command) => {
  const input = command.input.strict()
  return { ...command, input: Object.assign(input, { strict: () => input }) }
})

/** In a world without a kernel. */
const ASLEEP: Context['kernel'] = {
  running: () => false,
  nextBeat: () => undefined,
  nextFor: () => undefined,
  run: async () => {},
  catchUp: async () => {},
  once: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  first: async () => undefined,
  now: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  byHand: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  refresh: () => {},
  ailments: async () => [],
}

const NO_KERNEL: KernelPlan = { every: 60_000, mode: 'static', missed: 'skip', overrun: 'skip', agents: [] }

/** Nor is anybody told of them. */
const SILENT: Context['notifier'] = {
  run: async () => {},
  once: async () => {},
  deliver: async () => {},
  target: async () => null,
  language: () => 'en',
}

/** What these verbs ask of their context; the rest is for those that look at the house itself. */
type Used = Pick<
  Context,
  | 'store'
  | 'clock'
  | 'ids'
  | 'epoch'
  | 'bell'
  | 'kernelId'
  | 'kernel'
  | 'settings'
  | 'notifier'
  | 'agents'
  | 'notices'
  | 'sandboxNotices'
  | 'refuseWithoutSandbox'
  | 'signals'
  | 'workspace'
  | 'listen'
  | 'health'
  | 'purse'
  | 'draining'
  | 'drain'
  | 'serve'
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
  readonly #context: Context
  readonly #bell: Doorbell
  #kernel: Promise<Kernel> | undefined
  #epoch: number | undefined
  #draining = 0
  #enough: AbortSignal | undefined

  constructor(world: World) {
    this.#world = world
    this.id = world.lives.length + 1
    world.lives.push(this)
    this.#bell = createDoorbell()
    const plain = simStore(world, this)
    const store = world.variant.store?.(plain) ?? plain
    this.#context = this.#compose(compose(world, this, world.variant.deaf ? store : ringing(store, this.#bell)))
  }

  #compose(engine: Engine): Context {
    const { store, clock, ids, purse } = engine
    const signals = { drain: this.term.signal, abort: this.abort.signal }
    const drains = (wanted: Parameters<Context['drain']>[0]): Promise<void> => this.#drain(engine, wanted, signals)
    const parts = { engine, store, clock, bell: this.#bell, drain: drains }
    const { kernel } = this.#world.plan
    const used: Used = {
      store,
      clock,
      ids,
      epoch: () => this.#epoch,
      purse,
      bell: this.#bell,
      kernelId: 'sim',
      agents: () => ['default'],
      notices: async () => [],
      sandboxNotices: async () => [],
      refuseWithoutSandbox: async () => {},
      signals,
      workspace: async (sessionId) => ({ path: `/nowhere/${sessionId}` }),
      listen: () => () => {},
      health: async () => ({ ok: true, reasons: [], degraded: [] }),
      notifier: SILENT,
      settings: () => settingsOf(this.#world, kernel ?? NO_KERNEL),
      kernel: kernel ? simKernel(this.#world, this, kernel, parts) : ASLEEP,
      draining: () => this.#draining > 0,
      serve: async () => ({ url: '', login_url: '', token_file: '', loopback: true }),
      drain: drains,
    }
    return used as Context
  }

  async #drain(engine: Engine, wanted: Parameters<Context['drain']>[0], signals: Context['signals']): Promise<void> {
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

  async #join(engine: Engine): Promise<Kernel> {
    const { epoch } = await joinHome(engine, `life ${this.id}`)
    this.#epoch = epoch
    return { engine, bell: this.#bell, epoch, maxConcurrent: this.#world.plan.width, reins: new Map() }
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
    return execute(command, this.#context, input, (_: Progress) => {})
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
      code === 'store_failed' ||
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
  }
}

export function compose(world: World, life: Life, store: Store): Engine {
  const clock: Clock = {
    now: () => world.wall,
    monotonic: () => world.monotonic,
    sleep: (ms, signal) => world.sleep(life, ms, signal),
  }
  const known = simTools(world, life)
  const tools = world.variant.tools?.(known) ?? known
  const withdrawing = world.faults.withdrawing(life.id)
  const withdrawn = new Set(withdrawing ? world.watch.cutShort().map(({ tool }) => tool) : [])
  const model = simModel(world, life)
  return {
    store,
    clock,
    ids: { next: () => world.nextId() },
    models: onlyModel(model),
    breaker: new Breaker(),
    envs: { open: (root) => world.io(life, 'open', '', () => openEnv(world, root)) },
    behaviours: simBehaviours(
      world,
      [...tools.keys()].filter((name) => !withdrawn.has(name)),
    ),
    tools: new Map([...tools].filter(([name]) => !(withdrawing?.gone && withdrawn.has(name)))),
    critics: () => [simCritic(world)],
    gates: () => [simGate(world)],
    sink: {
      opened: () => {},
      closed: () => {},
      recorded({ session_id }, { seq }) {
        if ((world.watch.byId.get(session_id)?.head ?? 0) < seq)
          world.fail('live events', `${session_id} #${seq} is told before it is on disk`)
      },
      delta: () => {},
    },
    secrets: NO_SECRETS,
    snapshots: NO_SNAPSHOTS,
    skills: NO_SKILLS,
    parsers: new Map(),
    memories: new Map(MEMORY_KINDS.map((kind) => [kind.name, kind])),
    hooks: () => [],
    budget: { ...NO_BUDGET, steps: world.plan.maxSteps },
    purse: { caps: () => capsOf(world.plan), dayOf: () => '2030-01-01' },
    policy: openPolicy([...tools.keys()]),
    patience: { inARow: 3, inAll: 10 },
  }
}

const capsOf = ({ cap }: Plan): readonly Cap[] =>
  cap === undefined ? [] : [{ name: 'per_day_usd', scope: 'day', unit: 'usd', limit: cap }]

/** Everything is granted: what the simulator asks about is asked by its own gate. */
const openPolicy = (tools: readonly string[]): Engine['policy'] => ({
  isAllowed: () => true,
  grants: () =>
    // To anywhere, and to nowhere in particular.
    tools.flatMap((tool) =>
      [['*'], []].map((to) => ({
        ...{ id: tool, tool, agent_id: null, session_id: null, to, args: null },
        ...{ granted_at: '2030-01-01T00:00:00.000Z', expires_at: null },
      })),
    ),
  unattended: 'park',
  isForeign: () => false,
})

/** An env that nothing may touch. */
function openEnv(world: World, root: string): Env {
  if (world.faults.of('env')) {
    world.counters.add('run refused (folder)')
    throw new TirelessError('path_refused', 'the folder cannot be opened')
  }
  const refuse = (): never => {
    world.fail('injection', 'somebody touched the env')
    throw new TirelessError('internal', 'there is no env here')
  }
  return { root, groups: [], getOps: refuse, health: async () => ({ ok: true }), async close() {} }
}
