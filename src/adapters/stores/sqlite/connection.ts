/** Opens the database file: sets and verifies durability settings, refuses unsafe SQLite versions. */

import { DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import type { CommitPosition } from './commit-notes.ts'
import {
  checkSchema,
  listUpgradeCopies,
  type MigrateOptions,
  migrate,
  readSchemaVersion,
} from './migrations/migrate.ts'
import { SCHEMA_VERSION } from './schema.ts'

/** The oldest safe SQLite version: older ones can lose commits when the WAL is reset while it is read. */
const OLDEST_SAFE = [3, 51, 3] as const

export function openForWriting(file: string, options: MigrateOptions = {}): DatabaseSync {
  const db = open(file, false)
  try {
    // Checked before any setting is made: the database of a newer program must not be changed.
    checkSchema(db, file, options.history)
    expectPragma(db, 'journal_mode = WAL', 'journal_mode', 'wal')
    // `synchronous = NORMAL` would lose acknowledged commits on power loss, which no test with kill -9 can show.
    expectPragma(db, 'synchronous = FULL', 'synchronous', 2)
    // A checkpoint right after a migration, so that a damaged WAL cannot lose the tables.
    if (migrate(db, file, options)) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    expectPragma(db, 'foreign_keys = ON', 'foreign_keys', 1)
    return db
  } catch (thrown) {
    db.close()
    throw thrown instanceof TirelessError ? thrown : storeFailedError(`cannot open the database ${file}`, thrown)
  }
}

/** An in-memory database for the simulator. */
export function openInMemory(): DatabaseSync {
  const db = open(':memory:', false)
  migrate(db, ':memory:')
  db.exec('PRAGMA foreign_keys = ON')
  return db
}

export function openReadOnly(file: string): DatabaseSync {
  return open(file, true)
}

/**
 * Contract: never throws and changes nothing. False for an unreadable file; opening it for writing shows the problem.
 */
export function hasCurrentSchema(file: string): boolean {
  return readSchema(file) === SCHEMA_VERSION
}

/** SQL for the commit count. An impossible value counts as 0; the missing commits are then reported as lost. */
export const COMMIT_COUNT = `iif(n BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER - 1}, n, 0)`

export function readPosition(db: DatabaseSync): CommitPosition {
  const row = db.prepare(`SELECT id, ${COMMIT_COUNT} AS n, (SELECT max(n) FROM journal) AS entry FROM commits`).get()
  return { id: String(row?.id), count: Number(row?.n ?? 0), entry: Number(row?.entry ?? 0) }
}

/** Contract: never throws and changes nothing. */
export function describeDatabase(file: string): { readonly schema: number | null; readonly copies: readonly string[] } {
  return { schema: readSchema(file), copies: listUpgradeCopies(file) }
}

function readSchema(file: string): number | null {
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
    try {
      return readSchemaVersion(db)
    } finally {
      db.close()
    }
  } catch {
    return null
  }
}

function open(file: string, readOnly: boolean): DatabaseSync {
  try {
    const db = new DatabaseSync(file, { readOnly, timeout: 5000 })
    checkSqliteVersion(String(db.prepare('SELECT sqlite_version() AS version').get()?.version))
    return db
  } catch (cause) {
    if (cause instanceof TirelessError) throw cause
    throw storeFailedError(`cannot open the database ${file}`, cause)
  }
}

export function checkSqliteVersion(version: string): void {
  const parts = version.split('.').map(Number)
  for (const [i, minimum] of OLDEST_SAFE.entries()) {
    const part = parts[i] ?? 0
    if (part > minimum) return
    if (part < minimum)
      throw new TirelessError('store_unsupported', {
        what: 'this SQLite version can lose acknowledged commits',
        got: version,
        expected: `${OLDEST_SAFE.join('.')} or newer`,
        fix: 'use the Node version that comes with this project',
      })
  }
}

function expectPragma(db: DatabaseSync, set: string, name: string, expected: string | number): void {
  db.exec(`PRAGMA ${set}`)
  const got = db.prepare(`PRAGMA ${name}`).get()?.[name]
  if (got !== expected)
    throw new TirelessError('store_unsupported', {
      what: `the database refuses a setting that durability requires (${set})`,
      got: String(got),
      expected: String(expected),
      fix: 'put the home on a local disk',
    })
}

export function storeFailedError(what: string, cause: unknown): TirelessError {
  const got = cause instanceof Error ? cause.message : String(cause)
  return new TirelessError(
    'store_failed',
    {
      what,
      got,
      fix: 'free disk space or repair the disk, then start again; if the file is damaged, restore a backup',
    },
    { cause },
  )
}
