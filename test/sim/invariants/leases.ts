/**
 * Leases and the lead of several processes, by the store's clock: no work is taken from a process whose lease is valid,
 * what a lost process held is taken over within two leases, and only the leader writes what belongs to it.
 */

import { kernelScheduleId } from '../../../src/domain/schedule.ts'
import type { Leader } from '../../../src/ports/store/queue.ts'
import type { Batch, BatchOutcome, Op, OpResults } from '../../../src/ports/store.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

interface Lease {
  readonly proc: SimProcess
  until: number
}

/** What a process needs beside its lease: answers of the store, and its turn among other events. */
const SLACK_MS = 5_000
/** After SIGCONT a process goes on with what it did, until it learns how late it is. */
const WAKING_MS = 5_000
/** A cycle takes some time, and its beat may come late. */
const MOST_BEATS = 2
const MOST_MS = 30_000

/** Beats, cycles and deliveries belong to the leader, and so do the dispatches and documents of a cycle. */
function isForLeader(op: Op): boolean {
  if (op.op === 'enqueue') return op.dispatches.some(({ cycle_id }) => cycle_id != null)
  if (op.op === 'document') return op.cycle_id !== null
  return ['cycle_begin', 'cycle_end', 'schedule_fired', 'delivered', 'undelivered', 'part_sent', 'postpone'].includes(
    op.op,
  )
}

const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values)

export class Leases {
  readonly #world: World
  /** The epochs that have not ended. */
  readonly #live = new Map<number, Lease>()
  readonly #processes = new Map<number, SimProcess>()
  leader: Leader | undefined
  #ledSince = 0
  #leaderlessSince: number | undefined
  #firedAt = 0

  constructor(world: World) {
    this.#world = world
  }

  get #now(): number {
    return this.#world.wall
  }

  /** Contract: called with a commit that joins, before other invariants see it. */
  onJoin(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    this.#forEachOp(batches, outcomes, (op, result) => {
      if (op.op !== 'join') return
      if (proc.epoch !== undefined) this.#world.counters.add('process joined again')
      proc.epoch = (result as OpResults['join']).epoch
      proc.superseded = false
      this.#processes.set(proc.epoch, proc)
      this.#live.set(proc.epoch, { proc, until: this.#now + op.lease_until - op.now })
      if (proc.state === 'up' && !proc.cut) proc.worksSince = this.#now
    })
  }

  onCommit(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    for (const [i, batch] of batches.entries())
      if (batch.leader && outcomes[i]?.ok === false) this.#world.counters.add('write of a former leader refused')
    const left = new Set<number>()
    this.#forEachOp(batches, outcomes, (op, result) => {
      if (isForLeader(op) && this.leading() !== proc)
        this.#fail('E15', `${proc.id} writes ${op.op}, and epoch ${this.leader?.epoch} leads`)
      const lease = op.op === 'beat' ? this.#live.get(op.epoch) : undefined
      if (op.op === 'beat' && lease && (result as OpResults['beat']).alive)
        lease.until = this.#now + op.lease_until - op.now
      if (op.op === 'leave') left.add(op.epoch)
      if (op.op === 'lead') this.#onLead(op, result as OpResults['lead'])
      if (op.op === 'schedule_fired' && op.id === kernelScheduleId('sim')) this.#firedAt = this.#now
    })
    this.#endEpochs(left)
  }

  #forEachOp(
    batches: readonly Batch[],
    outcomes: readonly BatchOutcome[],
    use: (op: Op, result: unknown) => void,
  ): void {
    for (const [i, { ops }] of batches.entries()) {
      const outcome = outcomes[i]
      if (outcome?.ok) for (const [at, op] of ops.entries()) use(op, outcome.results[at])
    }
  }

  #onLead(asked: Extract<Op, { op: 'lead' }>, { epoch, token }: OpResults['lead']): void {
    const was = this.leader
    if (was?.epoch === epoch && was.token === token) return
    const lease = this.#live.get(was?.epoch ?? 0)
    const isGivenUp = asked.resign === true && asked.epoch === was?.epoch
    if (lease && lease.until > this.#now && !isGivenUp)
      this.#fail('E15', `epoch ${epoch} leads, although the lease of epoch ${was?.epoch} is valid`)
    if (token <= (was?.token ?? 0)) this.#fail('E15', `the token of epoch ${epoch} is ${token} again`)
    if (was) this.#world.counters.add('lead taken over')
    this.leader = { epoch, token }
    this.#ledSince = this.#now
  }

  /** `left`: epochs that have just left by themselves. */
  #endEpochs(left: ReadonlySet<number>): void {
    for (const row of this.#world.db.prepare('SELECT epoch FROM workers WHERE left_at IS NOT NULL').all()) {
      const epoch = Number(row.epoch)
      const lease = this.#live.get(epoch)
      if (!lease) continue
      this.#live.delete(epoch)
      if (lease.proc.epoch === epoch) lease.proc.superseded = true
      if (left.has(epoch)) continue
      this.#world.counters.add('work of a lost process taken over')
      if (lease.until > this.#now)
        this.#fail('E15', `epoch ${epoch} is ended, although its lease is valid for ${lease.until - this.#now} ms`)
    }
  }

  /** The process that leads by the store; its epoch may have ended. */
  leading(): SimProcess | undefined {
    return this.#processes.get(this.leader?.epoch ?? 0)
  }

  /** Contract: called after every event. */
  check(): void {
    const { lease = 0 } = this.#world.plan.several ?? {}
    const limit = 2 * lease + SLACK_MS
    const working = this.#world.processes.filter((proc) => this.#isPresent(proc) && !proc.isStopping())
    for (const [epoch, { proc, until }] of this.#live) {
      // What it sent may have reached the store since.
      const since = Math.max(proc.lostAt, until - lease)
      const other = working.find((one) => one !== proc && this.#now - Math.max(since, one.worksSince) > limit)
      if (other) this.#fail('E15', `epoch ${epoch} was lost at ${proc.lostAt}, and ${other.id} does not recover it`)
    }
    const leader = this.leading()
    if (leader && this.#isPresent(leader) && !leader.idlesAsLeader()) {
      this.#leaderlessSince = undefined
      if (leader.follows && !leader.isStopping()) this.#checkBeats(leader)
      return
    }
    this.#leaderlessSince ??= Math.min(this.#now, leader?.lostAt ?? this.#now)
    const since = this.#leaderlessSince
    const candidate = working.find((proc) => proc.follows && this.#now - Math.max(since, proc.worksSince) > limit)
    if (candidate) this.#fail('E15', `nobody leads since ${since}, although ${candidate.id} could`)
  }

  /** It reaches the store, and its lease has not ended. */
  #isPresent(proc: SimProcess): boolean {
    return proc.state === 'up' && !proc.cut && this.#live.get(proc.epoch ?? 0)?.proc === proc
  }

  /**
   * A leader whose clock was set back, or is behind the one before, has to wait for its next beat. After the faults no
   * agent is enabled, so no beat is due.
   */
  #checkBeats(leader: SimProcess): void {
    if (this.#world.faults.ended) return
    const { kernel, several, faults } = this.#world.plan
    const { homes = [] } = several ?? {}
    const jumps = faults.reduce((sum, fault) => sum + (fault.kind === 'clock' ? Math.abs(fault.by) : 0), 0)
    const drift = spread(homes.map(({ rate }) => rate)) * this.#world.monotonic
    const skew = spread(homes.map(({ offset }) => offset)) + drift + jumps
    const since = Math.max(this.#ledSince, leader.worksSince, this.#firedAt)
    if (this.#now - since > MOST_BEATS * (kernel?.every ?? 0) + MOST_MS + skew)
      this.#fail('I5', `${leader.id} leads, and fired no beat since ${since}`)
  }

  /** A process must not act for a run after its lease, except just after SIGCONT. `what`: an effect or a delivery. */
  checkInTime(proc: SimProcess, what: string): void {
    const isLate = proc.superseded || (this.#live.get(proc.epoch ?? 0)?.until ?? 0) <= this.#now
    if (!isLate) return
    if (this.#world.monotonic - proc.wokenAt <= WAKING_MS) this.#world.counters.add('late act of a continued process')
    else this.#fail('E15', `${what} happens in process ${proc.id} after its lease`)
  }

  #fail(invariant: string, message: string): void {
    this.#world.fail(invariant, message)
  }
}
