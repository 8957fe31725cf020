/** Copies the database while it is in use, and checks copies. */

import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import { openForWriting, openReadOnly, storeFailedError } from './connection.ts'
import { fsyncPath } from './fsync.ts'
import { checkSchema, readSchemaVersion } from './migrations/migrate.ts'

const ALL_PAGES = 2 ** 31 - 1

/** Uses a separate connection and a single step: a copy in several steps restarts after every commit. */
export async function copyDatabase(file: string, to: string): Promise<{ readonly schema: number }> {
  createCopyFile(to)
  const source = openReadOnly(file)
  try {
    await backup(source, to, { rate: ALL_PAGES })
    const schema = leaveWalMode(to)
    for (const path of [to, dirname(to)]) fsyncPath(path)
    return { schema }
  } catch (cause) {
    throw storeFailedError(`the database cannot be copied to ${to}`, cause)
  } finally {
    source.close()
  }
}

/** Contract: a new file that only its owner can read; `conflict` if it exists. */
export function createCopyFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'))
      throw storeFailedError(`${file} cannot be written`, cause)
    throw new TirelessError('conflict', {
      what: 'the file exists',
      got: file,
      fix: 'choose a new file',
    })
  }
}

/** Switches the copy out of WAL mode, in which every reader would create files next to it. */
export function leaveWalMode(file: string): number {
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA journal_mode = DELETE')
    return readSchemaVersion(db)
  } finally {
    db.close()
  }
}

/** Contract: only reads; throws `store_unsupported` for an unknown schema, `store_failed` for damage. */
export function checkIntegrity(file: string): void {
  const db = openReadOnly(file)
  try {
    checkSchema(db, file)
    const problems = db
      .prepare('PRAGMA integrity_check(20)')
      .all()
      .map((row) => String(row.integrity_check))
    if (problems.length !== 1 || problems[0] !== 'ok')
      throw storeFailedError(`the database ${file} is damaged`, problems.join('; '))
  } catch (cause) {
    throw cause instanceof TirelessError ? cause : storeFailedError(`the database ${file} cannot be read`, cause)
  } finally {
    db.close()
  }
}

/** Migrates a copy to the current schema, without keeping another copy. `roots`: where the home is and was. */
export function upgradeCopy(file: string, roots: readonly string[]): void {
  openForWriting(file, { keepCopy: false, roots }).close()
}

/** Contract: the number of the last audit record that the database ever had. */
export function lastAuditNumber(file: string): number {
  const db = openReadOnly(file)
  try {
    return Number(db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").get()?.seq ?? 0)
  } finally {
    db.close()
  }
}
