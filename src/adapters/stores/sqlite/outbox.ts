/** Table operations on the outbox, and on incoming messages that were already processed. */

import type { OutboxOp } from '../../../ports/outbox.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { SqlRow } from '../rows/rows.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

/** Most messages kept after they were sent or failed. */
const KEPT_MESSAGES = 1000
/** Ids of incoming messages are remembered this long; no channel repeats an older message. */
const MAX_REPEAT_AGE_MS = 30 * 86_400_000

type OpOf<K extends OutboxOp['op']> = Extract<OutboxOp, { op: K }>

export function postMessage(sql: Sql, { message, due, now }: OpOf<'post'>): { readonly duplicate: boolean } {
  const { id, channel, chat_id, kind, text, thread_id = null, card, files } = message
  const { changes } = sql(
    `INSERT INTO outbox (id, channel, chat_id, kind, text, status, due, created_at, thread_id, card, files)
     VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  ).run(id, channel, chat_id, kind, text, due, now, thread_id, jsonOrNull(card), jsonOrNull(files))
  const [oldestKept] = sql(
    `SELECT n FROM outbox WHERE status <> 'pending' ORDER BY n DESC LIMIT 1 OFFSET ${KEPT_MESSAGES}`,
  ).all() as SqlRow[]
  if (oldestKept) sql(`DELETE FROM outbox WHERE status <> 'pending' AND n <= ?`).run(Number(oldestKept.n))
  return { duplicate: Number(changes) === 0 }
}

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

export function reviseMessage(sql: Sql, { id, text, card, due }: OpOf<'revise'>): null {
  const { changes } = sql(
    `UPDATE outbox SET text = ?2, card = ?3, revision = revision + 1, parts_sent = 0,
       due = iif(status = 'pending', max(due, ?4), ?4), attempts = 0, status = 'pending'
     WHERE id = ?1 AND (status = 'pending' OR (status = 'sent' AND provider_id IS NOT NULL))`,
  ).run(id, text, jsonOrNull(card), due)
  if (Number(changes) === 0) throw new RefusedBatch('conflict', `message ${id} cannot be revised`)
  return null
}

export function recordPartSent(sql: Sql, { id, revision, parts, provider_id }: OpOf<'part_sent'>): null {
  checkExists(sql, id)
  sql(
    `UPDATE outbox SET parts_sent = iif(revision = ?2, ?3, parts_sent), provider_id = coalesce(?4, provider_id),
       error = NULL WHERE id = ?1 AND status = 'pending'`,
  ).run(id, revision, parts, provider_id)
  return null
}

/** If the message was revised meanwhile, it stays pending, and its new version replaces the one that was delivered. */
export function markDelivered(sql: Sql, { id, now, revision, provider_id }: OpOf<'delivered'>): null {
  checkExists(sql, id)
  sql(
    `UPDATE outbox SET status = iif(revision = coalesce(?3, revision), 'sent', 'pending'), attempts = attempts + 1,
       sent_at = ?2, error = NULL, provider_id = coalesce(?4, provider_id)
     WHERE id = ?1 AND status = 'pending'`,
  ).run(id, now, revision ?? null, provider_id ?? null)
  return null
}

export function markUndelivered(sql: Sql, { id, error, retry_at, revision }: OpOf<'undelivered'>): null {
  checkExists(sql, id)
  sql(
    `UPDATE outbox SET status = iif(?1 IS NULL AND revision = coalesce(?4, revision), 'failed', 'pending'),
       due = coalesce(?1, due), attempts = attempts + 1, error = ?2 WHERE id = ?3 AND status = 'pending'`,
  ).run(retry_at, error, id, revision ?? null)
  return null
}

export function postponeMessage(sql: Sql, { id, error, retry_at }: OpOf<'postpone'>): null {
  checkExists(sql, id)
  sql("UPDATE outbox SET due = ?2, error = ?3 WHERE id = ?1 AND status = 'pending'").run(id, retry_at, error)
  return null
}

/** A message that was delivered before stays as it was sent last. */
export function retractMessage(sql: Sql, { id }: OpOf<'retract'>): null {
  sql("UPDATE outbox SET status = 'sent' WHERE id = ? AND status = 'pending' AND provider_id IS NOT NULL").run(id)
  sql("DELETE FROM outbox WHERE id = ? AND status = 'pending'").run(id)
  return null
}

function checkExists(sql: Sql, id: string): void {
  if (!sql('SELECT 1 FROM outbox WHERE id = ?').get(id)) throw new RefusedBatch('not_found', `unknown message ${id}`)
}

export function recordIncoming(sql: Sql, { channel, message_id, now }: OpOf<'hear'>): null {
  sql('DELETE FROM heard WHERE ts < ?').run(now - MAX_REPEAT_AGE_MS)
  const { changes } = sql('INSERT INTO heard VALUES (?, ?, ?) ON CONFLICT DO NOTHING').run(channel, message_id, now)
  if (Number(changes) === 0)
    throw new RefusedBatch('conflict', `message ${message_id} of ${channel} was already processed`)
  return null
}

/** A message whose delivery began, and was interrupted or failed: it holds back the later ones of its thread. */
const BEGUN = '(error IS NOT NULL OR parts_sent > 0)'

/**
 * The first message of each thread; of those that are due, the first of each channel. `condition`: which rows count.
 * Only numbers and names are sorted; the messages are read at the end.
 */
const dueMessages = (condition: string): string => `SELECT outbox.*, ${readableCondition('outbox')} AS readable FROM (
  SELECT n AS first, row_number() OVER (PARTITION BY channel ORDER BY due, n) AS place FROM (
    SELECT n, due, channel, row_number() OVER (
      PARTITION BY channel, chat_id, thread_id ORDER BY ${BEGUN} DESC, iif(${BEGUN}, 0, due), n) AS place_in_thread
    FROM outbox INDEXED BY outbox_pending WHERE status = 'pending' AND (due <= ?1 OR ${BEGUN}) AND ${condition})
  WHERE place_in_thread = 1 AND due <= ?1)
  JOIN outbox ON outbox.n = first WHERE place = 1 ORDER BY due, n`

export const DUE_MESSAGES = dueMessages('true')
/** Slow, because each pending row is checked: only needed if DUE_MESSAGES finds a row that is not readable. */
export const DUE_READABLE_MESSAGES = dueMessages(readableCondition('outbox'))

export const DELIVERIES = `SELECT channel, sum(status = 'pending') AS pending, sum(status = 'failed') AS failed,
  max(sent_at) AS last_sent_at,
  (SELECT error FROM outbox l WHERE l.channel = o.channel AND status <> 'sent' AND error IS NOT NULL
    ORDER BY n DESC LIMIT 1)
    AS last_error
  FROM outbox o WHERE ${readableCondition('outbox', 'o')} GROUP BY channel ORDER BY channel`
