/** Connections for reads: few, opened when they are needed, and opened again when they are lost. */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { ConnectionLost, PgConnection, type PgSettings, type PgValue, type Queries } from './connection.ts'
import type { Outage } from './outage.ts'
import { databaseError } from './writer.ts'

/** Each takes many queries at once; more than one, so that a long list does not hold up short reads. */
const MAX_CONNECTIONS = 3

const PING_LIMIT_MS = 3000
const NO_ANSWER = databaseError('read', new ConnectionLost(`no answer within ${PING_LIMIT_MS / 1000} s`))

interface ReadOptions {
  readonly settings: PgSettings
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
  readonly outage: Outage
}

interface Slot {
  connection: Promise<PgConnection> | undefined
  queries: number
}

export class ReadConnections implements Queries {
  readonly #options: ReadOptions
  readonly #slots: readonly Slot[] = Array.from({ length: MAX_CONNECTIONS }, () => ({
    ...{ connection: undefined, queries: 0 },
  }))
  #isClosed = false

  constructor(options: ReadOptions) {
    this.#options = options
  }

  all = (text: string, ...values: readonly PgValue[]) => this.#read((connection) => connection.all(text, ...values))
  get = (text: string, ...values: readonly PgValue[]) => this.#read((connection) => connection.get(text, ...values))
  run = (text: string, ...values: readonly PgValue[]) => this.#read((connection) => connection.run(text, ...values))

  /** Contract: rejects with `store_failed` if the database does not answer now. */
  async ping(): Promise<void> {
    const answered = new AbortController()
    const answer = this.#readOnce((connection) => connection.get('SELECT 1')).then(
      () => undefined,
      (thrown) => databaseError('read', thrown),
    )
    const limit = this.#options.clock.sleep(PING_LIMIT_MS, answered.signal).then(() => NO_ANSWER)
    const problem = await Promise.race([answer, limit])
    answered.abort()
    if (problem) throw problem
  }

  async #read<T>(query: (connection: PgConnection) => Promise<T>): Promise<T> {
    const { clock, outage } = this.#options
    for (let failures = 0; ; failures += 1)
      try {
        const found = await this.#readOnce(query)
        outage.end()
        return found
      } catch (thrown) {
        if (this.#isClosed) throw new TirelessError('store_closed', 'the store is closed', { cause: thrown })
        if (!(thrown instanceof ConnectionLost) || !outage.mayRetry()) throw databaseError('read', thrown)
        await clock.sleep(Math.min(1000, 20 * 2 ** failures))
      }
  }

  async #readOnce<T>(query: (connection: PgConnection) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new TirelessError('store_closed', 'the store is closed')
    // The first idle one; so a process that reads one thing at a time opens one connection.
    const slot = this.#slots.reduce((best, other) => (other.queries < best.queries ? other : best))
    slot.queries += 1
    try {
      return await query(await this.#connect(slot))
    } finally {
      slot.queries -= 1
    }
  }

  /** Queries that come at once share the attempt to connect. */
  async #connect(slot: Slot): Promise<PgConnection> {
    slot.connection ??= PgConnection.open(this.#options.settings)
    const attempt = slot.connection
    const connection = await attempt.catch(() => undefined)
    if (connection?.isOpen) return connection
    if (slot.connection === attempt) slot.connection = undefined
    // An attempt that failed is reported; a connection that was lost since is opened again.
    return connection ? this.#connect(slot) : attempt
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#slots.map(async (slot) => (await slot.connection?.catch(() => undefined))?.close()))
  }
}
