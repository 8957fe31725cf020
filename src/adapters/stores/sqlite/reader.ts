/** Reads, on a connection of their own that cannot write. `.all()` throughout: an open iterator would stop the WAL from resetting. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { DISPATCH_STATUSES, type DispatchStatus } from '../../../domain/dispatch.ts'
import type { Observation } from '../../../domain/observation.ts'
import type { JournalRecord } from '../../../domain/record.ts'
import { iso } from '../../../ports/clock.ts'
import type { Counts, Store } from '../../../ports/store.ts'
import { storeFailed } from './connection.ts'
import { matchOf, RECALL } from './facts.ts'
import {
  APPROVAL_COLUMNS,
  approvalOf,
  DISPATCH_COLUMNS,
  dispatchOf,
  factOf,
  type Row,
  SESSION_COLUMNS,
  sessionOf,
  UNKNOWN_COLUMNS,
  unknownOf,
} from './rows.ts'

export type Reader = Omit<Store, 'commit' | 'commits' | 'verify' | 'backup' | 'close'>

export function createReader(db: DatabaseSync): Reader {
  const statements = new Map<string, StatementSync>()
  const all = (text: string, ...values: (string | number | null)[]): Row[] => {
    try {
      const statement = statements.get(text) ?? db.prepare(text)
      statements.set(text, statement)
      return statement.all(...values) as Row[]
    } catch (cause) {
      throw storeFailed('the store cannot be read', cause)
    }
  }
  const bodies = <T>(rows: Row[]): T[] => rows.map((row) => JSON.parse(String(row.body)) as T)

  return {
    async dispatch(id) {
      return all(`SELECT ${DISPATCH_COLUMNS} WHERE d.dispatch_id = ?`, id).map(dispatchOf)[0]
    },
    async dispatches({ status, agent_id, limit }) {
      const wanted = '(?1 IS NULL OR d.status = ?1) AND (?2 IS NULL OR d.agent_id = ?2)'
      return all(
        `SELECT ${DISPATCH_COLUMNS} WHERE ${wanted} ORDER BY d.n DESC LIMIT ?3`,
        status ?? null,
        agent_id ?? null,
        limit,
      ).map(dispatchOf)
    },
    async counts() {
      const known = Object.fromEntries(all('SELECT status, n FROM tally').map((row) => [row.status, Number(row.n)]))
      return Object.fromEntries(
        DISPATCH_STATUSES.map((status: DispatchStatus) => [status, known[status] ?? 0]),
      ) as Counts
    },
    async session(id) {
      return all(`SELECT ${SESSION_COLUMNS} WHERE s.session_id = ?`, id).map(sessionOf)[0]
    },
    async sessions({ limit }) {
      return all(`SELECT ${SESSION_COLUMNS} ORDER BY s.n DESC LIMIT ?`, limit).map(sessionOf)
    },
    async journal(sessionId, from = 1) {
      const records = bodies<readonly JournalRecord[]>(
        all(
          `WITH RECURSIVE entry (n, seq, prev, body) AS (
             SELECT j.n, j.seq, j.prev, j.body FROM sessions s JOIN journal j ON j.n = s.last WHERE s.session_id = ?1
             UNION ALL SELECT j.n, j.seq, j.prev, j.body FROM entry e JOIN journal j ON j.n = e.prev WHERE e.seq > ?2
           ) SELECT body FROM entry ORDER BY n`,
          sessionId,
          from,
        ),
      ).flat()
      return from === 1 ? records : records.filter(({ seq }) => seq >= from)
    },
    async inbox(sessionId) {
      return bodies<Observation>(
        all(
          'SELECT body FROM inbox WHERE session = (SELECT n FROM sessions WHERE session_id = ?) AND read_at IS NULL ORDER BY n',
          sessionId,
        ),
      )
    },
    async unknowns({ session_id }) {
      return all(
        `SELECT ${UNKNOWN_COLUMNS} WHERE ?1 IS NULL OR s.session_id = ?1 ORDER BY u.n`,
        session_id ?? null,
      ).map(unknownOf)
    },
    async selections() {
      return all('SELECT scope, model FROM selections ORDER BY scope').map(({ scope, model }) => ({
        scope: String(scope),
        model: String(model),
      }))
    },
    async approval(id) {
      return all(`SELECT ${APPROVAL_COLUMNS} WHERE a.id = ?`, id).map(approvalOf)[0]
    },
    async approvals({ session_id, status, limit }) {
      const wanted = '(?1 IS NULL OR s.session_id = ?1) AND (?2 IS NULL OR a.status = ?2)'
      return all(
        `SELECT ${APPROVAL_COLUMNS} WHERE ${wanted} ORDER BY a.status = 'open' DESC, a.n DESC LIMIT ?3`,
        session_id ?? null,
        status ?? null,
        limit,
      ).map(approvalOf)
    },
    async facts({ agent_id, over = false, now, limit }) {
      const known = "f.status = 'known' AND (f.expires_at IS NULL OR f.expires_at > ?2)"
      return all(
        `SELECT f.* FROM facts f WHERE (?1 IS NULL OR f.agent_id = ?1) AND (?3 OR ${known}) ORDER BY f.n DESC LIMIT ?4`,
        agent_id ?? null,
        now,
        over ? 1 : 0,
        limit,
      ).map(factOf)
    },
    async recallFacts({ agent_id, text, now, limit }) {
      const match = matchOf({ text })
      return match === undefined ? [] : all(RECALL, match, agent_id ?? null, now, limit).map(factOf)
    },
    async workers(now) {
      return all(
        'SELECT epoch, name, lease_until FROM workers WHERE left_at IS NULL AND lease_until > ? ORDER BY epoch',
        now,
      ).map((row) => ({
        epoch: Number(row.epoch),
        name: String(row.name),
        lease_until: iso(Number(row.lease_until)),
      }))
    },
    async nextTimer() {
      const [{ due } = { due: null }] = all(
        `SELECT min(due) AS due FROM (
           SELECT min(due) AS due FROM dispatches WHERE status = 'waiting' AND due IS NOT NULL
           UNION ALL SELECT min(expires_at) FROM approvals WHERE status = 'open')`,
      )
      return due == null ? undefined : Number(due)
    },
  }
}
