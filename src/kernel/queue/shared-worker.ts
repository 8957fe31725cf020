/**
 * This process as one of several on a shared store: it keeps its lease, recovers what dead processes left, and leads
 * the kernel, if it may and no other process does.
 * Must not know: what its runs do, and what the leader does.
 * Invariants: a process that cannot renew its lease stops its runs and gives up the lead before the lease ends, by a
 * clock that cannot jump; it then joins again with a new epoch.
 */

import { asTirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { WorkerAbout } from '../../ports/store/queue.ts'
import { commitOne, type Op, type OpResults, type Store } from '../../ports/store.ts'
import type { Leadership } from './leadership.ts'
import type { WakeSignal } from './wake-signal.ts'

/** How often a lease is renewed, and when work stops if that fails: parts of the lease. */
const RENEW_AFTER = 1 / 3
const STOP_AFTER = 0.7
/** When the watchdog kills commands, if this process has not: it may be stopped by the system. */
const KILL_AFTER = 0.85

const ENDED_BY_ANOTHER = 'another process has ended it'

interface SharedWorkerDeps {
  readonly store: Store
  readonly clock: Clock
  readonly wakeSignal: WakeSignal
  readonly leadership: Leadership
  readonly leaseMs: number
  readonly name: string
  readonly about: WorkerAbout
  /** Contract: interrupts the runs of this process; resolves when none is left. */
  stopRuns(): Promise<void>
  /** Contract: commands of this process are killed after so many milliseconds, also while it is stopped. */
  allowCommands(ms: number): void
  /** Dispatches that ended because their processes died too often. */
  onDead(ids: readonly string[]): Promise<void>
  log(level: 'info' | 'warn', event: string, details: Readonly<Record<string, string | number>>): void
}

export class SharedWorker {
  readonly #deps: SharedWorkerDeps
  readonly #over = new AbortController()
  /** Undefined while this process has no lease. */
  #epoch: number | undefined
  /** When the last successful renewal was asked for. */
  #renewedAt = 0
  #mayLead = false
  /** The epoch that was given up, until this process joins again. */
  #ended: number | undefined
  #loops: Promise<unknown> | undefined
  /** Resolves when this process has a lease. */
  #joined = Promise.withResolvers<void>()
  /** Wakes the loop before it is time to renew the lease. */
  #hurry = new AbortController()

  constructor(deps: SharedWorkerDeps) {
    this.#deps = deps
  }

  get epoch(): number | undefined {
    return this.#epoch
  }

  async join(): Promise<number> {
    const lost = await this.#begin([])
    this.#loops = Promise.all([this.#keepLease(), this.#watchLease()])
    return lost
  }

  /**
   * From now on, this process leads if no other one does. Contract: resolves after the first attempt. A process that
   * has lost its lease joins again before, if it can within the time of a lease.
   */
  async tryToLead(): Promise<void> {
    const { clock, leaseMs } = this.#deps
    this.#mayLead = true
    const epoch = this.#epoch
    if (epoch !== undefined && (await this.#renew(epoch))) return
    if (epoch !== undefined) void this.#giveUp(epoch, ENDED_BY_ANOTHER)
    const joined = new AbortController()
    void this.#joined.promise.then(() => joined.abort())
    await clock.sleep(leaseMs, AbortSignal.any([this.#over.signal, joined.signal]))
  }

  /**
   * Another process may lead from now on, while the runs of this one end. What it did as the leader has ended.
   * Contract: never rejects.
   */
  async resign(): Promise<void> {
    const { store, clock, leadership, log } = this.#deps
    const epoch = leadership.isLeading ? this.#epoch : undefined
    this.#mayLead = false
    leadership.end()
    if (epoch === undefined) return
    try {
      // A stop does not wait for a database that is away.
      await store.ping?.()
      await commitOne(store, [{ op: 'lead', name: leadership.name, epoch, now: clock.now(), resign: true }])
    } catch (thrown) {
      log('warn', 'lead not given up', { message: asTirelessError(thrown).message })
    }
  }

  /** Joins again with a new epoch, because runs of this one were left in the middle. */
  async startOver(): Promise<void> {
    if (this.#epoch !== undefined) await this.#giveUp(this.#epoch, 'the store failed')
  }

  /** Contract: never rejects. */
  async leave(): Promise<void> {
    this.#over.abort('over')
    this.#hurry.abort('over')
    this.#deps.leadership.end()
    await this.#loops
    const { store, clock, log } = this.#deps
    const epoch = this.#epoch
    try {
      if (epoch !== undefined) await commitOne(store, [{ op: 'leave', epoch, now: clock.now() }])
    } catch (thrown) {
      // Its lease ends by itself.
      log('warn', 'worker has not left', { message: asTirelessError(thrown).message })
    }
  }

  /** Contract: starts a new epoch; returns how many dead workers were recovered. */
  async #begin(before: readonly Op[]): Promise<number> {
    const { store, clock, leaseMs, name, about, onDead, log } = this.#deps
    const [asked, now] = [clock.monotonic(), clock.now()]
    const join = { op: 'join', name, now, lease_until: now + leaseMs, alone: false, about } as const
    const results = await commitOne<readonly Op[]>(store, [...before, join, { op: 'recover', now }])
    const [{ epoch }, { lost, dead }] = results.slice(-2) as [OpResults['join'], OpResults['recover']]
    this.#renewed(asked)
    this.#epoch = epoch
    log('info', 'worker joined', { epoch, ...about, lost })
    await onDead(dead)
    if (this.#mayLead) await this.#renew(epoch)
    if (this.#epoch === epoch) this.#joined.resolve()
    return lost
  }

  /** Contract: false if another process has ended this epoch. */
  async #renew(epoch: number): Promise<boolean> {
    const { store, clock, leaseMs, leadership, onDead } = this.#deps
    const [asked, now] = [clock.monotonic(), clock.now()]
    const lead: readonly Op[] = this.#mayLead ? [{ op: 'lead', name: leadership.name, epoch, now }] : []
    try {
      const ops: readonly Op[] = [
        { op: 'beat', epoch, now, lease_until: now + leaseMs },
        { op: 'recover', now },
        ...lead,
      ]
      const results = await commitOne(store, ops)
      const [{ alive }, { dead }, led] = results as [OpResults['beat'], OpResults['recover'], OpResults['lead']?]
      await onDead(dead)
      // The answer may have come too late: this process has given the epoch up.
      if (!alive || this.#epoch !== epoch) return false
      this.#renewed(asked)
      if (led && this.#mayLead) leadership.update(led)
      return true
    } catch (thrown) {
      if (asTirelessError(thrown).code === 'store_fenced') return false
      throw thrown
    }
  }

  /** `asked`: when the renewal was asked for; the lease may have begun then. */
  #renewed(asked: number): void {
    const { clock, leaseMs, allowCommands } = this.#deps
    this.#renewedAt = asked
    allowCommands(asked + leaseMs * KILL_AFTER - clock.monotonic())
  }

  /** Contract: never rejects: a store that has failed is reported by the wake signal. */
  async #keepLease(): Promise<void> {
    const { clock, leaseMs, log } = this.#deps
    const { signal } = this.#over
    while (!signal.aborted) {
      await clock.sleep(leaseMs * RENEW_AFTER, this.#hurry.signal)
      if (signal.aborted) return
      this.#hurry = new AbortController()
      const epoch = this.#epoch
      try {
        if (epoch === undefined) await this.#joinAgain()
        else if (!(await this.#renew(epoch))) await this.#giveUp(epoch, ENDED_BY_ANOTHER)
      } catch (thrown) {
        log('warn', 'lease not renewed', { message: asTirelessError(thrown).message })
      }
    }
  }

  /** Stops the work of this process when its lease is about to end, also while a renewal is on its way. */
  async #watchLease(): Promise<void> {
    const { clock, leaseMs } = this.#deps
    const { signal } = this.#over
    while (!signal.aborted) {
      const left = this.#renewedAt + leaseMs * STOP_AFTER - clock.monotonic()
      const epoch = this.#epoch
      if (epoch === undefined) await clock.sleep(leaseMs * RENEW_AFTER, signal)
      else if (left > 0) await clock.sleep(left, signal)
      else await this.#giveUp(epoch, 'it could not be renewed in time')
    }
  }

  async #giveUp(epoch: number, why: string): Promise<void> {
    const { leadership, stopRuns, log } = this.#deps
    if (this.#epoch !== epoch) return
    this.#epoch = undefined
    this.#ended = epoch
    this.#joined = Promise.withResolvers()
    leadership.end()
    log('warn', 'lease lost; runs are stopped', { epoch, why })
    await stopRuns()
    this.#hurry.abort()
  }

  async #joinAgain(): Promise<void> {
    const { clock, wakeSignal, stopRuns } = this.#deps
    await stopRuns()
    const ended = this.#ended
    await this.#begin(ended === undefined ? [] : [{ op: 'leave', epoch: ended, now: clock.now() }])
    this.#ended = undefined
    wakeSignal.ring()
  }
}
