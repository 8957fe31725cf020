/** Copies the database into a file: an SQLite database with the same tables, from which a home can be restored. */

import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { type ConvertRow, copyRows, keepRow } from '../copy/copy-rows.ts'
import { createPostgresRows } from '../copy/postgres-rows.ts'
import { createSqliteRows } from '../copy/sqlite-rows.ts'
import { readCopiedTables } from '../copy/tables.ts'
import { openForWriting } from '../sqlite/connection.ts'
import { createCopyFile, leaveWalMode } from '../sqlite/copy-database.ts'
import { fsyncPath } from '../sqlite/fsync.ts'
import type { PgConnection, PgSettings } from './connection.ts'
import { withSnapshot } from './scan-rows.ts'
import { databaseError } from './writer.ts'

/** Contract: as `backup` of the store. `convert`: what the rows of the copy are in the home of the file. */
export const copyToFile = (
  settings: PgSettings,
  file: string,
  convert: ConvertRow = keepRow,
): Promise<{ readonly schema: number }> =>
  withSnapshot(settings, (_, connection) => writeCopy(connection, file, convert)).catch((thrown) => {
    throw databaseError(`copy itself to ${file}`, thrown)
  })

/** Contract: a new file with all rows that the connection sees in its transaction, on disk. */
export async function writeCopy(
  connection: PgConnection,
  file: string,
  convert: ConvertRow,
): Promise<{ readonly schema: number }> {
  createCopyFile(file)
  const db = openForWriting(file, { keepCopy: false })
  try {
    // A snapshot of a running system: a parent may have been created after its row was passed.
    db.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN')
    await copyRows(readCopiedTables(db), createPostgresRows(connection), createSqliteRows(db), convert)
    db.exec('COMMIT')
  } finally {
    db.close()
  }
  const schema = leaveWalMode(file)
  chmodSync(file, 0o600)
  for (const path of [file, dirname(file)]) fsyncPath(path)
  return { schema }
}
