/**
 * Leadership: whether this process leads the kernel on a shared store, and the fence of the leader's writes.
 * Must not know: how a leader is chosen.
 * Invariants: what only the leader may write carries its token, so the store refuses it from a process that leads no
 * longer.
 */

import { asTirelessError } from '../../domain/error.ts'
import { untilAborted } from '../../ports/deadline.ts'
import type { Batch, LeaderFence, Op, OpResults, Store } from '../../ports/store.ts'

/** A term of the leader; `over` aborts at its end. */
interface Term {
  readonly token: number
  readonly over: AbortController
}

export class Leadership {
  /** The kernel's id. */
  readonly name: string
  #term: Term | undefined
  /** The token of a new term, while the work of an earlier one is ending: what that still writes must be refused. */
  #next: number | undefined
  /** Number of works that belong to a term. */
  #working = 0
  #changed = new AbortController()

  constructor(name: string) {
    this.name = name
  }

  get isLeading(): boolean {
    return this.#term !== undefined
  }

  /** The token 0 leads nothing: the store refuses it. */
  fence(): LeaderFence {
    return { name: this.name, token: this.#term?.token ?? 0 }
  }

  update({ leading, token }: OpResults['lead']): void {
    if (leading && (this.#term?.token ?? this.#next) === token) return
    this.end()
    if (leading) this.#next = token
    this.#begin()
  }

  end(): void {
    this.#term?.over.abort()
    this.#term = undefined
    this.#next = undefined
    this.#tell()
  }

  #begin(): void {
    if (this.#next === undefined || this.#working > 0) return
    this.#term = { token: this.#next, over: new AbortController() }
    this.#next = undefined
    this.#tell()
  }

  /**
   * Contract: runs `work` whenever this process leads, until `stop` aborts; the signal of `work` aborts when the term
   * ends. Rejects if `work` rejects for another reason than the end of its term.
   */
  async whileLeading(work: (signal: AbortSignal) => Promise<unknown>, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const changed = this.#changed.signal
      const term = this.#term
      if (!term) {
        await untilAborted(AbortSignal.any([changed, stop]))
        continue
      }
      this.#working += 1
      try {
        await work(AbortSignal.any([stop, term.over.signal]))
      } catch (thrown) {
        if (asTirelessError(thrown).code !== 'store_fenced') throw thrown
      } finally {
        this.#working -= 1
      }
      // A refused write tells that another process leads, before the next renewal does.
      if (this.#term === term && !stop.aborted) this.end()
      this.#begin()
    }
  }

  /** Contract: runs `work`; what it writes after the term is refused, even if this process leads again by then. */
  async withinTerm<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1
    try {
      return await work()
    } finally {
      this.#working -= 1
      this.#begin()
    }
  }

  #tell(): void {
    const changed = this.#changed
    this.#changed = new AbortController()
    changed.abort()
  }
}

/** Beats, cycles and deliveries belong to the leader. */
const LEADER_OPS: ReadonlySet<Op['op']> = new Set([
  ...(['cycle_begin', 'cycle_end', 'schedule_fired', 'delivered', 'undelivered', 'part_sent', 'postpone'] as const),
  ...(['retract', 'take_over'] as const),
])

/** Also what a cycle dispatches, and what it writes to documents. */
function isForLeader(op: Op): boolean {
  if (op.op === 'enqueue') return op.dispatches.some(({ cycle_id }) => cycle_id !== undefined)
  if (op.op === 'document') return op.cycle_id !== null
  return LEADER_OPS.has(op.op)
}

/** A shared store that gets the leader's fence with everything that only the leader may write. */
export function fenceLeader(store: Store, leadership: Pick<Leadership, 'fence'>): Store {
  const fenced = (batch: Batch): Batch =>
    batch.ops.some(isForLeader) ? { ...batch, leader: leadership.fence() } : batch
  return { ...store, commit: (batches) => store.commit(batches.map(fenced)) }
}
