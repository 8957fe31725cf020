/** Works the queue: joins the home as a worker on the first drain, and leaves it on close. */

import { hostname } from 'node:os'
import type { Watchdog } from '../adapters/envs/host/watchdog.ts'
import { TirelessError } from '../domain/error.ts'
import { type ProcessRole, runsDispatches } from '../domain/process-role.ts'
import type { Engine } from '../engine/run.ts'
import { tellUnstarted } from '../kernel/conversation/tell-unstarted.ts'
import { type DrainDeps, drain, joinHome, leaveHome } from '../kernel/queue/drain.ts'
import { followChanges } from '../kernel/queue/follow-changes.ts'
import { createHeldDispatches, type HeldDispatches } from '../kernel/queue/held-dispatches.ts'
import type { Leadership } from '../kernel/queue/leadership.ts'
import { applyRequests, interruptRuns, type RunControls, signalRun } from '../kernel/queue/run-controls.ts'
import { SharedWorker } from '../kernel/queue/shared-worker.ts'
import type { WakeSignal } from '../kernel/queue/wake-signal.ts'
import type { Services } from '../ports/plugin.ts'
import { isSharedStore } from '../ports/store.ts'
import { OpenDrains } from './open-drains.ts'
import { runThroughOutages } from './run-through-outages.ts'
import type { StopControl } from './stop-control.ts'

interface QueueParts {
  readonly engine: Engine
  readonly bell: WakeSignal
  readonly log: Services['log']
  readonly stopControl: StopControl
  readonly leadership: Leadership
  /** Contract: the id of the home; asked for only on a shared store. */
  homeId(): string
  /** Contract: the path of the home, below which its sessions work; undefined if all homes see it. */
  homeRoot(): string | undefined
  readonly watchdog: Watchdog
  leaseMs(): number
  /** Of the program. */
  version(): string
  maxConcurrent(): number
  /** Awaited before any work starts. `withoutClaims`: for work that an undo must not do at the same time. */
  ready(withoutClaims: HeldDispatches['alone']): Promise<unknown>
}

export function createQueueService(parts: QueueParts): Services['queue'] & { leave(): Promise<void> } {
  const { bell, log, stopControl } = parts
  const { signals } = stopControl
  const worker = new HomeWorker(parts)
  const drains = new OpenDrains()
  const drainHere = async (wanted: Parameters<Services['queue']['drain']>[0]): Promise<void> =>
    drain(await worker.join(), { ...wanted, signals })
  let startedAs: ProcessRole | null = null
  const isShared = isSharedStore(parts.engine.store)
  let stopping: Promise<void> | undefined
  signals.drain.addEventListener('abort', () => (stopping = worker.stopWaitingIfIdle()), { once: true })
  signals.abort.addEventListener('abort', () => parts.engine.store.stopWaiting?.(), { once: true })
  return {
    isShared: () => isShared,
    role: () => startedAs,
    isQueueWorked: async () => drains.hasFull || (isShared && (await worker.hasOthers())),
    async joinAs(role) {
      worker.role = role
      startedAs = role
      if (isShared) await worker.join()
    },
    requireLead: () => (isShared ? worker.requireLead() : Promise.resolve()),
    releaseLead: () => (isShared ? worker.releaseLead() : Promise.resolve()),
    async whileLeading(work, stop) {
      if (!isShared) return void (await work(stop))
      await worker.whileNeedingLead(() => parts.leadership.whileLeading(work, stop))
      if (signals.drain.aborted) await worker.resign()
    },
    runThroughOutages: (work, tell) =>
      isShared ? runThroughOutages({ ...parts, signals, tell, startOver: () => worker.startOver() }, work) : work(),
    signals,
    stop(withinMs) {
      log.write('info', 'asked to stop', { within_ms: withinMs })
      stopControl.stop(withinMs)
    },
    damage: () => worker.damage,
    draining: () => drains.hasFull,
    epoch: () => worker.epoch,
    tellRun: (dispatchId, what) => signalRun(worker.controls, dispatchId, what),
    hold: worker.held.hold,
    withoutClaims: worker.held.alone,
    // Callers that waited for this drain to do their work must look at the queue again.
    drain: (wanted) => drains.run(wanted, drainHere).finally(() => bell.ring()),
    async leave() {
      stopControl.over()
      await stopping
      // Runs are not waited for: they may take long.
      await drains.close(worker.controls.size === 0)
      await worker.leave()
    },
  }
}

/** This process as a worker of the home. It joins at the first drain, so that reading a home changes nothing in it. */
class HomeWorker {
  readonly #parts: QueueParts
  #joined: Promise<DrainDeps> | undefined
  readonly controls: RunControls = new Map()
  readonly held: HeldDispatches
  /** What is wrong with the database, if it had to be verified. */
  damage: readonly string[] = []
  /** What it stays for; undefined: for one command. */
  role: ProcessRole | undefined
  #alone: number | undefined
  #shared: SharedWorker | undefined
  /** How many parts of this process need the lead. */
  #leadUses = 0
  /** One change of the lead after the other. */
  #leadChange: Promise<unknown> = Promise.resolve()
  #stopFollowing = (): void => {}

  get epoch(): number | undefined {
    return this.#shared ? this.#shared.epoch : this.#alone
  }

  constructor(parts: QueueParts) {
    this.#parts = parts
    this.held = createHeldDispatches(parts.bell)
  }

  join(): Promise<DrainDeps> {
    this.#joined ??= this.#join().catch((thrown) => {
      // A database that was away may be back when it is tried again.
      this.#joined = undefined
      throw thrown
    })
    return this.#joined
  }

  async leave(): Promise<void> {
    this.#stopFollowing()
    const joined = await this.#joined?.catch(() => undefined)
    if (this.#shared) await this.#shared.leave()
    else if (joined) await leaveHome(joined)
    this.#parts.watchdog.leave()
  }

  /** On a shared store. Contract: `work` begins after the first attempt to lead. */
  async whileNeedingLead(work: () => Promise<void>): Promise<void> {
    this.#leadUses += 1
    try {
      await this.#tryToLead()
      await work()
    } finally {
      this.#leadUses -= 1
    }
  }

  async #tryToLead(): Promise<void> {
    await this.join()
    await this.#changeLead(async () => {
      if (!this.#parts.leadership.isLeading) await this.#shared?.tryToLead()
    })
  }

  /** Contract: gives the lead up if nothing in this process needs it any more; never rejects. */
  async releaseLead(): Promise<void> {
    this.#leadUses -= 1
    await this.#changeLead(async () => {
      if (this.#leadUses === 0) await this.resign()
    })
  }

  #changeLead(change: () => Promise<void>): Promise<void> {
    const done = this.#leadChange.then(change)
    this.#leadChange = done.catch(() => {})
    return done
  }

  /** On a shared store. Contract: whether another process runs the dispatches of the whole queue. */
  async hasOthers(): Promise<boolean> {
    const { store, clock } = this.#parts.engine
    const workers = await store.workers(clock.now())
    return workers.some(({ epoch, about }) => epoch !== this.epoch && about !== null && runsDispatches(about.role))
  }

  async startOver(): Promise<void> {
    await this.#shared?.startOver()
  }

  /** A stop waits for a database that is away only if a run may still have something to write. Never rejects. */
  async stopWaitingIfIdle(): Promise<void> {
    const { store } = this.#parts.engine
    if (this.controls.size === 0) await store.ping?.().catch(() => store.stopWaiting?.())
  }

  async resign(): Promise<void> {
    await this.#shared?.resign()
  }

  async #borrowLead(): Promise<void> {
    this.#leadUses += 1
    try {
      await this.#tryToLead()
    } catch (thrown) {
      await this.releaseLead()
      throw thrown
    }
  }

  /** On a shared store. Contract: throws `conflict` unless this process leads the kernel. */
  async requireLead(): Promise<void> {
    const { leadership, engine } = this.#parts
    // A process that follows no schedules would keep the lead after the command, and no beat would fire.
    const mayLead = this.role !== 'worker' && this.role !== 'server'
    if (mayLead) await this.#borrowLead()
    if (leadership.isLeading) return
    if (mayLead) await this.releaseLead()
    const leader = await engine.store.leader(leadership.name)
    const found = (await engine.store.workers(engine.clock.now())).find(({ epoch }) => epoch === leader?.epoch)
    throw new TirelessError('conflict', {
      what: mayLead
        ? `another process on this database leads the kernel ${leadership.name}`
        : `a process with the role ${this.role} does not lead the kernel ${leadership.name}`,
      got: found ? `worker ${found.epoch}, ${found.name}` : 'no live worker: a new leader is being chosen',
      fix: 'do it in the home of that process, or stop it first; tireless status lists all workers',
    })
  }

  async #join(): Promise<DrainDeps> {
    const { engine, bell, ready, maxConcurrent } = this.#parts
    const joining = isSharedStore(engine.store) ? this.#joinOthers() : this.#joinAlone()
    await Promise.all([joining, ready(this.held.alone)])
    const worker = this
    return {
      home: this.#shared && this.#parts.homeId(),
      ...{ engine, wakeSignal: bell, controls: this.controls, held: this.held, isShared: this.#shared !== undefined },
      // Getters, because the epoch and the configuration may change.
      get epoch() {
        return worker.epoch
      },
      get maxConcurrent() {
        return maxConcurrent()
      },
    }
  }

  async #joinAlone(): Promise<void> {
    const { engine, log } = this.#parts
    const { epoch, lost, dead } = await joinHome(engine, `process ${process.pid}`)
    this.#alone = epoch
    log.write(lost > 0 ? 'warn' : 'info', 'worker joined', { epoch, pid: process.pid, lost })
    for (const id of dead) await tellUnstarted(engine, id)
    // The last process did not stop cleanly.
    if (lost > 0) void this.#verifyDatabase()
  }

  async #joinOthers(): Promise<void> {
    const { engine, bell, log, leadership, leaseMs, homeId, maxConcurrent, version, homeRoot, watchdog } = this.#parts
    const { store, clock } = engine
    const [host, root, role] = [hostname(), homeRoot(), this.role ?? 'worker']
    this.#shared = new SharedWorker({
      ...{ store, clock, wakeSignal: bell, leadership, leaseMs: leaseMs() },
      name: `process ${process.pid} on ${host}`,
      about: {
        ...{ role, host, home: homeId(), version: version(), lease_ms: leaseMs() },
        slots: runsDispatches(role) ? maxConcurrent() : 0,
        ...(root === undefined ? {} : { root }),
      },
      stopRuns: () => interruptRuns(this.controls, bell),
      allowCommands: (ms) => watchdog.allow(ms),
      async onDead(ids) {
        for (const id of ids) await tellUnstarted(engine, id)
      },
      log: (level, event, details) => log.write(level, event, details),
    })
    // Requests of other processes to cancel or pause reach the runs of this one.
    this.#stopFollowing = followChanges(store, () => applyRequests(store, this.controls))
    await this.#shared.join()
  }

  /** Contract: runs in the background; never rejects. */
  async #verifyDatabase(): Promise<void> {
    const { engine, log } = this.#parts
    this.damage = await engine.store.verify().catch(() => [])
    for (const message of this.damage) log.write('error', 'database damaged', { message })
  }
}
