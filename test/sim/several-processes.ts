/** Several processes on one store: what happens to them, and what must hold for all of them together. */

import type { Batch, BatchOutcome } from '../../src/ports/store.ts'
import { Deliveries } from './invariants/deliveries.ts'
import { Leases } from './invariants/leases.ts'
import { SleepingWork } from './invariants/sleeping-work.ts'
import type { Cut } from './plan.ts'
import { ChangeFeeds } from './ports/shared-store.ts'
import type { SimProcess } from './process.ts'
import { integerBelow } from './random.ts'
import type { World } from './world.ts'

const READS_AT_ONCE = 0.9
/** In leases: after so long, at the latest, a dead process is started again. */
const LONGEST_ABSENCE = 2.5

export class SeveralProcesses {
  readonly leases: Leases
  readonly deliveries: Deliveries
  readonly feeds = new ChangeFeeds()
  readonly #sleepingWork: SleepingWork
  readonly #world: World
  #reads = 0

  constructor(world: World) {
    this.#world = world
    this.leases = new Leases(world)
    this.deliveries = new Deliveries(world)
    this.#sleepingWork = new SleepingWork(world)
  }

  /** Several processes read much: most reads are no events of their own. One that cannot reach the store waits. */
  isReadAtOnce(proc: SimProcess): boolean {
    if (!this.#world.plan.several || proc.cut) return false
    this.#reads += 1
    return this.#world.chance('read at once', this.#reads) < READS_AT_ONCE
  }

  /** SIGSTOP, until this monotonic time. */
  stop(proc: SimProcess, until: number): void {
    this.#world.counters.add('process stopped for a time')
    proc.state = 'paused'
    proc.resumeAt = until
    this.lose(proc)
  }

  cutOff(procs: readonly SimProcess[], cut: Cut): void {
    const { counters, monotonic } = this.#world
    counters.add(cut.all ? 'store away from all processes' : 'process cut off from the store')
    for (const proc of procs) {
      if (proc.state !== 'up' && proc.state !== 'paused') continue
      proc.cut = { ...cut, until: monotonic + cut.ms }
      this.lose(proc)
    }
  }

  /** From now on, others have to do the work of this process. */
  lose(proc: SimProcess): void {
    const { wall, monotonic, plan, events, cycles, counters } = this.#world
    proc.worksSince = Number.POSITIVE_INFINITY
    proc.lostAt = Math.min(proc.lostAt, wall)
    if (!proc.home || !plan.several) return
    if (this.leases.leading() === proc && cycles.isIn(proc)) counters.add('leader lost during a cycle')
    if (proc.state === 'dead' || proc.state === 'exited')
      proc.home.restartAt = monotonic + integerBelow(plan.seed, LONGEST_ABSENCE * plan.several.lease, 'restart', events)
  }

  /** Continues stopped processes, and reconnects those that were cut off. */
  resumeDue(): void {
    const { monotonic, wall } = this.#world
    for (const proc of this.#world.processes) {
      const wakes = proc.state === 'paused' && proc.resumeAt <= monotonic
      const heals = proc.cut !== undefined && proc.cut.until <= monotonic
      if (wakes) {
        this.#world.logEvent(`${proc.id} continues`)
        Object.assign(proc, { state: 'up', wokenAt: monotonic })
      }
      if (heals) {
        this.#world.logEvent(`${proc.id} reaches the store again`)
        proc.cut = undefined
        this.feeds.reconnect(proc)
      }
      if ((wakes || heals) && proc.state === 'up' && !proc.cut)
        Object.assign(proc, { worksSince: wall, lostAt: Number.POSITIVE_INFINITY })
    }
  }

  /** The next monotonic time at which a process is continued, reconnected or started again. */
  nextInstant(): number {
    const { processes, homes } = this.#world
    const ends = processes.flatMap(({ state, resumeAt, cut }) => [
      ...(state === 'paused' ? [resumeAt] : []),
      ...(cut && (state === 'up' || state === 'paused') ? [cut.until] : []),
    ])
    return Math.min(...ends, ...homes.flatMap((home) => (home.isLocked() ? [] : [home.restartAt])))
  }

  /** Contract: called with every applied group of commits, after all other invariants. */
  onCommit(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    if (!this.#world.plan.several) return
    this.leases.onCommit(proc, batches, outcomes)
    this.feeds.onCommit(proc, batches, outcomes)
  }

  /** Contract: called after every event. */
  check(): void {
    if (!this.#world.plan.several) return
    this.leases.check()
    this.#sleepingWork.check()
  }
}
