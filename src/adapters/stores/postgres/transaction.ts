/** The transaction of one group, which begins with its first statement. */

import type { SqlRow } from '../rows/rows.ts'
import type { GroupContext } from './apply-group.ts'
import type { PgConnection, PgValue } from './connection.ts'

/**
 * A process that is stopped in the middle of a transaction holds its locks, such as that of the leader's row, for which
 * the renewals of all leases wait. The database ends such a transaction after this time, so that other processes go on
 * and keep their leases.
 */
export const MAX_IDLE_MS = 3000

const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${MAX_IDLE_MS}`

interface TransactionOptions {
  /** `database`: leases are measured by the database's clock. `given`: by the instants of the ops. */
  readonly leases: 'database' | 'given'
  auditKey(): string | undefined
}

export const DATABASE_NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

export class GroupTransaction implements GroupContext {
  readonly #connection: PgConnection
  readonly #options: TransactionOptions
  readonly #begun: Promise<unknown>
  #hasWritten = false

  constructor(connection: PgConnection, options: TransactionOptions) {
    this.#connection = connection
    this.#options = options
    // Sent together with the first statement; if it fails, so do all others.
    this.#begun = connection.exec(BEGIN)
    this.#begun.catch(() => undefined)
  }

  async all(text: string, ...values: readonly PgValue[]): Promise<SqlRow[]> {
    const rows = await this.#connection.all(text, ...values)
    if (rows.length > 0) this.#noteWrite(text)
    return rows
  }

  async get(text: string, ...values: readonly PgValue[]): Promise<SqlRow | undefined> {
    return (await this.all(text, ...values))[0]
  }

  async run(text: string, ...values: readonly PgValue[]): Promise<number> {
    const count = await this.#connection.run(text, ...values)
    if (count > 0) this.#noteWrite(text)
    return count
  }

  #noteWrite(text: string): void {
    if (!text.startsWith('SELECT')) this.#hasWritten = true
  }

  hasWritten = (): boolean => this.#hasWritten

  markUnwritten = (): void => {
    this.#hasWritten = false
  }

  savepoint: GroupContext['savepoint'] = (statement) => this.#connection.exec(statement)

  auditKey = (): string | undefined => this.#options.auditKey()

  async leaseNow(given: number): Promise<number> {
    if (this.#options.leases === 'given') return given
    return Number((await this.#connection.get(`SELECT ${DATABASE_NOW} AS now`))?.now)
  }

  /** Contract: commits in one message; false if nothing was written. `statement`: runs before the commit. */
  async commit(statement: string): Promise<boolean> {
    const [, rows] = await Promise.all([this.#begun, this.#connection.exec(`${statement}; COMMIT`)])
    return Object.values(rows[0] ?? {})[0] === 1
  }

  /** Contract: never throws. */
  async rollback(): Promise<void> {
    await this.#connection.exec('ROLLBACK').catch(() => this.#connection.close())
  }
}
