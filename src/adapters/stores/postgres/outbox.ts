/** Operations on the outbox in PostgreSQL, and on incoming messages that were already processed. */

import { RefusedBatch } from '../refuse-batch.ts'
import type { Queries } from './connection.ts'
import type { ApplyPgOp } from './op-context.ts'

/** Most messages kept after they were sent or failed. */
const KEPT_MESSAGES = 1000
/** Ids of incoming messages are remembered this long; no channel repeats an older message. */
const MAX_REPEAT_AGE_MS = 30 * 86_400_000

const post: ApplyPgOp<'post'> = async (db, { message, due, now }) => {
  const { id, channel, chat_id, kind, text, thread_id = null, card, files } = message
  const inserted = await db.run(
    `INSERT INTO outbox (id, channel, chat_id, kind, text, status, due, created_at, thread_id, card, files)
     VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING`,
    ...[id, channel, chat_id, kind, text, due, now, thread_id, jsonOrNull(card), jsonOrNull(files)],
  )
  await db.run(
    `DELETE FROM outbox WHERE status <> 'pending' AND n <=
       (SELECT n FROM outbox WHERE status <> 'pending' ORDER BY n DESC LIMIT 1 OFFSET ${KEPT_MESSAGES})`,
  )
  return { duplicate: inserted === 0 }
}

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

const revise: ApplyPgOp<'revise'> = async (db, { id, text, card, due }) => {
  const changed = await db.run(
    `UPDATE outbox SET text = $2, card = $3, revision = revision + 1, parts_sent = 0,
       due = CASE WHEN status = 'pending' THEN greatest(due, $4) ELSE $4 END, attempts = 0, status = 'pending'
     WHERE id = $1 AND (status = 'pending' OR (status = 'sent' AND provider_id IS NOT NULL))`,
    ...[id, text, jsonOrNull(card), due],
  )
  if (changed === 0) throw new RefusedBatch('conflict', `message ${id} cannot be revised`)
  return null
}

const part_sent: ApplyPgOp<'part_sent'> = async (db, { id, revision, parts, provider_id }) => {
  await checkExists(db, id)
  await db.run(
    `UPDATE outbox SET parts_sent = CASE WHEN revision = $2 THEN $3 ELSE parts_sent END,
       provider_id = coalesce($4, provider_id), error = NULL WHERE id = $1 AND status = 'pending'`,
    ...[id, revision, parts, provider_id],
  )
  return null
}

/** If the message was revised meanwhile, it stays pending, and its new version replaces the one that was delivered. */
const delivered: ApplyPgOp<'delivered'> = async (db, { id, now, revision, provider_id }) => {
  await checkExists(db, id)
  await db.run(
    `UPDATE outbox SET status = CASE WHEN revision = coalesce($3, revision) THEN 'sent' ELSE 'pending' END,
       attempts = attempts + 1, sent_at = $2, error = NULL, provider_id = coalesce($4, provider_id)
     WHERE id = $1 AND status = 'pending'`,
    ...[id, now, revision ?? null, provider_id ?? null],
  )
  return null
}

const undelivered: ApplyPgOp<'undelivered'> = async (db, { id, error, retry_at, revision }) => {
  await checkExists(db, id)
  await db.run(
    `UPDATE outbox SET due = coalesce($1, due), attempts = attempts + 1, error = $2,
       status = CASE WHEN $1::bigint IS NULL AND revision = coalesce($4, revision) THEN 'failed' ELSE 'pending' END
     WHERE id = $3 AND status = 'pending'`,
    ...[retry_at, error, id, revision ?? null],
  )
  return null
}

const postpone: ApplyPgOp<'postpone'> = async (db, { id, error, retry_at }) => {
  await checkExists(db, id)
  await db.run("UPDATE outbox SET due = $2, error = $3 WHERE id = $1 AND status = 'pending'", id, retry_at, error)
  return null
}

/** A message that was delivered before stays as it was sent last. */
const retract: ApplyPgOp<'retract'> = async (db, { id }) => {
  await db.run("UPDATE outbox SET status = 'sent' WHERE id = $1 AND status = 'pending' AND provider_id IS NOT NULL", id)
  await db.run("DELETE FROM outbox WHERE id = $1 AND status = 'pending'", id)
  return null
}

async function checkExists(db: Queries, id: string): Promise<void> {
  if (!(await db.get('SELECT 1 FROM outbox WHERE id = $1', id)))
    throw new RefusedBatch('not_found', `unknown message ${id}`)
}

const hear: ApplyPgOp<'hear'> = async (db, { channel, message_id, now }) => {
  await db.run('DELETE FROM heard WHERE ts < $1', now - MAX_REPEAT_AGE_MS)
  const inserted = await db.run(
    'INSERT INTO heard (channel, message_id, ts) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    ...[channel, message_id, now],
  )
  if (inserted === 0) throw new RefusedBatch('conflict', `message ${message_id} of ${channel} was already processed`)
  return null
}

export const outboxOps = { post, revise, part_sent, delivered, undelivered, postpone, retract, hear }

/** A message whose delivery began, and was interrupted or failed: it holds back the later ones of its thread. */
const BEGUN = '(error IS NOT NULL OR parts_sent > 0)'

/**
 * The first message of each thread; of those that are due, the first of each channel. Only numbers and names are
 * sorted; the messages are read at the end. `$2`: numbers of unreadable messages, which are left out.
 */
export const FIRST_DUE = `SELECT o.* FROM (
  SELECT n AS first, row_number() OVER (PARTITION BY channel ORDER BY due, n) AS place FROM (
    SELECT n, due, channel, row_number() OVER (PARTITION BY channel, chat_id, thread_id
      ORDER BY ${BEGUN} DESC, CASE WHEN ${BEGUN} THEN 0 ELSE due END, n) AS place_in_thread
    FROM outbox WHERE status = 'pending' AND (due <= $1 OR ${BEGUN}) AND n <> ALL ($2::bigint[])) AS threads
  WHERE place_in_thread = 1 AND due <= $1) AS channels
  JOIN outbox o ON o.n = channels.first WHERE place = 1 ORDER BY o.due, o.n`
