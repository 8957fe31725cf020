/** Converts rows of the outbox, of cycles and of the audit log to domain types. */

import type { AuditLink } from '../../../domain/audit.ts'
import type { Cycle, CycleResult } from '../../../domain/cycle.ts'
import type { Label } from '../../../domain/label.ts'
import type { Card, MessageFile, OutboxMessage } from '../../../domain/message.ts'
import { iso } from '../../../ports/clock.ts'
import type { DeliverySummary } from '../../../ports/outbox.ts'
import type { SqlRow } from './rows.ts'

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
  ...(row.thread_id === null ? {} : { thread_id: String(row.thread_id) }),
  ...(row.card === null ? {} : { card: JSON.parse(String(row.card)) as Card }),
  ...(row.files === null ? {} : { files: JSON.parse(String(row.files)) as readonly MessageFile[] }),
  parts_sent: Number(row.parts_sent),
  revision: Number(row.revision),
  provider_id: row.provider_id === null ? null : String(row.provider_id),
})

export const deliveriesFromRow = (row: SqlRow): DeliverySummary => ({
  channel: String(row.channel),
  pending: Number(row.pending),
  failed: Number(row.failed),
  last_sent_at: row.last_sent_at === null ? null : iso(Number(row.last_sent_at)),
  last_error: row.last_error === null ? null : String(row.last_error),
})

export const cycleFromRow = (row: SqlRow): Cycle => ({
  cycle_id: String(row.cycle_id),
  kernel_id: String(row.kernel_id),
  trigger: String(row.trigger),
  due: row.due === null ? null : iso(Number(row.due)),
  started_at: iso(Number(row.started_at)),
  ended_at: row.ended_at === null ? null : iso(Number(row.ended_at)),
  result: row.result === null ? null : (JSON.parse(String(row.result)) as CycleResult),
  open: JSON.parse(String(row.open)) as string[],
})

/** Contract: the audit row as stored; neither its content nor its hash is checked. */
export const auditLinkFromRow = (row: Readonly<Record<string, unknown>>): AuditLink => ({
  n: Number(row.n),
  body: String(row.body),
  hash: String(row.hash),
})

/** An unreadable label counts as untrusted and private, because trust never rises by itself (I12). */
export const labelFromRow = (row: Readonly<Record<string, unknown>>): Label => ({
  trust: row.trust === 'trusted' ? 'trusted' : 'untrusted',
  private: row.private !== 0,
})
