/** Groups the commits of one turn of the event loop, so that they share an fsync. */

import { TirelessError } from '../../domain/error.ts'
import type { Batch, BatchOutcome, Store } from '../../ports/store.ts'
import { type EncodedBatch, encodeBatch } from './encode-batch.ts'

/** A group of this size is committed without waiting for more. */
const FULL_GROUP = 16

/** Most commits of one dispatch before yielding to the event loop, which takes about a millisecond. */
const MAX_DIRECT = 6

interface PendingCommit {
  readonly batches: readonly Batch[]
  resolve(outcomes: readonly BatchOutcome[]): void
  reject(error: unknown): void
}

/** What a writer says about a group that is on disk. */
interface GroupOutcomes {
  readonly outcomes: readonly BatchOutcome[]
}

interface GroupedWrites<A extends GroupOutcomes> {
  /** Contract: applies the groups one after the other; each is on disk when this resolves. */
  apply(batches: readonly EncodedBatch[]): Promise<A>
  close(): Promise<void>
  /** Called before the commits of a group are acknowledged. Contract: never throws. */
  onApplied(batches: readonly EncodedBatch[], applied: A): void
  /** True: a group can fail and a later one succeed, because the database is another process that may come back. */
  readonly mayComeBack?: boolean
}

const dispatchOf = ({ batches }: PendingCommit): string | undefined => batches[0]?.fence?.dispatch_id

export class CommitGroups<A extends GroupOutcomes> {
  readonly #writer: GroupedWrites<A>
  #pending: PendingCommit[] = []
  #busy: Promise<void> | undefined
  #isScheduled = false
  #broken: TirelessError | undefined
  #commits = 0
  /** The dispatch that was alone in the last group, and the number of its commits in this turn of the event loop. */
  #loneDispatch: string | undefined
  #directCommits = 0

  constructor(writer: GroupedWrites<A>) {
    this.#writer = writer
  }

  commit: Store['commit'] = (batches) => {
    if (this.#broken) return Promise.reject(this.#broken)
    return new Promise((resolve, reject) => {
      this.#pending.push({ batches, resolve, reject })
      this.#schedule()
    })
  }

  get commits(): number {
    return this.#commits
  }

  async drain(): Promise<void> {
    while (this.#busy || this.#pending.length > 0) await (this.#busy ?? new Promise((resolve) => setImmediate(resolve)))
  }

  async close(): Promise<void> {
    this.#broken ??= new TirelessError('store_closed', 'the store is closed')
    await this.#writer.close()
  }

  /** Commits the pending batches at once, or at the end of this turn of the event loop. */
  #schedule(): void {
    const [first] = this.#pending
    if (this.#busy || !first) return
    const isLone = dispatchOf(first) === this.#loneDispatch
    if (this.#pending.length >= FULL_GROUP || (isLone && this.#mayCommitDirectly())) this.#commitGroup()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        if (!this.#busy) this.#commitGroup()
      })
    }
  }

  /** A dispatch that commits alone does not wait, but yields to the event loop now and then. */
  #mayCommitDirectly(): boolean {
    if (this.#directCommits === 0) setImmediate(() => (this.#directCommits = 0))
    this.#directCommits += 1
    return this.#directCommits < MAX_DIRECT
  }

  #commitGroup(): void {
    const group = this.#pending
    this.#pending = []
    const [first] = group
    if (!first) return
    this.#loneDispatch = group.length === 1 ? dispatchOf(first) : undefined
    this.#busy = this.#apply(group).finally(() => {
      this.#busy = undefined
      this.#schedule()
    })
  }

  async #apply(group: readonly PendingCommit[]): Promise<void> {
    try {
      const written = group.flatMap((waiting) => waiting.batches.map(encodeBatch))
      const applied = await this.#writer.apply(written)
      const { outcomes } = applied
      this.#writer.onApplied(written, applied)
      this.#commits += 1
      let from = 0
      for (const { batches, resolve } of group) {
        resolve(outcomes.slice(from, from + batches.length))
        from += batches.length
      }
    } catch (error) {
      this.#breakOff(group, error)
    }
  }

  /**
   * After a failed sync nothing may be acknowledged, so the store stays broken until the process restarts. If the
   * database may come back, only the commits that were waiting fail.
   */
  #breakOff(group: readonly PendingCommit[], error: unknown): void {
    const failure =
      error instanceof TirelessError
        ? error
        : new TirelessError('store_failed', 'the store cannot commit', { cause: error })
    if (!this.#writer.mayComeBack) this.#broken = failure
    for (const waiting of group.concat(this.#pending)) waiting.reject(failure)
    this.#pending = []
  }
}
