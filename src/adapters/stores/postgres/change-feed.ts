/**
 * Tells when another process has committed something that may be work, or has appended to a journal: at once by LISTEN,
 * and by looking every few seconds, because a pooler may swallow notifications.
 *
 * A notification delays all commits that happen at the same time. So appends, which are many, are announced by a
 * statement of its own, at most ten times per second, and only processes that follow journals listen to it.
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
const ANNOUNCE_EVERY_MS = 100
const WORK_CHANNEL = 'tireless'
const JOURNAL_CHANNEL = 'tireless_journal'

export class ChangeFeed {
  readonly #options: ChangeFeedOptions
  readonly #listeners = new Set<() => void>()
  readonly #appendListeners = new Set<() => void>()
  readonly #closed = new AbortController()
  #loops: Promise<unknown> | undefined
  #connection: PgConnection | undefined
  #hasAppended = false
  #announcing: Promise<void> | undefined

  constructor(options: ChangeFeedOptions) {
    this.#options = options
  }

  /** Contract: returns how to stop. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#loops ??= Promise.all([this.#listen(), this.#poll()])
    return () => this.#listeners.delete(listener)
  }

  /** Contract: as `subscribe`, for appends. */
  subscribeAppends(listener: () => void): () => void {
    this.#appendListeners.add(listener)
    this.#loops ??= Promise.all([this.#listen(), this.#poll()])
    // Appends before the database listens are not announced.
    void this.#exec(`LISTEN ${JOURNAL_CHANNEL}`).then(() => this.#appendListeners.has(listener) && listener())
    return () => {
      if (this.#appendListeners.delete(listener) && this.#appendListeners.size === 0)
        void this.#exec(`UNLISTEN ${JOURNAL_CHANNEL}`)
    }
  }

  /** Tells other processes that this one has appended to a journal. */
  announceAppend(): void {
    this.#hasAppended = true
    this.#announcing ??= this.#announceAppends().finally(() => {
      this.#announcing = undefined
    })
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
    await Promise.all([this.#loops, this.#announcing])
  }

  #tell(): void {
    if (this.#closed.signal.aborted) return
    for (const listener of [...this.#listeners, ...this.#appendListeners]) listener()
  }

  /** If there is no connection, or it is lost, looking every few seconds has to do. */
  #exec(statement: string): Promise<unknown> {
    return this.#connection?.exec(statement).catch(() => undefined) ?? Promise.resolve()
  }

  async #announceAppends(): Promise<void> {
    const { clock, writerId } = this.#options
    const { signal } = this.#closed
    while (this.#hasAppended && !signal.aborted) {
      this.#hasAppended = false
      await this.#exec(`SELECT pg_notify('${JOURNAL_CHANNEL}', '${writerId}')`)
      await clock.sleep(ANNOUNCE_EVERY_MS, signal)
    }
  }

  #receive(from: string, channel: string): void {
    if (from === this.#options.writerId || this.#closed.signal.aborted) return
    for (const listener of channel === JOURNAL_CHANNEL ? this.#appendListeners : this.#listeners) listener()
  }

  async #listen(): Promise<void> {
    const { settings, clock } = this.#options
    const { signal } = this.#closed
    while (!signal.aborted) {
      try {
        this.#connection = await PgConnection.open(settings, (from, channel) => this.#receive(from, channel))
        await this.#connection.exec(`LISTEN ${WORK_CHANNEL}`)
        if (this.#appendListeners.size > 0) await this.#exec(`LISTEN ${JOURNAL_CHANNEL}`)
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
