/**
 * Moves all records between a PostgreSQL database and an SQLite file. Everything that PostgreSQL is told happens in one
 * transaction, in which the copy is also compared with its original; so a kill leaves either nothing or all of it.
 */

import type { DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import { type ConvertRow, compareRows, copyRows, type TableDigest } from '../copy/copy-rows.ts'
import { createPostgresRows } from '../copy/postgres-rows.ts'
import { createSqliteRows } from '../copy/sqlite-rows.ts'
import { COPIED_TABLES, readCopiedTables } from '../copy/tables.ts'
import { openReadOnly } from '../sqlite/connection.ts'
import { checkDatabase } from './check-database.ts'
import { PgConnection, type PgSettings, parseStoreUrl } from './connection.ts'
import { writeCopy } from './copy-to-file.ts'
import { migrateInTransaction } from './migrate.ts'
import {
  type MoveMark,
  markedError,
  type OpeningHome,
  readMoveMark,
  removeMoveMark,
  settleMoveMark,
  stopCommits,
  writeMoveMark,
} from './move-mark.ts'
import { adoptSessions, findHomes } from './pins.ts'
import { DATABASE_NOW } from './transaction.ts'
import { databaseError } from './writer.ts'

export interface RecordMove {
  readonly url: string
  /** The SQLite database. */
  readonly file: string
  readonly mark: Omit<MoveMark, 'way'>
  readonly convert: ConvertRow
  /** True: everything is done and compared, then taken back. */
  readonly isTrial: boolean
  /** Called when the copy is complete and the comparison begins. */
  onCopied(): void
}

/** Contract: the database has all records of the file, and the mark `in`; or it is as before, and this throws why. */
export const moveIntoPostgres = (move: RecordMove): Promise<readonly TableDigest[]> =>
  inTransaction(move, async (connection) => {
    await refuseUsed(connection, move.mark.home)
    const file = openReadOnly(move.file)
    try {
      refuseBroken(file)
      const [tables, source] = [readCopiedTables(file), createSqliteRows(file)]
      const target = createPostgresRows(connection)
      await copyRows(tables, source, target, move.convert)
      move.onCopied()
      const digests = await compareRows(tables, source, target, move.convert)
      // Now, not when the home joins: until then a worker of another home could take its sessions.
      await adoptSessions(connection, { home: move.mark.home, root: move.mark.folder })
      await writeMoveMark(connection, { ...move.mark, way: 'in' })
      return digests
    } finally {
      file.close()
    }
  })

interface MovedOut {
  readonly tables: readonly TableDigest[]
  /** How many sessions have their files in another home, by the machines of these homes. */
  readonly elsewhere: readonly { readonly host: string; readonly sessions: number }[]
}

/** Contract: the new file has all records of the database, which has the mark `out`; or nothing has changed. */
export const moveOutOfPostgres = (move: RecordMove): Promise<MovedOut> =>
  inTransaction(move, async (connection) => {
    const mark = await readMoveMark(connection)
    if (mark && (mark.home !== move.mark.home || mark.way !== 'out')) throw markedError(mark)
    await refuseWhileWorking(connection, move.mark.home)
    await writeCopy(connection, move.file, move.convert)
    move.onCopied()
    const file = openReadOnly(move.file)
    try {
      const source = createPostgresRows(connection)
      const tables = await compareRows(readCopiedTables(file), source, createSqliteRows(file), move.convert)
      await writeMoveMark(connection, { ...move.mark, way: 'out' })
      return { tables, elsewhere: await sessionsElsewhere(connection, move.mark.home) }
    } finally {
      file.close()
    }
  })

async function sessionsElsewhere(connection: PgConnection, home: string): Promise<MovedOut['elsewhere']> {
  const found = await connection.all(
    "SELECT home, count(*) AS sessions FROM sessions WHERE home NOT IN ('', $1) GROUP BY home ORDER BY home",
    home,
  )
  const homes = await findHomes(
    connection,
    found.map((row) => String(row.home)),
    0,
  )
  return found.map(({ sessions }, i) => ({ host: homes[i]?.host ?? 'unknown', sessions: Number(sessions) }))
}

/** Contract: a move that this home has completed or given up has ended; nothing else changes. */
export const finishMove = (url: string, home: OpeningHome): Promise<unknown> =>
  withConnection(url, (connection) => settleMoveMark(connection, home))

/** Contract: other processes can use the database from now on. */
export const completeMoveIn = (url: string): Promise<unknown> =>
  withConnection(url, async (connection) => {
    await removeMoveMark(connection)
    await connection.exec('ANALYZE')
  })

/** Contract: no process uses the records of the database again. */
export const completeMoveOut = (url: string, mark: Omit<MoveMark, 'way'>): Promise<unknown> =>
  withConnection(url, (connection) => writeMoveMark(connection, { ...mark, way: 'gone' }))

/** Poolers and a single use: named statements would bring nothing. */
const settingsFor = (url: string): PgSettings => ({ ...parseStoreUrl(url), prepare: false })

async function withConnection<T>(url: string, use: (connection: PgConnection) => Promise<T>): Promise<T> {
  try {
    const connection = await PgConnection.open(settingsFor(url))
    try {
      return await use(connection)
    } finally {
      await connection.close()
    }
  } catch (thrown) {
    throw databaseError('move the records', thrown)
  }
}

/** No process can commit from the first statement on. */
const inTransaction = <T>({ url, isTrial }: RecordMove, work: (connection: PgConnection) => Promise<T>): Promise<T> =>
  withConnection(url, async (connection) => {
    await checkDatabase(connection)
    await connection.exec('BEGIN')
    await migrateInTransaction(connection)
    await stopCommits(connection)
    const result = await work(connection)
    await connection.exec(isTrial ? 'ROLLBACK' : 'COMMIT')
    return result
  })

/** Removes what an earlier attempt of the same home has left; nobody else can have written beside it. */
async function refuseUsed(connection: PgConnection, home: string): Promise<void> {
  const mark = await readMoveMark(connection)
  if (mark && (mark.home !== home || mark.way !== 'in')) throw markedError(mark)
  if (mark) await connection.exec(`TRUNCATE ${[...COPIED_TABLES, 'facts_words', 'tally_shards'].join(', ')}`)
  const counts = COPIED_TABLES.map((name) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name})`)
  const used = (await connection.exec(counts.join(' UNION ALL '))).map(({ name }) => String(name))
  if (used.length > 0)
    throw new TirelessError('conflict', {
      what: 'the database has records already',
      got: `rows in ${used.join(', ')}`,
      expected: 'an empty database',
      fix: 'create another database and name that one',
    })
}

/** Rows that refer to missing rows, which PostgreSQL does not accept. */
function refuseBroken(file: DatabaseSync): void {
  const broken = file.prepare('PRAGMA foreign_key_check').all()
  if (broken.length > 0)
    throw new TirelessError('row_unreadable', {
      what: 'some rows refer to rows that do not exist',
      got: `${broken.length} in ${[...new Set(broken.map(({ table }) => String(table)))].join(', ')}`,
      fix: 'move them aside with `tireless doctor --fix`, then move again',
    })
}

/** A worker of this home is dead: its home is locked by this process. */
async function refuseWhileWorking(connection: PgConnection, home: string): Promise<void> {
  const live = await connection.all(
    `SELECT name, about FROM workers WHERE left_at IS NULL AND lease_until > ${DATABASE_NOW} ORDER BY epoch`,
  )
  const others = live.filter(({ about }) => homeOf(about) !== home)
  if (others.length > 0)
    throw new TirelessError('conflict', {
      what: 'other processes work on this database',
      got: others.map(({ name }) => String(name)).join(', '),
      fix: 'stop them (`tireless stop` in their homes); a process that was killed counts until its lease ends',
    })
}

function homeOf(about: unknown): unknown {
  try {
    return (JSON.parse(String(about)) as { readonly home?: unknown } | null)?.home
  } catch {
    return undefined
  }
}
