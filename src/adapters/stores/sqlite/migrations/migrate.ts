/**
 * A database at the schema of this program: made, brought forward, or refused.
 *
 * Order: the write lock; a copy of the database as it was, beside it; every step; the version; one commit. A kill or a full disk at
 * any moment leaves the old database, or the new one.
 */

import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../../domain/error.ts'
import { fsyncPath } from '../fsync.ts'
import { HISTORY, OLDEST_MIGRATED, type SchemaHistory } from './list.ts'

/** The newest ones stay. */
const MOST_COPIES = 3

export interface MigrateOptions {
  readonly history?: SchemaHistory
  /** False for a database that is itself a copy. */
  readonly keepCopy?: boolean
}

/** Contract: whether anything was changed; throws `store_unsupported` for a schema that there is no way from, having changed nothing. */
export function migrate(
  db: DatabaseSync,
  file: string,
  { history = HISTORY, keepCopy = true }: MigrateOptions = {},
): boolean {
  if (schemaOf(db) === history.version) return false
  refuseUnknownSchema(db, file, history)
  db.exec('PRAGMA foreign_keys = OFF')
  let copy: string | undefined
  try {
    inTransaction(db, () => {
      // Another process may have been first.
      const from = schemaOf(db)
      if (from === history.version) return
      refuseUnknownSchema(db, file, history)
      if (from !== 0 && keepCopy) copy = copyBeside(file, from)
      if (from === 0) db.exec(history.tables)
      else applySteps(db, from, history)
      db.exec(`PRAGMA user_version = ${history.version}`)
    })
  } catch (cause) {
    if (copy !== undefined) rmSync(copy, { force: true })
    throw cause instanceof TirelessError ? cause : notMigrated(file, history, cause)
  }
  if (copy !== undefined) removeOldCopies(file)
  return true
}

export function schemaOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version)
}

/** Contract: only reads; passes what this program can open: its own schema, older ones it has a way from, an empty database. */
export function refuseUnknownSchema(db: DatabaseSync, file: string, { version }: SchemaHistory = HISTORY): void {
  const found = schemaOf(db)
  if (found >= OLDEST_MIGRATED && found <= version) return
  if (found === 0 && db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined) return
  const refused = (what: string, fix: string): TirelessError =>
    new TirelessError('store_unsupported', {
      ...{ what: `the database ${file} ${what}`, got: `schema ${found}` },
      ...{ expected: `schema ${OLDEST_MIGRATED} to ${version}`, fix },
    })
  if (found > version)
    throw refused(
      'was written by a newer version of this program; it is left as it is',
      'install that version or a newer one, or restore a backup that this one has made: tireless restore DIR',
    )
  if (found === 0)
    throw refused('belongs to another program; it is left as it is', 'name another folder as the home, with --home')
  throw refused(
    'was written by a version of this program that was never released; it is left as it is',
    'run the checkout that wrote it, or begin a new home with --home',
  )
}

function applySteps(db: DatabaseSync, from: number, { version, migrations }: SchemaHistory): void {
  for (let to = from + 1; to <= version; to += 1) {
    const step = migrations.find((migration) => migration.to === to)
    if (!step) throw new TirelessError('internal', `there is no step to schema ${to} of the database`)
    if (typeof step.apply === 'string') db.exec(step.apply)
    else step.apply(db)
  }
  const broken = db.prepare('PRAGMA foreign_key_check').all()
  if (broken.length > 0)
    throw new Error(
      `rows would refer to what is not there, in ${[...new Set(broken.map(({ table }) => table))].join(', ')}`,
    )
}

function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    work()
    db.exec('COMMIT')
  } catch (thrown) {
    // A full disk may have rolled it back already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

function notMigrated(file: string, { version }: SchemaHistory, cause: unknown): TirelessError {
  const got = cause instanceof Error ? cause.message : String(cause)
  return new TirelessError(
    'store_failed',
    {
      what: `the database ${file} could not be brought to schema ${version}, and is as it was`,
      ...{ got, fix: 'make sure that the disk has room for twice the database, and start again' },
    },
    { cause },
  )
}

const copyPrefix = (file: string): string => `${basename(file, '.db')}-schema-`
const COPY_SUFFIX = /^\d+-before-upgrade(-\d+)?\.db$/

/** The copies that upgrades have kept of a database, the newest first. */
export function copiesOf(file: string): readonly string[] {
  const folder = dirname(file)
  const prefix = copyPrefix(file)
  return (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.startsWith(prefix) && COPY_SUFFIX.test(name.slice(prefix.length)))
    .map((name) => ({ path: join(folder, name), time: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => b.time - a.time || b.path.length - a.path.length || (a.path < b.path ? 1 : -1))
    .map(({ path }) => path)
}

/**
 * As last committed, with what is still in the log: by a connection of its own, because the caller's is in a transaction. The name says
 * which program can open it; whoever wants the old home back puts it in the place of the database.
 */
function copyBeside(file: string, schema: number): string {
  const unfinished = `${file}.upgrade-copy`
  rmSync(unfinished, { force: true })
  closeSync(openSync(unfinished, 'wx', 0o600))
  const source = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  try {
    source.prepare('VACUUM INTO ?').run(unfinished)
    fsyncPath(unfinished)
    const copy = freshName(join(dirname(file), `${copyPrefix(file)}${schema}-before-upgrade`))
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

function freshName(base: string): string {
  for (let i = 1; ; i += 1) {
    const path = i === 1 ? `${base}.db` : `${base}-${i}.db`
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return path
  }
}

function removeOldCopies(file: string): void {
  for (const path of copiesOf(file).slice(MOST_COPIES)) rmSync(path, { force: true })
}
