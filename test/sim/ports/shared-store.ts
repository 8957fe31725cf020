/**
 * The store of one of several processes: the world's one database, as the PostgreSQL adapter offers it. Leases follow
 * the database's clock; while the database is away, calls wait, and fail when the process has lost its patience; other
 * processes are told of changes, and look for them now and then, because what they are told may get lost.
 */

import { isNews } from '../../../src/adapters/stores/postgres/news.ts'
import { TirelessError } from '../../../src/domain/error.ts'
import type { Batch, BatchOutcome, Store } from '../../../src/ports/store.ts'
import type { SimProcess } from '../process.ts'
import { integerBelow } from '../random.ts'
import type { World } from '../world.ts'
import { simStore } from './store.ts'

/** As in the adapter: how often it looks for commits of others, and how soon it connects again. */
const POLL_MS = 5_000
const RECONNECT_MS = 1_000

/** How long it takes until it is known whether the store answers. */
const PING_MS = 500

function checkReachable({ cut }: SimProcess): void {
  if (cut) throw new TirelessError('store_failed', 'the database cannot be reached')
}

export interface SharedStore {
  readonly store: Store
  close(): Promise<void>
}

export function openSharedStore(world: World, proc: SimProcess): SharedStore {
  const feed = new SimChangeFeed(world, proc)
  const store: Store = {
    ...simStore(world, proc),
    workers: () => world.io(proc, 'read', 'workers', () => world.reader.workers(world.wall)).then((it) => it),
    onChange: (listener) => feed.subscribe(listener),
    ping: () => world.ioAfter(proc, PING_MS, { kind: 'sleep', label: 'ping', work: () => checkReachable(proc) }),
  }
  return { store, close: () => feed.close() }
}

/** What processes are told of each other's commits. */
export class ChangeFeeds {
  readonly #feeds = new Map<SimProcess, SimChangeFeed>()
  /** Number of commits, by process. */
  readonly #commits = new Map<SimProcess, number>()

  add(proc: SimProcess, feed: SimChangeFeed): void {
    this.#feeds.set(proc, feed)
  }

  commitsOfOthers(proc: SimProcess): number {
    return [...this.#commits].reduce((sum, [by, n]) => (by === proc ? sum : sum + n), 0)
  }

  onCommit(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    this.#commits.set(proc, (this.#commits.get(proc) ?? 0) + 1)
    if (!batches.some((batch, i) => isNews(batch, outcomes[i]))) return
    for (const [other, feed] of this.#feeds) if (other !== proc) feed.notify()
  }

  /** Something may have been committed while there was no connection. */
  reconnect(proc: SimProcess): void {
    this.#feeds.get(proc)?.tellAfter(RECONNECT_MS)
  }
}

class SimChangeFeed {
  readonly #world: World
  readonly #proc: SimProcess
  readonly #listeners = new Set<() => void>()
  readonly #closed = new AbortController()
  #polling: Promise<void> | undefined

  constructor(world: World, proc: SimProcess) {
    this.#world = world
    this.#proc = proc
  }

  subscribe(listener: () => void): () => void {
    if (this.#world.variant.withoutChanges) return () => {}
    this.#listeners.add(listener)
    if (!this.#polling) {
      this.#world.several.feeds.add(this.#proc, this)
      this.tellAfter(0)
      this.#polling = this.#poll()
    }
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#closed.abort('closed')
    await this.#polling
  }

  /** Another process has committed something that may be work. */
  notify(): void {
    const { plan, events, counters } = this.#world
    const { lost = 0, delay = 0 } = plan.several ?? {}
    const isLost = this.#world.chance('notify', events, this.#proc.id) < lost
    if (isLost || this.#proc.cut) counters.add('notification lost')
    else this.tellAfter(integerBelow(plan.seed, delay, 'notify after', events, this.#proc.id))
  }

  tellAfter(ms: number): void {
    void this.#world.ioAfter(this.#proc, ms, { kind: 'notified', label: '', work: () => this.#tell() })
  }

  #tell(): void {
    if (this.#closed.signal.aborted || this.#proc.cut) return
    for (const listener of this.#listeners) listener()
  }

  async #poll(): Promise<void> {
    const { several } = this.#world
    let last: number | undefined
    while (!this.#closed.signal.aborted) {
      const count = await this.#world
        .io(this.#proc, 'read', 'changes', () => several.feeds.commitsOfOthers(this.#proc))
        .catch(() => last)
      if (last !== undefined && count !== last) this.#tell()
      last = count
      await this.#proc.clock.sleep(POLL_MS, this.#closed.signal)
    }
  }
}
