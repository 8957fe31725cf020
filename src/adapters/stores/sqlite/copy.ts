/** A copy of the database while others go on with it; and whether such a copy can be trusted. */

import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { TirelessError } from '../../../domain/error.ts'
import { openReading, openWriting, storeFailed } from './connection.ts'
import { fsyncPath } from './fsync.ts'
import { refuseUnknownSchema, schemaOf } from './migrations/migrate.ts'

const ALL_PAGES = 2 ** 31 - 1

/** On a connection of its own, off the main thread, in one step: a copy made in several begins anew whenever somebody commits. */
export async function copyDatabase(file: string, to: string): Promise<{ readonly schema: number }> {
  claimNew(to)
  const source = openReading(file)
  try {
    await backup(source, to, { rate: ALL_PAGES })
    const schema = withoutLog(to)
    for (const path of [to, dirname(to)]) fsyncPath(path)
    return { schema }
  } catch (cause) {
    throw storeFailed(`the database cannot be copied to ${to}`, cause)
  } finally {
    source.close()
  }
}

function claimNew(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'))
      throw storeFailed(`${file} cannot be written`, cause)
    throw new TirelessError('conflict', {
      what: 'there is a file of that name already',
      got: file,
      fix: 'name a new one',
    })
  }
}

/** As long as the copy says that it has a log, as its original does, whoever reads it leaves files beside it. */
function withoutLog(file: string): number {
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA journal_mode = DELETE')
    return schemaOf(db)
  } finally {
    db.close()
  }
}

/** Contract: only reads; throws `store_unsupported` for a schema that there is no way from, `store_failed` for damage. */
export function refuseUnsound(file: string): void {
  const db = openReading(file)
  try {
    refuseUnknownSchema(db, file)
    const found = db
      .prepare('PRAGMA integrity_check(20)')
      .all()
      .map((row) => String(row.integrity_check))
    if (found.length !== 1 || found[0] !== 'ok') throw storeFailed(`the database ${file} is damaged`, found.join('; '))
  } catch (cause) {
    throw cause instanceof TirelessError ? cause : storeFailed(`the database ${file} cannot be read`, cause)
  } finally {
    db.close()
  }
}

/** A copy that an older program made, at this one's schema; it is a copy already, so none is kept of it. */
export function bringForward(file: string): void {
  openWriting(file, { keepCopy: false }).close()
}

/** A copy that is to live in another place: its sessions find their workspaces there. */
export function moveWorkspaces(file: string, from: string, to: string): void {
  const db = new DatabaseSync(file)
  try {
    const inside = 'substr(workspace, 1, length(?1)) = ?1 AND substr(workspace, length(?1) + 1, 1) IN (?3, ?4)'
    db.prepare(`UPDATE sessions SET workspace = ?2 || substr(workspace, length(?1) + 1) WHERE ${inside}`).run(
      from,
      to,
      '/',
      '',
    )
  } finally {
    db.close()
  }
}
