/** Cycles: one per beat, one at a time, each ended; each dispatch of a cycle is counted once (I5, I6). */

import { type CycleResult, ENDED_DURING_CYCLE } from '../../../src/domain/cycle.ts'
import { isTerminal } from '../../../src/domain/dispatch.ts'
import type { Batch, BatchOutcome, Op } from '../../../src/ports/store.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

interface OpenCycle {
  readonly by: SimProcess
  readonly token: number | undefined
}

export class Cycles {
  readonly #world: World
  /** Unfinished cycles, with the process that began each, and the token of its lead. */
  readonly #open = new Map<string, OpenCycle>()
  readonly #beats = new Set<string>()
  readonly #rivalBeats = new Set<string>()
  /** Cycles whose beat another leader had fired. */
  readonly #rivalCycles = new Set<string>()
  /** Dispatches that cycles enqueued. */
  readonly #dispatched = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  onCommit(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    for (const [i, { ops }] of batches.entries()) {
      if (!outcomes[i]?.ok) continue
      if (ops.length === 1 && ops[0]?.op === 'schedule_fired') this.#world.counters.add('beat skipped: paused')
      for (const op of ops) this.#onOp(proc, op)
    }
  }

  #onOp(proc: SimProcess, op: Op): void {
    if (op.op === 'cycle_begin') this.#onBegin(proc, op)
    if (op.op === 'cycle_end') this.#onEnd(proc, op.result)
    if (op.op === 'enqueue')
      for (const { dispatch_id, cycle_id, source } of op.dispatches) {
        if (source === 'cycle') this.#dispatched.add(dispatch_id)
        if (cycle_id != null && this.#rivalCycles.has(cycle_id))
          this.#world.fail('I5', `${cycle_id} enqueues ${dispatch_id}, although another leader fired its beat`)
      }
  }

  /** Another leader fires a beat just before a cycle begins with it. */
  rivalFired({ id, instant }: Extract<Op, { op: 'schedule_fired' }>): void {
    this.#world.counters.add('beat fired by another leader')
    this.#rivalBeats.add(`${id} ${instant}`)
  }

  #onBegin(proc: SimProcess, { cycle_id, trigger, due }: Extract<Op, { op: 'cycle_begin' }>): void {
    for (const [other, open] of this.#open) {
      const { by } = open
      if (this.#isInCharge(open))
        this.#world.fail('I5', `${cycle_id} of process ${proc.id} begins during ${other} of process ${by.id}`)
      this.#world.counters.add('cycle interrupted')
      this.#open.delete(other)
    }
    this.#open.set(cycle_id, { by: proc, token: this.#world.several.leases.leader?.token })
    this.#world.counters.add(due === null ? 'cycle by command' : 'cycle of a beat')
    if (due === null) return
    const beat = `${trigger} ${due}`
    if (this.#beats.has(beat)) this.#world.fail('I5', `the beat ${beat} has a second cycle, ${cycle_id}`)
    this.#beats.add(beat)
    if (this.#rivalBeats.has(beat)) this.#rivalCycles.add(cycle_id)
  }

  #onEnd(proc: SimProcess, { cycle_id, status, dispatched, agents, error }: CycleResult): void {
    const open = this.#open.get(cycle_id)
    const by = open?.by
    const wasCutShort = open !== undefined && !this.#isInCharge(open) && error === ENDED_DURING_CYCLE
    if (by === proc && open && this.#world.plan.several && !this.#isInCharge(open) && !wasCutShort)
      this.#world.fail('I6', `${cycle_id} is ended by process ${proc.id} in a later term`)
    if (by !== proc && !(by && wasCutShort))
      this.#world.fail('I6', `${cycle_id} is ended by process ${proc.id}, which did not begin it`)
    this.#open.delete(cycle_id)
    const { counters } = this.#world
    if (by !== proc) counters.add('cycle interrupted')
    else if (error !== null) counters.add('cycle with an error')
    else counters.add(dispatched > 0 ? 'cycle with work' : 'cycle without work')
    if (status === 'success' && agents.some((agent) => agent.status === 'waiting'))
      this.#world.fail('E9', `${cycle_id} is a success, although an agent is waiting`)
    if (agents.length > dispatched) counters.add('cycle counts dispatches of earlier cycles')
  }

  /** Whether this process has begun a cycle and not ended it. */
  isIn(proc: SimProcess): boolean {
    return [...this.#open.values()].some(({ by }) => by === proc)
  }

  /** Of several processes, the leader is in charge; else the one that is alive. */
  #isInCharge({ by, token }: OpenCycle): boolean {
    const { plan, several } = this.#world
    return plan.several ? several.leases.leader?.token === token : by.state === 'up' || by.state === 'paused'
  }

  /** Called at rest, after one more cycle. */
  checkEnd(): void {
    const rows = this.#world.db.prepare('SELECT cycle_id, ended_at, result FROM cycles').all()
    const reported = new Map<string, number>()
    for (const { cycle_id, ended_at, result } of rows) {
      if (ended_at === null || result === null) {
        this.#world.fail('I6', `${cycle_id} was never ended`)
        continue
      }
      const { agents } = JSON.parse(String(result)) as CycleResult
      for (const { dispatch_id, status } of agents)
        if (isTerminal(status)) reported.set(dispatch_id, (reported.get(dispatch_id) ?? 0) + 1)
    }
    for (const id of this.#dispatched)
      if (reported.get(id) !== 1) this.#world.fail('I6', `${id} ended, and ${reported.get(id) ?? 0} cycles reported it`)
  }
}
