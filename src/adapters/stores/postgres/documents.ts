/** Operations on documents in PostgreSQL: adds versions, deletes the oldest beyond a limit, records file contents. */

import { hash } from 'node:crypto'
import { MAX_VERSION_BYTES, MAX_VERSIONS } from '../../../domain/document.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { documentFromRow, VERSION_CLASS, VERSION_COLUMNS, versionFromRow } from '../rows/rows.ts'
import { ensureReadableInBatch } from '../rows/unreadable-rows.ts'
import { type ApplyPgOp, takeWideLock } from './op-context.ts'

export const NEWEST_VERSION = `SELECT ${VERSION_COLUMNS}, text FROM documents
  WHERE kernel_id = $1 AND name = $2 ORDER BY version DESC LIMIT 1`

const DROP_OLDEST = `DELETE FROM documents WHERE n IN (
  SELECT n FROM (
    SELECT n, row_number() OVER newest AS place, sum(bytes) OVER newest AS size FROM documents
    WHERE kernel_id = $1 AND name = $2 WINDOW newest AS (PARTITION BY ${VERSION_CLASS}
           ORDER BY version DESC)) AS kept
  WHERE place > $3 OR (size > $4 AND place > 1))`

const document: ApplyPgOp<'document'> = async (db, op) => {
  const { kernel_id, name, text } = op
  await takeWideLock(db)
  const row = await db.get(NEWEST_VERSION, kernel_id, name)
  const latest = row && documentFromRow(ensureReadableInBatch('documents', row))
  if (op.base !== (latest?.sha256 ?? null))
    throw new RefusedBatch('conflict', `${name} has changed: its version is now ${latest?.version ?? 0}`)
  if (row && latest?.text === text) return { ...versionFromRow(row), changed: false }
  const inserted = await db.get(
    `INSERT INTO documents (kernel_id, name, version, sha256, bytes, author, reason, cycle_id, ts, text)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING ${VERSION_COLUMNS}`,
    ...[kernel_id, name, (latest?.version ?? 0) + 1, hash('sha256', text), Buffer.byteLength(text)],
    ...[op.author, op.reason, op.cycle_id, op.now, text],
  )
  await db.run(DROP_OLDEST, kernel_id, name, MAX_VERSIONS, MAX_VERSION_BYTES)
  return { ...versionFromRow(inserted ?? {}), changed: true }
}

const project: ApplyPgOp<'project'> = async (db, { kernel_id, name, text }) => {
  await db.run(
    `INSERT INTO projections (kernel_id, name, text) VALUES ($1, $2, $3)
     ON CONFLICT (kernel_id, name) DO UPDATE SET text = excluded.text`,
    ...[kernel_id, name, text],
  )
  return null
}

export const documentOps = { document, project }
