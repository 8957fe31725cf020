/** Table operations on documents: adds versions, deletes the oldest beyond a limit, records the content of files. */

import { hash } from 'node:crypto'
import { MAX_VERSION_BYTES, MAX_VERSIONS } from '../../../domain/document.ts'
import type { Op, OpResults } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { documentFromRow, type SqlRow, VERSION_CLASS, VERSION_COLUMNS, versionFromRow } from '../rows/rows.ts'
import { ensureReadableInBatch } from '../rows/unreadable-rows.ts'
import type { Sql } from './sql.ts'

type NewVersion = Extract<Op, { op: 'document' }>
type Project = Extract<Op, { op: 'project' }>

export const LATEST_VERSION = `SELECT ${VERSION_COLUMNS}, text FROM documents
  WHERE kernel_id = ? AND name = ? ORDER BY version DESC LIMIT 1`

export function insertDocumentVersion(sql: Sql, op: NewVersion): OpResults['document'] {
  const { kernel_id, name, text } = op
  const row = sql(LATEST_VERSION).get(kernel_id, name) as SqlRow | undefined
  const latest = row && documentFromRow(ensureReadableInBatch('documents', row))
  if (op.base !== (latest?.sha256 ?? null))
    throw new RefusedBatch('conflict', `${name} has changed: its version is now ${latest?.version ?? 0}`)
  if (latest?.text === text) return { ...versionFromRow(row as SqlRow), changed: false }
  const inserted = sql(
    `INSERT INTO documents (kernel_id, name, version, sha256, bytes, author, reason, cycle_id, ts, text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${VERSION_COLUMNS}`,
  ).get(
    kernel_id,
    name,
    (latest?.version ?? 0) + 1,
    hash('sha256', text),
    Buffer.byteLength(text),
    op.author,
    op.reason,
    op.cycle_id,
    op.now,
    text,
  )
  dropOldest(sql, op)
  return { ...versionFromRow(inserted as SqlRow), changed: true }
}

function dropOldest(sql: Sql, { kernel_id, name }: NewVersion): void {
  sql(
    `DELETE FROM documents WHERE n IN (
       SELECT n FROM (
         SELECT n, row_number() OVER newest AS place, sum(bytes) OVER newest AS size FROM documents
         WHERE kernel_id = ?1 AND name = ?2 WINDOW newest AS (PARTITION BY ${VERSION_CLASS}
           ORDER BY version DESC))
       WHERE place > ?3 OR (size > ?4 AND place > 1))`,
  ).run(kernel_id, name, MAX_VERSIONS, MAX_VERSION_BYTES)
}

export function writeProjection(sql: Sql, { kernel_id, name, text }: Project): null {
  sql('INSERT INTO projections VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET text = ?3').run(kernel_id, name, text)
  return null
}
