/**
 * Tells when another process has committed something that may be work: at once by LISTEN, and by looking every few
 * seconds, because a pooler may swallow notifications.
 */

import type { Clock } from '../../../ports/clock.ts'
import { PgConnection, type PgSettings, type Queries } from './connection.ts'
import { MAX_IDLE_MS } from './transaction.ts'

interface ChangeFeedOptions {
  readonly settings: PgSettings
  readonly clock: Pick<Clock, 'sleep'>
  readonly reads: Queries
  /** The id of this process, whose own commits are no news. */
  readonly writerId: string
  readonly pollMs: number
}

const RECONNECT_MS = 1000

export class ChangeFeed {
  readonly #options: ChangeFeedOptions
  readonly #listeners = new Set<() => void>()
  readonly #closed = new AbortController()
  #loops: Promise<unknown> | undefined
  #connection: PgConnection | undefined

  constructor(options: ChangeFeedOptions) {
    this.#options = options
  }

  /** Contract: returns how to stop. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#loops ??= Promise.all([this.#listen(), this.#poll()])
    return () => this.#listeners.delete(listener)
  }

  /**
   * Call it after a connection was lost. Its transaction may hold locks for a while, and a claim skips what is locked;
   * so the listeners are told to look again when it has surely ended.
   */
  tellAfterLoss(): void {
    if (this.#listeners.size === 0) return
    const { signal } = this.#closed
    void this.#options.clock.sleep(MAX_IDLE_MS + RECONNECT_MS, signal).then(() => this.#tell())
  }

  async close(): Promise<void> {
    this.#closed.abort('closed')
    await this.#connection?.close()
    await this.#loops
  }

  #tell(): void {
    if (this.#closed.signal.aborted) return
    for (const listener of this.#listeners) listener()
  }

  async #listen(): Promise<void> {
    const { settings, clock, writerId } = this.#options
    const { signal } = this.#closed
    while (!signal.aborted) {
      try {
        this.#connection = await PgConnection.open(settings, (from) => from !== writerId && this.#tell())
        await this.#connection.exec('LISTEN tireless')
        // Something may have been committed while there was no connection.
        this.#tell()
        if (!signal.aborted) await this.#connection.whenClosed()
      } catch {
        // The commits and reads of the store report a database that is away.
      }
      await this.#connection?.close()
      await clock.sleep(RECONNECT_MS, signal)
    }
  }

  async #poll(): Promise<void> {
    const { clock, reads, writerId, pollMs } = this.#options
    const { signal } = this.#closed
    let last: unknown
    while (!signal.aborted) {
      try {
        const row = await reads.get('SELECT sum(n) AS groups FROM writers WHERE id <> $1', writerId)
        if (last !== undefined && row?.groups !== last) this.#tell()
        last = row?.groups
      } catch {
        // As above.
      }
      await clock.sleep(pollMs, signal)
    }
  }
}
