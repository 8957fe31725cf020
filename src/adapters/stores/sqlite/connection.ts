/** Opening the database file: durable settings are set and read back, an unsafe SQLite is refused. */

import { DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import type { Position } from './commit-notes.ts'
import { copiesOf, type MigrateOptions, migrate, refuseUnknownSchema, schemaOf } from './migrations/migrate.ts'
import { SCHEMA_VERSION } from './schema.ts'

/** Below this, a WAL file could be reset under a reader and lose commits. */
const OLDEST_SAFE = [3, 51, 3] as const

export function openWriting(file: string, options: MigrateOptions = {}): DatabaseSync {
  const db = open(file, false)
  try {
    // Before any setting: a database of a newer program is left as it is.
    refuseUnknownSchema(db, file, options.history)
    expectPragma(db, 'journal_mode = WAL', 'journal_mode', 'wal')
    // NORMAL loses acknowledged commits at power loss; kill -9 alone cannot show it.
    expectPragma(db, 'synchronous = FULL', 'synchronous', 2)
    // At once into the file itself: a damaged log must not take the tables with it.
    if (migrate(db, file, options)) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    expectPragma(db, 'foreign_keys = ON', 'foreign_keys', 1)
    return db
  } catch (thrown) {
    db.close()
    throw thrown instanceof TirelessError ? thrown : storeFailed(`cannot open the database ${file}`, thrown)
  }
}

/** A database that is gone with the process: for the simulator, whose process is a whole world. */
export function openInMemory(): DatabaseSync {
  const db = open(':memory:', false)
  migrate(db, ':memory:')
  db.exec('PRAGMA foreign_keys = ON')
  return db
}

export function openReading(file: string): DatabaseSync {
  return open(file, true)
}

/** Contract: never throws and changes nothing; what is wrong with the file is told when it is opened for writing. */
export function isReady(file: string): boolean {
  return readSchema(file) === SCHEMA_VERSION
}

/** A count that no commit of ours has made begins anew: what is missing by then is told as lost. */
export const COMMITS = `iif(n BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER - 1}, n, 0)`

export function positionOf(db: DatabaseSync): Position {
  const row = db.prepare(`SELECT id, ${COMMITS} AS n, (SELECT max(n) FROM journal) AS entry FROM commits`).get()
  return { id: String(row?.id), count: Number(row?.n ?? 0), entry: Number(row?.entry ?? 0) }
}

/** Contract: never throws and changes nothing. */
export function describeDatabase(file: string): { readonly schema: number | null; readonly copies: readonly string[] } {
  return { schema: readSchema(file), copies: copiesOf(file) }
}

function readSchema(file: string): number | null {
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
    try {
      return schemaOf(db)
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
    refuseOldSqlite(String(db.prepare('SELECT sqlite_version() AS version').get()?.version))
    return db
  } catch (cause) {
    if (cause instanceof TirelessError) throw cause
    throw storeFailed(`cannot open the database ${file}`, cause)
  }
}

export function refuseOldSqlite(version: string): void {
  const parts = version.split('.').map(Number)
  for (const [i, floor] of OLDEST_SAFE.entries()) {
    const part = parts[i] ?? 0
    if (part > floor) return
    if (part < floor)
      throw new TirelessError('store_unsupported', {
        what: 'this SQLite can lose acknowledged commits',
        got: version,
        expected: `${OLDEST_SAFE.join('.')} or newer`,
        fix: 'use the Node that comes with this project',
      })
  }
}

function expectPragma(db: DatabaseSync, set: string, name: string, expected: string | number): void {
  db.exec(`PRAGMA ${set}`)
  const got = db.prepare(`PRAGMA ${name}`).get()?.[name]
  if (got !== expected)
    throw new TirelessError('store_unsupported', {
      what: `the database refuses a setting that durability needs (${set})`,
      got: String(got),
      expected: String(expected),
      fix: 'put the home on a local disk',
    })
}

export function storeFailed(what: string, cause: unknown): TirelessError {
  const got = cause instanceof Error ? cause.message : String(cause)
  return new TirelessError(
    'store_failed',
    { what, got, fix: 'free the disk or repair it and start again; if the file is damaged, restore a backup' },
    { cause },
  )
}
