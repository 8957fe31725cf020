/**
 * The writer of one process: one connection, one transaction per group.
 *
 * Each process has a row in `writers` with the number of its last committed group, written in the group's transaction.
 * If the connection is lost during a COMMIT, the row tells whether the group was committed. So a group is applied once,
 * also when the database restarts or fails over to a replica that has every acknowledged commit.
 */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { BatchOutcome } from '../../../ports/store.ts'
import type { EncodedBatch } from '../encode-batch.ts'
import { applyBatches, applyWithSavepoints, LoneRefusal, NeedsSavepoints } from './apply-group.ts'
import { ConnectionLost, isConflict, isRefusedLogin, PgConnection, type PgSettings } from './connection.ts'
import { isNews } from './news.ts'
import type { Outage } from './outage.ts'
import { GroupTransaction } from './transaction.ts'

interface WriterOptions {
  readonly settings: PgSettings
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
  /** Random, of this process. */
  readonly id: string
  readonly outage: Outage
  readonly leases: 'database' | 'given'
  auditKey(): string | undefined
  /** Called when the connection was lost. */
  onLost(): void
}

/** How long a group is repeated that other transactions keep from being committed. */
const CONFLICT_LIMIT_MS = 120_000

/** What is known about a group while it is tried. */
interface GroupProgress {
  readonly batches: readonly EncodedBatch[]
  needsSavepoints: boolean
  /** Outcomes of attempts whose COMMIT was sent and not answered, by their number. */
  readonly doubtful: Map<number, readonly BatchOutcome[]>
}

export class PgWriter {
  readonly #options: WriterOptions
  #connection: PgConnection | undefined
  /** The number of the last committed attempt, and of the last attempt. */
  #committed = 0
  #attempt = 0
  #isClosed = false

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Contract: the outcomes of the batches, which are committed; throws `store_failed` if that did not succeed. */
  async apply(batches: readonly EncodedBatch[]): Promise<{ readonly outcomes: readonly BatchOutcome[] }> {
    const { clock, outage } = this.#options
    const conflictsUntil = clock.monotonic() + CONFLICT_LIMIT_MS
    const progress: GroupProgress = { batches, needsSavepoints: false, doubtful: new Map() }
    for (let failures = 0; ; failures += 1)
      try {
        const outcomes = await this.#try(progress, failures > 0)
        outage.end()
        return { outcomes }
      } catch (thrown) {
        const isLost = thrown instanceof ConnectionLost
        if (isLost) this.#forgetConnection()
        const mayRetry = isLost
          ? outage.mayRetry()
          : thrown instanceof NeedsSavepoints || (isConflict(thrown) && clock.monotonic() < conflictsUntil)
        if (!mayRetry || this.#isClosed) throw databaseError('commit', thrown)
        if (!(thrown instanceof NeedsSavepoints)) await clock.sleep(pauseAfter(failures))
      }
  }

  async #try(progress: GroupProgress, isRepeated: boolean): Promise<readonly BatchOutcome[]> {
    const connection = await this.#connect()
    if (isRepeated) {
      const settled = await this.#settleDoubt(connection, progress)
      if (settled) return settled
    }
    const { batches } = progress
    const transaction = new GroupTransaction(connection, this.#options)
    const commit = (outcomes: readonly BatchOutcome[]) => this.#commit(transaction, progress, outcomes)
    try {
      return progress.needsSavepoints
        ? await applyWithSavepoints(transaction, batches, commit)
        : await applyBatches(transaction, batches, commit)
    } catch (thrown) {
      await transaction.rollback()
      if (thrown instanceof LoneRefusal) return [thrown.outcome]
      if (thrown instanceof NeedsSavepoints) progress.needsSavepoints = true
      throw thrown
    }
  }

  async #commit(
    transaction: GroupTransaction,
    { batches, doubtful }: GroupProgress,
    outcomes: readonly BatchOutcome[],
  ): Promise<void> {
    this.#attempt += 1
    const number = this.#attempt
    const wakes = batches.some((batch, i) => isNews(batch, outcomes[i]))
    doubtful.set(number, outcomes)
    const mark = `SELECT mark_group('${this.#options.id}', ${this.#committed}, ${number}, ${wakes})`
    if (await transaction.commit(mark)) this.#committed = number
    doubtful.delete(number)
  }

  /**
   * Contract: the outcomes, if an attempt whose COMMIT was not answered was committed. Otherwise none of the earlier
   * attempts can be committed any more, also if the database still works on one of them: the number that it follows is
   * gone. The statement waits for a transaction that has just marked the row.
   */
  async #settleDoubt(
    connection: PgConnection,
    { doubtful }: GroupProgress,
  ): Promise<readonly BatchOutcome[] | undefined> {
    const { id } = this.#options
    this.#attempt += 1
    const next = this.#attempt
    const isOvertaken = await connection.run(
      'UPDATE writers SET n = $1 WHERE id = $2 AND n = $3',
      next,
      id,
      this.#committed,
    )
    if (isOvertaken === 1) {
      this.#committed = next
      return undefined
    }
    const row = await connection.get('SELECT n FROM writers WHERE id = $1', id)
    if (!row) await registerWriter(connection, id, this.#committed)
    const number = Number(row?.n ?? this.#committed)
    const outcomes = doubtful.get(number)
    if (outcomes) this.#committed = number
    return outcomes
  }

  async #connect(): Promise<PgConnection> {
    if (this.#connection?.isOpen) return this.#connection
    const connection = await PgConnection.open(this.#options.settings)
    if (this.#committed === 0) await registerWriter(connection, this.#options.id, 0)
    this.#connection = connection
    return connection
  }

  /** Does not wait for the end of the connection: a database that hangs would never confirm it. */
  #forgetConnection(): void {
    this.#options.onLost()
    void this.#connection?.close()
    this.#connection = undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#connection?.close()
  }
}

async function registerWriter(connection: PgConnection, id: string, committed: number): Promise<void> {
  await connection.run('INSERT INTO writers (id, n) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING', ...[id, committed])
  await connection.run("DELETE FROM writers WHERE at < now() - interval '30 days' AND id <> $1", id)
}

const pauseAfter = (failures: number): number => Math.min(1000, 20 * 2 ** failures)

/** Contract: the error of a store whose database refused a request or was away for too long. */
export function databaseError(what: string, thrown: unknown): TirelessError {
  if (thrown instanceof TirelessError) return thrown
  const got = thrown instanceof Error ? thrown.message : String(thrown)
  return new TirelessError('store_failed', { got, ...explain(what, thrown) }, { cause: thrown })
}

function explain(what: string, thrown: unknown): { readonly what: string; readonly fix: string } {
  if (isRefusedLogin(thrown))
    return {
      what: 'the database refused the connection',
      fix: 'correct the address under `store`: user, password, database',
    }
  if (thrown instanceof ConnectionLost)
    return {
      what: 'the database cannot be reached',
      fix: 'check that PostgreSQL runs and that the address under `store` is right',
    }
  return {
    what: `the database refused to ${what}`,
    fix: 'check the log of PostgreSQL, its free disk space and the rights of the user',
  }
}
