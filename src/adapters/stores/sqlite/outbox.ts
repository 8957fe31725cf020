/** Table operations on the outbox, and on incoming messages that were already processed. */

import type { OutboxMessage } from '../../../domain/message.ts'
import { iso } from '../../../ports/clock.ts'
import type { DeliverySummary, OutboxOp } from '../../../ports/outbox.ts'
import { RefusedBatch, type Sql } from './refuse-batch.ts'
import type { SqlRow } from './rows.ts'
import { readableCondition } from './unreadable-rows.ts'

/** Most messages kept after they were sent or failed. */
const KEPT_MESSAGES = 1000
/** Ids of incoming messages are remembered this long; no channel repeats an older message. */
const MAX_REPEAT_AGE_MS = 30 * 86_400_000

type OpOf<K extends OutboxOp['op']> = Extract<OutboxOp, { op: K }>

export function postMessage(sql: Sql, { message, due, now }: OpOf<'post'>): { readonly duplicate: boolean } {
  const { id, channel, chat_id, kind, text } = message
  const { changes } = sql(
    `INSERT INTO outbox (id, channel, chat_id, kind, text, status, due, created_at)
     VALUES (?, ?, ?, ?, ?, 'pending', ?, ?) ON CONFLICT (id) DO NOTHING`,
  ).run(id, channel, chat_id, kind, text, due, now)
  const [oldestKept] = sql(
    `SELECT n FROM outbox WHERE status <> 'pending' ORDER BY n DESC LIMIT 1 OFFSET ${KEPT_MESSAGES}`,
  ).all() as SqlRow[]
  if (oldestKept) sql(`DELETE FROM outbox WHERE status <> 'pending' AND n <= ?`).run(Number(oldestKept.n))
  return { duplicate: Number(changes) === 0 }
}

export function markDelivered(sql: Sql, { id, now }: OpOf<'delivered'>): null {
  checkExists(sql, id)
  sql(
    `UPDATE outbox SET status = 'sent', attempts = attempts + 1, sent_at = ?, error = NULL
     WHERE id = ? AND status = 'pending'`,
  ).run(now, id)
  return null
}

export function markUndelivered(sql: Sql, { id, error, retry_at }: OpOf<'undelivered'>): null {
  checkExists(sql, id)
  sql(
    `UPDATE outbox SET status = iif(?1 IS NULL, 'failed', 'pending'), due = coalesce(?1, due), attempts = attempts + 1,
       error = ?2 WHERE id = ?3 AND status = 'pending'`,
  ).run(retry_at, error, id)
  return null
}

export function retractMessage(sql: Sql, { id }: OpOf<'retract'>): null {
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

export const DUE_MESSAGES = `SELECT * FROM (
  SELECT *, row_number() OVER (PARTITION BY channel ORDER BY due, n) AS place
  FROM outbox WHERE status = 'pending' AND due <= ? AND ${readableCondition('outbox')}) WHERE place = 1 ORDER BY due, n`

export const DELIVERIES = `SELECT channel, sum(status = 'pending') AS pending, sum(status = 'failed') AS failed,
  max(sent_at) AS last_sent_at,
  (SELECT error FROM outbox l WHERE l.channel = o.channel AND status <> 'sent' AND error IS NOT NULL
    ORDER BY n DESC LIMIT 1)
    AS last_error
  FROM outbox o WHERE ${readableCondition('outbox', 'o')} GROUP BY channel ORDER BY channel`

export const postedFromRow = (row: SqlRow): OutboxMessage => ({
  id: String(row.id),
  channel: String(row.channel),
  chat_id: row.chat_id === null ? null : String(row.chat_id),
  kind: String(row.kind) as OutboxMessage['kind'],
  text: String(row.text),
  ts: iso(Number(row.created_at)),
  status: String(row.status) as OutboxMessage['status'],
  attempts: Number(row.attempts),
  due: iso(Number(row.due)),
  sent_at: row.sent_at === null ? null : iso(Number(row.sent_at)),
  error: row.error === null ? null : String(row.error),
})

export const deliveriesFromRow = (row: SqlRow): DeliverySummary => ({
  channel: String(row.channel),
  pending: Number(row.pending),
  failed: Number(row.failed),
  last_sent_at: row.last_sent_at === null ? null : iso(Number(row.last_sent_at)),
  last_error: row.last_error === null ? null : String(row.last_error),
})
