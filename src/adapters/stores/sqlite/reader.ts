/** Reads, on a connection of their own that cannot write. `.all()` throughout: an open iterator would stop the WAL from resetting. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { DISPATCH_STATUSES, type DispatchStatus } from '../../../domain/dispatch.ts'
import type { Json } from '../../../domain/json.ts'
import type { Observation } from '../../../domain/observation.ts'
import type { JournalRecord } from '../../../domain/record.ts'
import { iso } from '../../../ports/clock.ts'
import type { Counts, Store } from '../../../ports/store.ts'
import { storeFailed } from './connection.ts'
import { cycleOf } from './cycles.ts'
import { LATEST } from './documents.ts'
import { matchOf, RECALL } from './facts.ts'
import { DELIVERIES, DUE, deliveriesOf, postedOf } from './outbox.ts'
import { labelIn, linkIn } from './policy.ts'
import { PRUNABLE } from './retention.ts'
import {
  APPROVAL_COLUMNS,
  approvalOf,
  DISPATCH_COLUMNS,
  dispatchOf,
  documentOf,
  factOf,
  grantOf,
  markOf,
  type Row,
  SESSION_COLUMNS,
  scheduleOf,
  sessionOf,
  UNKNOWN_COLUMNS,
  unknownOf,
  VERSION_COLUMNS,
  versionOf,
} from './rows.ts'
import { SPEND, spendOf } from './spend.ts'

export type Reader = Omit<Store, 'commit' | 'commits' | 'verify' | 'backup' | 'close'>

interface Condition {
  readonly text: string
  readonly values: readonly string[]
}

/** What is open is asked for in so many words: only then an index of open ones alone is used. */
function of(column: string, value: string | undefined): Condition {
  if (value === undefined) return { text: '', values: [] }
  return value === 'open' ? { text: `${column} = 'open'`, values: [] } : { text: `${column} = ?`, values: [value] }
}

function both(a: Condition, b: Condition): Condition {
  const texts = [a.text, b.text].filter((text) => text !== '')
  return { text: texts.length > 0 ? `WHERE ${texts.join(' AND ')}` : '', values: [...a.values, ...b.values] }
}

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
    async recent(kernelId, agentId, limit) {
      return all(
        `SELECT ${DISPATCH_COLUMNS} WHERE d.kernel_id = ? AND d.agent_id = ? ORDER BY d.n DESC LIMIT ?`,
        kernelId,
        agentId,
        limit,
      ).map(dispatchOf)
    },
    async dispatchesOf(cycleId) {
      return all(`SELECT ${DISPATCH_COLUMNS} WHERE d.cycle_id = ? ORDER BY d.n`, cycleId).map(dispatchOf)
    },
    async cycles(kernelId, { limit }) {
      return all('SELECT * FROM cycles WHERE kernel_id = ? ORDER BY n DESC LIMIT ?', kernelId, limit).map(cycleOf)
    },
    async setting(name) {
      const [row] = all('SELECT value FROM settings WHERE name = ?', name)
      return row ? (JSON.parse(String(row.value)) as Json) : null
    },
    async session(id) {
      return all(`SELECT ${SESSION_COLUMNS} WHERE s.session_id = ?`, id).map(sessionOf)[0]
    },
    async prunable(before) {
      return all(PRUNABLE, before, 1).length > 0
    },
    async sessions({ limit, archived = false }) {
      const wanted = archived ? '' : 'WHERE s.archived_at IS NULL'
      return all(`SELECT ${SESSION_COLUMNS} ${wanted} ORDER BY s.n DESC LIMIT ?`, limit).map(sessionOf)
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
    async unknowns({ session_id, status }) {
      const where = both(of('s.session_id', session_id), of('u.status', status))
      return all(`SELECT ${UNKNOWN_COLUMNS} ${where.text} ORDER BY u.n`, ...where.values).map(unknownOf)
    },
    async selections() {
      return all('SELECT scope, model FROM selections ORDER BY scope').map(({ scope, model }) => ({
        scope: String(scope),
        model: String(model),
      }))
    },
    async spend(from, to) {
      return all(SPEND, from, to).map(spendOf)
    },
    async schedules() {
      return all('SELECT * FROM schedules ORDER BY n').map(scheduleOf)
    },
    async marks() {
      return all('SELECT * FROM marks ORDER BY schedule_id').map(markOf)
    },
    async approval(id) {
      return all(`SELECT ${APPROVAL_COLUMNS} WHERE a.id = ?`, id).map(approvalOf)[0]
    },
    async approvals({ session_id, status, limit }) {
      const where = both(of('s.session_id', session_id), of('a.status', status))
      return all(
        `SELECT ${APPROVAL_COLUMNS} ${where.text} ORDER BY a.status = 'open' DESC, a.n DESC LIMIT ?`,
        ...where.values,
        limit,
      ).map(approvalOf)
    },
    async grants({ tool, now }) {
      return all(
        'SELECT * FROM grants WHERE (?1 IS NULL OR tool = ?1) AND (expires_at IS NULL OR expires_at > ?2) ORDER BY n',
        tool ?? null,
        now,
      ).map(grantOf)
    },
    async label(of) {
      return all('SELECT * FROM labels WHERE "of" = ?', of).map(labelIn)[0]
    },
    async labels(prefix) {
      return all('SELECT * FROM labels WHERE substr("of", 1, ?) = ? ORDER BY "of"', prefix.length, prefix).map(
        (row) => ({ of: String(row.of), label: labelIn(row) }),
      )
    },
    async audit(from, { limit }) {
      const [last] = all("SELECT seq FROM sqlite_sequence WHERE name = 'audit'")
      const links = all('SELECT * FROM audit WHERE n >= ? ORDER BY n LIMIT ?', from, limit).map(linkIn)
      return { links, last: Number(last?.seq ?? 0) }
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
    async document(kernelId, name) {
      return all(LATEST, kernelId, name).map(documentOf)[0]
    },
    async documentVersion(kernelId, name, version) {
      const wanted = 'kernel_id = ? AND name = ? AND version = ?'
      return all(`SELECT ${VERSION_COLUMNS}, text FROM documents WHERE ${wanted}`, kernelId, name, version).map(
        documentOf,
      )[0]
    },
    async documentVersions({ kernel_id, name, limit }) {
      return all(
        `SELECT ${VERSION_COLUMNS} FROM documents WHERE kernel_id = ? AND name = ? ORDER BY version DESC LIMIT ?`,
        kernel_id,
        name,
        limit,
      ).map(versionOf)
    },
    async projection(kernelId, name) {
      const [row] = all('SELECT text FROM projections WHERE kernel_id = ? AND name = ?', kernelId, name)
      return row && String(row.text)
    },
    async outbox({ channel, status, limit }) {
      const wanted = '(?1 IS NULL OR channel = ?1) AND (?2 IS NULL OR status = ?2)'
      return all(
        `SELECT * FROM outbox WHERE ${wanted} ORDER BY n DESC LIMIT ?3`,
        channel ?? null,
        status ?? null,
        limit,
      ).map(postedOf)
    },
    async dueMessages(now) {
      return all(DUE, now).map(postedOf)
    },
    async nextMessage(after) {
      const [{ due } = { due: null }] = all(
        "SELECT min(due) AS due FROM outbox WHERE status = 'pending' AND due > ?",
        after,
      )
      return due == null ? undefined : Number(due)
    },
    async deliveries() {
      return all(DELIVERIES).map(deliveriesOf)
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
