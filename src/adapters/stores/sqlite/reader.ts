/**
 * Reads through a separate read-only connection. Always uses `.all()`: an open iterator would keep the WAL from
 * resetting.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { DISPATCH_STATUSES, type DispatchStatus } from '../../../domain/dispatch.ts'
import { TirelessError } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import type { Observation } from '../../../domain/observation.ts'
import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import { iso } from '../../../ports/clock.ts'
import type { DispatchCounts, Store } from '../../../ports/store.ts'
import type { TableName } from './columns.ts'
import { storeFailedError } from './connection.ts'
import { cycleFromRow } from './cycles.ts'
import { LATEST_VERSION } from './documents.ts'
import { buildMatchQuery, RECALL_QUERY } from './facts.ts'
import { auditLinkFromRow, labelFromRow } from './grants-and-audit.ts'
import { DELIVERIES, DUE_MESSAGES, deliveriesFromRow, postedFromRow } from './outbox.ts'
import { readJournal } from './read-journal.ts'
import { PRUNABLE_SESSIONS } from './retention.ts'
import {
  APPROVAL_COLUMNS,
  approvalFromRow,
  DISPATCH_COLUMNS,
  dispatchFromRow,
  documentFromRow,
  factFromRow,
  grantFromRow,
  markFromRow,
  SESSION_COLUMNS,
  type SqlRow,
  scheduleFromRow,
  sessionFromRow,
  UNKNOWN_COLUMNS,
  unknownFromRow,
  VERSION_COLUMNS,
  versionFromRow,
} from './rows.ts'
import { SPEND_QUERY, spendFromRow } from './spend.ts'
import {
  addReadableFunctions,
  convertBigInts,
  ensureReadable,
  isOutOfRange,
  readableCondition,
} from './unreadable-rows.ts'

export type StoreReader = Omit<Store, 'commit' | 'commits' | 'verify' | 'unreadable' | 'skipped' | 'backup' | 'close'>

interface Condition {
  readonly text: string
  readonly values: readonly string[]
}

/** The value 'open' is written into the SQL text, because SQLite then uses the partial index of open rows. */
function equals(column: string, value: string | undefined): Condition {
  if (value === undefined) return { text: '', values: [] }
  return value === 'open' ? { text: `${column} = 'open'`, values: [] } : { text: `${column} = ?`, values: [value] }
}

function joinConditions(a: Condition, b: Condition, always: string): Condition {
  const texts = [a.text, b.text, always].filter((text) => text !== '')
  return { text: `WHERE ${texts.join(' AND ')}`, values: [...a.values, ...b.values] }
}

/** `onSkipped`: called for each unreadable row that a list leaves out, at every read. */
export function createStoreReader(db: DatabaseSync, onSkipped?: (row: UnreadableRow) => void): StoreReader {
  addReadableFunctions(db, onSkipped)
  const statements = new Map<string, StatementSync>()
  const all = (text: string, ...values: (string | number | null)[]): SqlRow[] => {
    try {
      const statement = statements.get(text) ?? db.prepare(text)
      statements.set(text, statement)
      return statement.all(...values) as SqlRow[]
    } catch (cause) {
      if (isOutOfRange(cause)) return allWithBigInts(db, text, values)
      if (!db.isOpen) throw new TirelessError('store_closed', 'the store is closed', { cause })
      throw storeFailedError('the store cannot be read', cause)
    }
  }
  /** Contract: throws `row_unreadable` for an unreadable row. */
  const readOne = (table: TableName, text: string, ...values: (string | number)[]): SqlRow | undefined => {
    const [row] = all(text, ...values)
    return row && ensureReadable(table, row)
  }

  return {
    async dispatch(id) {
      const row = readOne('dispatches', `SELECT ${DISPATCH_COLUMNS} WHERE d.dispatch_id = ?`, id)
      return row && dispatchFromRow(row)
    },
    async dispatches({ status, agent_id, limit }) {
      const condition = `(?1 IS NULL OR d.status = ?1) AND (?2 IS NULL OR d.agent_id = ?2)
        AND ${readableCondition('dispatches', 'd')}`
      return all(
        `SELECT ${DISPATCH_COLUMNS} WHERE ${condition} ORDER BY d.n DESC LIMIT ?3`,
        status ?? null,
        agent_id ?? null,
        limit,
      ).map(dispatchFromRow)
    },
    async counts() {
      const counted = new Map(
        all(`SELECT status, n FROM tally WHERE ${readableCondition('tally')}`).map(({ status, n }) => [
          status,
          Number(n),
        ]),
      )
      const isComplete = counted.size === Number(all('SELECT count(*) AS n FROM tally')[0]?.n)
      // Dispatches are claimed only if the count of pending ones is above 0; a wrong count must not stop the queue.
      const [pending] = all("SELECT 1 FROM dispatches WHERE status = 'pending' AND paused = 0 LIMIT 1")
      const isWrong = (status: DispatchStatus): boolean =>
        counted.has(status) ? status === 'pending' && pending !== undefined && counted.get(status) === 0 : !isComplete
      const countOf = (status: DispatchStatus): number =>
        isWrong(status)
          ? Number(all('SELECT count(*) AS n FROM dispatches WHERE status = ?', status)[0]?.n)
          : (counted.get(status) ?? 0)
      return Object.fromEntries(DISPATCH_STATUSES.map((status) => [status, countOf(status)])) as DispatchCounts
    },
    async recent(kernelId, agentId, limit) {
      return all(
        `SELECT ${DISPATCH_COLUMNS} WHERE d.kernel_id = ? AND d.agent_id = ? AND ${readableCondition('dispatches', 'd')}
         ORDER BY d.n DESC LIMIT ?`,
        kernelId,
        agentId,
        limit,
      ).map(dispatchFromRow)
    },
    async dispatchesOf(cycleId) {
      const condition = `d.cycle_id = ? AND ${readableCondition('dispatches', 'd')}`
      return all(`SELECT ${DISPATCH_COLUMNS} WHERE ${condition} ORDER BY d.n`, cycleId).map(dispatchFromRow)
    },
    async cycles(kernelId, { limit }) {
      const condition = `kernel_id = ? AND ${readableCondition('cycles')}`
      return all(`SELECT * FROM cycles WHERE ${condition} ORDER BY n DESC LIMIT ?`, kernelId, limit).map(cycleFromRow)
    },
    async setting(name) {
      const row = readOne('settings', 'SELECT * FROM settings WHERE name = ?', name)
      return row ? (JSON.parse(String(row.value)) as Json) : null
    },
    async session(id) {
      const row = readOne('sessions', `SELECT ${SESSION_COLUMNS} WHERE s.session_id = ?`, id)
      return row && sessionFromRow(row)
    },
    async prunable(before) {
      return all(PRUNABLE_SESSIONS, before, 1).length > 0
    },
    async sessions({ limit, archived = false }) {
      const condition = `${archived ? '' : 's.archived_at IS NULL AND '}${readableCondition('sessions', 's')}`
      return all(`SELECT ${SESSION_COLUMNS} WHERE ${condition} ORDER BY s.n DESC LIMIT ?`, limit).map(sessionFromRow)
    },
    async journal(sessionId, from = 1) {
      return readJournal(all, sessionId, from)
    },
    async inbox(sessionId) {
      const unread = `session = (SELECT n FROM sessions WHERE session_id = ?) AND read_at IS NULL
        AND ${readableCondition('inbox')}`
      const rows = all(`SELECT body FROM inbox WHERE ${unread} ORDER BY n`, sessionId)
      return rows.map(({ body }) => JSON.parse(String(body)) as Observation)
    },
    async unknowns({ session_id, status }) {
      const where = joinConditions(
        equals('s.session_id', session_id),
        equals('u.status', status),
        readableCondition('unknowns', 'u'),
      )
      return all(`SELECT ${UNKNOWN_COLUMNS} ${where.text} ORDER BY u.n`, ...where.values).map(unknownFromRow)
    },
    async selections() {
      const rows = all(`SELECT scope, model FROM selections WHERE ${readableCondition('selections')} ORDER BY scope`)
      return rows.map(({ scope, model }) => ({ scope: String(scope), model: String(model) }))
    },
    async spend(from, to) {
      return all(SPEND_QUERY, from, to).map(spendFromRow)
    },
    async schedules() {
      return all(`SELECT * FROM schedules WHERE ${readableCondition('schedules')} ORDER BY n`).map(scheduleFromRow)
    },
    async marks() {
      return all(`SELECT * FROM marks WHERE ${readableCondition('marks')} ORDER BY schedule_id`).map(markFromRow)
    },
    async approval(id) {
      const row = readOne('approvals', `SELECT ${APPROVAL_COLUMNS} WHERE a.id = ?`, id)
      return row && approvalFromRow(row)
    },
    async approvals({ session_id, status, limit }) {
      const where = joinConditions(
        equals('s.session_id', session_id),
        equals('a.status', status),
        readableCondition('approvals', 'a'),
      )
      return all(
        `SELECT ${APPROVAL_COLUMNS} ${where.text} ORDER BY a.status = 'open' DESC, a.n DESC LIMIT ?`,
        ...where.values,
        limit,
      ).map(approvalFromRow)
    },
    async grants({ tool, now }) {
      return all(
        `SELECT * FROM grants WHERE (?1 IS NULL OR tool = ?1) AND (expires_at IS NULL OR expires_at > ?2)
         AND ${readableCondition('grants')} ORDER BY n`,
        tool ?? null,
        now,
      ).map(grantFromRow)
    },
    async label(of) {
      return all('SELECT * FROM labels WHERE "of" = ?', of).map(labelFromRow)[0]
    },
    async labels(prefix) {
      return all('SELECT * FROM labels WHERE substr("of", 1, ?) = ? ORDER BY "of"', prefix.length, prefix).map(
        (row) => ({ of: String(row.of), label: labelFromRow(row) }),
      )
    },
    async audit(from, { limit }) {
      const [last] = all("SELECT seq FROM sqlite_sequence WHERE name = 'audit'")
      const links = all('SELECT * FROM audit WHERE n >= ? ORDER BY n LIMIT ?', from, limit).map(auditLinkFromRow)
      return { links, last: Number(last?.seq ?? 0) }
    },
    async facts({ agent_id, over = false, now, limit }) {
      const known = "f.status = 'known' AND (f.expires_at IS NULL OR f.expires_at > ?2)"
      return all(
        `SELECT f.* FROM facts f WHERE (?1 IS NULL OR f.agent_id = ?1) AND (?3 OR ${known})
          AND ${readableCondition('facts', 'f')}
         ORDER BY f.n DESC LIMIT ?4`,
        agent_id ?? null,
        now,
        over ? 1 : 0,
        limit,
      ).map(factFromRow)
    },
    async recallFacts({ agent_id, text, now, limit }) {
      const match = buildMatchQuery({ text })
      return match === undefined ? [] : all(RECALL_QUERY, match, agent_id ?? null, now, limit).map(factFromRow)
    },
    async document(kernelId, name) {
      const row = readOne('documents', LATEST_VERSION, kernelId, name)
      return row && documentFromRow(row)
    },
    async documentVersion(kernelId, name, version) {
      const condition = 'kernel_id = ? AND name = ? AND version = ?'
      const select = `SELECT ${VERSION_COLUMNS}, text FROM documents WHERE ${condition}`
      const row = readOne('documents', select, kernelId, name, version)
      return row && documentFromRow(row)
    },
    async documentVersions({ kernel_id, name, limit }) {
      return all(
        `SELECT ${VERSION_COLUMNS} FROM documents WHERE kernel_id = ? AND name = ? AND ${readableCondition('documents')}
         ORDER BY version DESC LIMIT ?`,
        kernel_id,
        name,
        limit,
      ).map(versionFromRow)
    },
    async projection(kernelId, name) {
      const [row] = all('SELECT text FROM projections WHERE kernel_id = ? AND name = ?', kernelId, name)
      return row && String(row.text)
    },
    async outbox({ channel, status, limit }) {
      const matches = '(?1 IS NULL OR channel = ?1) AND (?2 IS NULL OR status = ?2)'
      const condition = `${matches} AND ${readableCondition('outbox')}`
      return all(
        `SELECT * FROM outbox WHERE ${condition} ORDER BY n DESC LIMIT ?3`,
        channel ?? null,
        status ?? null,
        limit,
      ).map(postedFromRow)
    },
    async dueMessages(now) {
      return all(DUE_MESSAGES, now).map(postedFromRow)
    },
    async nextMessageDue(after) {
      const condition = `status = 'pending' AND due > ? AND ${readableCondition('outbox')}`
      const [first] = all(`SELECT due FROM outbox WHERE ${condition} ORDER BY due LIMIT 1`, after)
      return first && Number(first.due)
    },
    async deliveries() {
      return all(DELIVERIES).map(deliveriesFromRow)
    },
    async workers(now) {
      return all(
        `SELECT epoch, name, lease_until FROM workers WHERE left_at IS NULL AND lease_until > ?
          AND ${readableCondition('workers')}
         ORDER BY epoch`,
        now,
      ).map((row) => ({
        epoch: Number(row.epoch),
        name: String(row.name),
        lease_until: iso(Number(row.lease_until)),
      }))
    },
    async nextTimer() {
      // ORDER BY with LIMIT uses the index; min() would read every row.
      const waiting = `status = 'waiting' AND due IS NOT NULL AND ${readableCondition('dispatches')}`
      const openApprovals = `status = 'open' AND ${readableCondition('approvals')}`
      const earliest = [
        ...all(`SELECT due FROM dispatches WHERE ${waiting} ORDER BY due LIMIT 1`),
        ...all(`SELECT expires_at AS due FROM approvals WHERE ${openApprovals} ORDER BY expires_at LIMIT 1`),
      ]
      return earliest.length === 0 ? undefined : Math.min(...earliest.map(({ due }) => Number(due)))
    },
    async setAside({ limit }) {
      const rows = all('SELECT * FROM set_aside ORDER BY n DESC LIMIT ?', limit)
      return rows.map(({ n, source, why, body, at }) => ({
        ...{ n: Number(n), source: String(source), why: String(why), body: String(body), at: iso(Number(at)) },
      }))
    },
  }
}

/** Reads integers as bigints, which is slower; used if a row has integers beyond the safe range. */
function allWithBigInts(db: DatabaseSync, text: string, values: readonly (string | number | null)[]): SqlRow[] {
  const statement = db.prepare(text)
  statement.setReadBigInts(true)
  return (statement.all(...values) as SqlRow[]).map(convertBigInts)
}
