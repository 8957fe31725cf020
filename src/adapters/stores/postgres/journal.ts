/** Operations on the journal in PostgreSQL: one entry per commit and session, linked to the previous one. */

import type { EncodedBatch } from '../encode-batch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, lockSession } from './op-context.ts'

const append: ApplyPgOp<'append'> = async (db, op, held) => {
  if (held && held.session_id !== op.session_id)
    throw new RefusedBatch('store_fenced', `the fence belongs to another session than ${op.session_id}`)
  const session = held?.session ?? (await lockSession(db, op.session_id))
  const head = op.seq + op.count - 1
  const appended = await db.run(
    `WITH entry AS (INSERT INTO journal (session, seq, prev, body)
       SELECT n, $2::bigint, last, $3 FROM sessions WHERE n = $1 AND head = $2::bigint - 1 RETURNING n)
     UPDATE sessions SET head = $4, last = entry.n FROM entry WHERE sessions.n = $1`,
    ...[session, op.seq, op.body, head],
  )
  if (appended === 1) return { head }
  const found = await db.get('SELECT head FROM sessions WHERE n = $1', session)
  throw new RefusedBatch(
    'store_sequence',
    `session ${op.session_id} ends at record ${found?.head}; record ${op.seq} does not follow it`,
  )
}

export const journalOps = { append }

type Append = Parameters<typeof append>[1]

/** A fenced batch that begins with an append, the most common one. */
export interface FencedAppend {
  readonly fence: NonNullable<EncodedBatch['fence']>
  readonly append: Append
}

/**
 * Appends for many sessions in one statement, which locks each session and its dispatch and checks the token. Contract:
 * the ids of the dispatches whose append was done; nothing is written for the others. Each session comes once.
 */
export async function appendAllFenced(db: Queries, appends: readonly FencedAppend[]): Promise<ReadonlySet<string>> {
  if (appends.length === 0) return new Set()
  if (appends.length === 0) return new Set()
  const rows = await db.all(
    APPEND_FENCED,
    appends.map(({ fence }) => fence.dispatch_id),
    appends.map(({ fence }) => fence.token),
    appends.map(({ append: { session_id } }) => session_id),
    appends.map(({ append: { seq } }) => seq),
    appends.map(({ append: { seq, count } }) => seq + count - 1),
    appends.map(({ append: { body } }) => body),
  )
  return new Set(rows.map(({ dispatch_id }) => String(dispatch_id)))
}

const APPEND_FENCED = `WITH held AS (
    SELECT s.n, s.last, u.seq, u.head, u.body, u.dispatch_id
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
      AS u (dispatch_id, token, session_id, seq, head, body)
    JOIN sessions s ON s.session_id = u.session_id AND s.head = u.seq - 1
    JOIN dispatches d ON d.dispatch_id = u.dispatch_id AND d.session = s.n AND d.token = u.token
      AND d.status = 'running'
    FOR NO KEY UPDATE OF s, d),
  entry AS (INSERT INTO journal (session, seq, prev, body) SELECT n, seq, last, body FROM held RETURNING n, session)
  UPDATE sessions SET head = held.head, last = entry.n FROM entry JOIN held ON held.n = entry.session
  WHERE sessions.n = entry.session RETURNING held.dispatch_id`
