/** Copies the database into a file: an SQLite database with the same tables, from which a home can be restored. */

import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { tokenizeForIndex } from '../../../domain/tokenize.ts'
import type { SqlRow } from '../rows/rows.ts'
import { openForWriting } from '../sqlite/connection.ts'
import { createCopyFile, leaveWalMode } from '../sqlite/copy-database.ts'
import { fsyncPath } from '../sqlite/fsync.ts'
import type { PgSettings } from './connection.ts'
import { type ReadTable, withSnapshot } from './scan-rows.ts'
import { databaseError } from './writer.ts'

/** In an order in which each row comes after those it refers to. The rest is derived, or belongs to one database. */
const COPIED = [
  ...['workers', 'sessions', 'dispatches', 'journal', 'inbox', 'unknowns', 'selections', 'cycles', 'settings', 'spend'],
  ...['reservations', 'schedules', 'marks', 'approvals', 'grants', 'labels', 'audit', 'facts', 'documents', 'outbox'],
  ...['heard', 'todos', 'todo_receipts', 'undos', 'set_aside', 'projections'],
]

/** Contract: as `backup` of the store. */
export async function copyToFile(settings: PgSettings, file: string): Promise<{ readonly schema: number }> {
  createCopyFile(file)
  const db = openForWriting(file, { keepCopy: false })
  try {
    // A snapshot of a running system: a parent may have been created after its row was passed.
    db.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN')
    await withSnapshot(settings, async (rows) => {
      for (const table of COPIED) await copyTable(db, table, rows)
    })
    db.exec('COMMIT')
  } catch (thrown) {
    throw databaseError(`copy itself to ${file}`, thrown)
  } finally {
    db.close()
  }
  const schema = leaveWalMode(file)
  chmodSync(file, 0o600)
  for (const path of [file, dirname(file)]) fsyncPath(path)
  return { schema }
}

async function copyTable(db: DatabaseSync, table: string, rows: ReadTable): Promise<void> {
  const columns = db
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => String(name))
  const names = columns.map((name) => `"${name}"`).join(', ')
  const insert = db.prepare(`INSERT INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`)
  const words = db.prepare('INSERT INTO facts_words (rowid, key, text) VALUES (?, ?, ?)')
  for await (const row of rows(`SELECT * FROM ${table} ORDER BY 1`)) {
    insert.run(...columns.map((name) => (row[name] ?? null) as SQLInputValue))
    if (table === 'facts' && row.status === 'known') words.run(...wordsOf(row))
  }
}

const wordsOf = ({ n, key, text }: SqlRow): [number, string, string] => [
  ...([Number(n), tokenizeForIndex(String(key)).join(' '), tokenizeForIndex(String(text)).join(' ')] as const),
]
