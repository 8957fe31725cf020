/**
 * The PostgreSQL store: the same contract as the SQLite store, for several processes on one database.
 *
 * While the database is away, commits and reads wait; after a bounded time they are rejected with `store_failed`, and
 * later calls are tried once each, until one succeeds.
 */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Store } from '../../../ports/store.ts'
import type { StoredPaths } from '../../../ports/stored-paths.ts'
import { type AuditSealOptions, AuditSealWriter } from '../audit-seal.ts'
import { CommitGroups } from '../commit-groups.ts'
import { rowsOfHome } from '../copy/convert-rows.ts'
import { SkippedRows } from '../rows/skipped-rows.ts'
import { ChangeFeed } from './change-feed.ts'
import { checkDatabase } from './check-database.ts'
import { outlookOf, PgConnection, type PgSettings, parseStoreUrl } from './connection.ts'
import { copyToFile } from './copy-to-file.ts'
import { followHome } from './follow-home.ts'
import { migrateDatabase } from './migrate.ts'
import { type OpeningHome, settleMoveMark } from './move-mark.ts'
import { Outage } from './outage.ts'
import { ReadConnections } from './read-connections.ts'
import { pgCycleReads, pgSpendingReads, pgTodoReads, pgUndoReads } from './reads/cycles.ts'
import { pgDocumentReads, pgOutboxReads } from './reads/documents.ts'
import { pgNeedReads } from './reads/needs.ts'
import { pgPermissionReads } from './reads/permissions.ts'
import { pgQueueReads } from './reads/queue.ts'
import { createPgRowReader } from './reads/row-reader.ts'
import { pgSessionReads } from './reads/sessions.ts'
import { findDamage, scanForUnreadable } from './scan-rows.ts'
import { databaseError, PgWriter } from './writer.ts'

interface PostgresOptions {
  /** `postgres://user:password@host/database`; `?prepare=false` for poolers without prepared statements. */
  readonly url: string
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
  /** A random id of this process: letters, digits and hyphens. */
  readonly writerId: string
  /** How long commits and reads wait for a database that is away. */
  readonly patienceMs?: number
  /**
   * If given, opening waits for a database that is away, instead of throwing; called with the reason before each pause.
   */
  onAway?(error: TirelessError): void
  /** Ends the wait, with the error `aborted`. */
  readonly stop?: AbortSignal
  /** How often to look for commits of other processes, beside their notifications. */
  readonly pollMs?: number
  /** `given`: leases follow the instants of the ops, for tests. Default: the database's clock. */
  readonly leases?: 'database' | 'given'
  /** Files of the audit key. */
  readonly audit?: AuditSealOptions
  /** The home that opens the store. */
  readonly home?: SharingHome
}

interface SharingHome extends OpeningHome {
  readonly paths: StoredPaths
  /** Contract: whether a home with the same id is there, so that one of the two is a copy of the other. */
  hasTwinAt(root: string): boolean
}

const DEFAULT_PATIENCE_MS = 120_000
const DEFAULT_POLL_MS = 5000

export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { clock, patienceMs = DEFAULT_PATIENCE_MS, leases = 'database', pollMs = DEFAULT_POLL_MS } = options
  const id = options.writerId.replaceAll(/[^\w-]/g, '')
  const settings = parseStoreUrl(options.url)
  await prepareDatabase(settings, options)
  const outage = new Outage(clock, patienceMs)
  let seal: AuditSealWriter | undefined
  const connections = new ReadConnections({ settings, clock, outage })
  const feed = new ChangeFeed({ settings, clock, reads: connections, writerId: id, pollMs })
  const writer = new PgWriter({
    ...{ settings, clock, outage, leases, id },
    auditKey: () => seal?.key,
    onLost: () => feed.tellAfterLoss(),
  })
  const skipped = new SkippedRows()
  const rows = createPgRowReader(connections, (row) => skipped.add(row))
  const permissions = pgPermissionReads(rows)
  seal = options.audit && (await AuditSealWriter.open(options.audit, permissions))
  const group = new CommitGroups({
    ...{ apply: writer.apply.bind(writer), close: writer.close.bind(writer), mayComeBack: true },
    onApplied(batches, { outcomes }) {
      seal?.recordCommit(batches, outcomes)
      if (batches.some(({ ops }, i) => outcomes[i]?.ok && ops.some(({ op }) => op === 'append'))) feed.announceAppend()
    },
  })
  let closing: Promise<void> | undefined
  const closeAll = async (): Promise<void> => {
    await group.drain()
    await Promise.all([group.close(), connections.close(), feed.close()])
    seal?.close()
  }
  return {
    ...pgQueueReads(rows, leases),
    ...pgSessionReads(rows),
    ...pgCycleReads(rows),
    ...permissions,
    ...pgSpendingReads(rows),
    ...pgDocumentReads(rows),
    ...pgOutboxReads(rows),
    ...pgTodoReads(rows),
    ...pgUndoReads(rows),
    ...pgNeedReads(rows),
    commit: group.commit,
    commits: () => group.commits,
    verify: () => findDamage(settings),
    async unreadable() {
      const found = await scanForUnreadable(settings)
      skipped.replace(found)
      return found
    },
    skipped: () => skipped.all(),
    backup: (to) => copyToFile(settings, to, options.home && rowsOfHome(options.home.id, options.home.paths, 'out')),
    onChange: (listener) => feed.subscribe(listener),
    onAppend: (listener) => feed.subscribeAppends(listener),
    ...{ ping: () => connections.ping(), stopWaiting: () => outage.stopWaiting() },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** A connection that breaks while the database is opened is opened again so many times. */
const OPEN_ATTEMPTS = 6
const MAX_OPEN_PAUSE_MS = 15_000

/** Contract: the database can be reached and has the current schema; else throws why not. */
async function prepareDatabase(settings: PgSettings, { clock, home, onAway, stop }: PostgresOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await migrateOnce(settings, home)
    } catch (thrown) {
      const error = databaseError('create its tables', thrown)
      const outlook = outlookOf(thrown)
      const isWorthIt = outlook === 'broken' && attempt < OPEN_ATTEMPTS
      if (outlook === 'hopeless' || !(onAway || isWorthIt)) throw error
      onAway?.(error)
      await clock.sleep(Math.min(MAX_OPEN_PAUSE_MS, 20 * 2 ** attempt), stop)
      if (stop?.aborted) throw new TirelessError('aborted', 'the process was stopped while it waited for its database')
    }
}

/** A lost connection leaves nothing behind: the migration is one transaction. */
async function migrateOnce(settings: PgSettings, home: SharingHome | undefined): Promise<void> {
  const connection = await PgConnection.open(settings)
  try {
    await checkDatabase(connection)
    await migrateDatabase(connection)
    await settleMoveMark(connection, home)
    if (home) await followHome(connection, { id: home.id, ...home.paths, hasTwinAt: home.hasTwinAt })
  } finally {
    await connection.close()
  }
}
