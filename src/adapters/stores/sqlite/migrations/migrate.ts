/**
 * Brings a database to the current schema, or refuses it.
 *
 * Order: take the write lock, copy the old database, apply all migrations, set the version, commit once. A kill or a
 * full disk at any moment leaves the old database or the new one.
 */

import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../../domain/error.ts'
import { fsyncPath } from '../fsync.ts'
import { OLDEST_MIGRATED, SCHEMA_HISTORY, type SchemaHistory } from './list.ts'

/** Most copies of old databases to keep; older copies are deleted. */
const MAX_COPIES = 3

export interface MigrateOptions {
  readonly history?: SchemaHistory
  /** Whether a copy of the old database is kept; false for a database that is itself a copy. */
  readonly keepCopy?: boolean
  /** Where the home is and was; default: the folder of the database. */
  readonly roots?: readonly string[]
}

/**
 * Contract: true if the database was changed; throws `store_unsupported`, with nothing changed, for an unknown schema.
 */
export function migrate(
  db: DatabaseSync,
  file: string,
  { history = SCHEMA_HISTORY, keepCopy = true, roots = [dirname(file)] }: MigrateOptions = {},
): boolean {
  if (readSchemaVersion(db) === history.version) return false
  checkSchema(db, file, history)
  db.exec('PRAGMA foreign_keys = OFF')
  let copy: string | undefined
  try {
    inTransaction(db, () => {
      // Another process may have migrated the database before this one got the write lock.
      const from = readSchemaVersion(db)
      if (from === history.version) return
      checkSchema(db, file, history)
      if (from !== 0 && keepCopy) copy = keepOldCopy(file, from)
      if (from === 0) db.exec(history.tables)
      else applyMigrations(db, from, history, roots)
      db.exec(`PRAGMA user_version = ${history.version}`)
    })
  } catch (cause) {
    if (copy !== undefined) rmSync(copy, { force: true })
    throw cause instanceof TirelessError ? cause : migrationFailed(file, history, cause)
  }
  if (copy !== undefined) removeOldCopies(file)
  return true
}

export function readSchemaVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version)
}

/** Contract: only reads; accepts the current schema, older ones with a migration, and an empty database. */
export function checkSchema(db: DatabaseSync, file: string, { version }: SchemaHistory = SCHEMA_HISTORY): void {
  const found = readSchemaVersion(db)
  if (found >= OLDEST_MIGRATED && found <= version) return
  if (found === 0 && db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined) return
  const unsupported = (what: string, fix: string): TirelessError =>
    new TirelessError('store_unsupported', {
      ...{ what: `the database ${file} ${what}`, got: `schema ${found}` },
      ...{ expected: `schema ${OLDEST_MIGRATED} to ${version}`, fix },
    })
  if (found > version)
    throw unsupported(
      'was written by a newer version of this program; nothing was changed',
      'install that version or a newer one, or restore an older backup with `tireless restore DIR`',
    )
  if (found === 0)
    throw unsupported('belongs to another program; nothing was changed', 'choose another folder with --home')
  throw unsupported(
    'was written by an unreleased version of this program; nothing was changed',
    'run the checkout that wrote it, or create a new home with --home',
  )
}

function applyMigrations(
  db: DatabaseSync,
  from: number,
  { version, migrations }: SchemaHistory,
  roots: readonly string[],
): void {
  for (let to = from + 1; to <= version; to += 1) {
    const step = migrations.find((migration) => migration.to === to)
    if (!step) throw new TirelessError('internal', `there is no migration to schema ${to} of the database`)
    if (typeof step.apply === 'string') db.exec(step.apply)
    else step.apply(db, roots)
  }
  const broken = db.prepare('PRAGMA foreign_key_check').all()
  if (broken.length > 0)
    throw new Error(`rows would refer to missing rows, in ${[...new Set(broken.map(({ table }) => table))].join(', ')}`)
}

function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    work()
    db.exec('COMMIT')
  } catch (thrown) {
    // On a full disk, SQLite may already have rolled back the transaction.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

function migrationFailed(file: string, { version }: SchemaHistory, cause: unknown): TirelessError {
  const got = cause instanceof Error ? cause.message : String(cause)
  return new TirelessError(
    'store_failed',
    {
      what: `the database ${file} could not be migrated to schema ${version}; it is unchanged`,
      ...{ got, fix: 'free disk space for twice the size of the database, then start again' },
    },
    { cause },
  )
}

const copyPrefix = (file: string): string => `${basename(file, '.db')}-schema-`
const COPY_SUFFIX = /^\d+-before-upgrade(-\d+)?\.db$/

/** Copies that earlier migrations kept of a database, newest first. */
export function listUpgradeCopies(file: string): readonly string[] {
  const folder = dirname(file)
  const prefix = copyPrefix(file)
  return (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.startsWith(prefix) && COPY_SUFFIX.test(name.slice(prefix.length)))
    .map((name) => ({ path: join(folder, name), time: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => b.time - a.time || b.path.length - a.path.length || (a.path < b.path ? 1 : -1))
    .map(({ path }) => path)
}

/**
 * Copies the last committed state, including the WAL, through a separate connection, because the caller's connection is
 * in a transaction. The name of the copy contains the schema version; to go back, replace the database with the copy.
 */
function keepOldCopy(file: string, schema: number): string {
  const unfinished = `${file}.upgrade-copy`
  rmSync(unfinished, { force: true })
  closeSync(openSync(unfinished, 'wx', 0o600))
  const source = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  try {
    source.prepare('VACUUM INTO ?').run(unfinished)
    fsyncPath(unfinished)
    const copy = unusedName(join(dirname(file), `${copyPrefix(file)}${schema}-before-upgrade`))
    renameSync(unfinished, copy)
    fsyncPath(dirname(file))
    return copy
  } catch (thrown) {
    rmSync(unfinished, { force: true })
    throw thrown
  } finally {
    source.close()
  }
}

function unusedName(base: string): string {
  for (let i = 1; ; i += 1) {
    const path = i === 1 ? `${base}.db` : `${base}-${i}.db`
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return path
  }
}

function removeOldCopies(file: string): void {
  for (const path of listUpgradeCopies(file).slice(MAX_COPIES)) rmSync(path, { force: true })
}
