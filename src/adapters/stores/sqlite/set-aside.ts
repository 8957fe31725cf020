/** Rows that cannot be read are moved out of their tables, as they are; nothing of them is deleted. */

import { hash } from 'node:crypto'
import { answerObservation } from '../../../domain/approval.ts'
import { LOST_COMMITS } from '../../../domain/lost-commits.ts'
import { isNeverMoved, type UnreadableRow } from '../../../domain/unreadable.ts'
import type { Apply } from './apply.ts'
import { TABLES, type TableName } from './columns.ts'
import { closeApprovals, tell } from './inbox.ts'
import type { Sql } from './refused.ts'
import type { Row } from './rows.ts'
import { isBad } from './scan-rows.ts'
import { wakeWaiting } from './unknowns.ts'

export const setAside: Apply<'set_aside'> = (sql, { rows, now }) => {
  // Sessions first: what belongs to one goes with it. Workers last: dispatches refer to them.
  const order = ({ table }: UnreadableRow): number => (table === 'sessions' ? 0 : table === 'workers' ? 2 : 1)
  const before = movedSoFar(sql)
  for (const row of rows.toSorted((a, b) => order(a) - order(b))) if (!isNeverMoved(row)) moveRow({ sql, now }, row)
  return { moved: movedSoFar(sql) - before }
}

const movedSoFar = (sql: Sql): number => Number(sql('SELECT count(*) AS n FROM set_aside').get()?.n)

interface Mover {
  readonly sql: Sql
  readonly now: number
}

/** Which rows of a table, as an SQL condition with one value. */
interface Place {
  readonly table: string
  readonly where: string
  readonly value: string | number
}

/** A row that can be read by now stays where it is. */
function moveRow(mover: Mover, row: UnreadableRow): void {
  if (row.table === 'sessions') moveSession(mover, row.key, row.why)
  else if (row.table === 'journal') move(mover, entryWithoutSession(Number(row.key)), row.why)
  else moveFrom(mover, row.table as TableName, row)
}

function moveFrom(mover: Mover, table: TableName, { key, why }: UnreadableRow): void {
  const named = TABLES[table].key.map((column) => `"${column}"`).join(" || ' ' || ")
  const place = { table, where: `${named} = ? AND ${isBad(table)}`, value: key }
  const moving = MOVING[table] ?? move
  if (mover.sql(`SELECT 1 FROM ${table} WHERE ${place.where}`).get(key)) moving(mover, place, why)
}

function move(mover: Mover, place: Place, why: string): void {
  copy(mover, place, why)
  remove(mover, place)
}

/** In SQL, so that a number that JavaScript cannot hold stays what it is. `more`: what else its JSON says. */
function copy({ sql, now }: Mover, { table, where, value }: Place, why: string, more = ''): void {
  const columns = sql(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => `'${name}', ${table}."${name}"`)
  sql(
    `INSERT INTO set_aside (source, why, body, at)
     SELECT ?, ?, json_object(${columns.join(', ')}${more}), ? FROM ${table} WHERE ${where}`,
  ).run(table, why, now, value)
}

const remove = ({ sql }: Mover, { table, where, value }: Place): void => {
  sql(`DELETE FROM ${table} WHERE ${where}`).run(value)
}

const entryWithoutSession = (n: number): Place => ({
  ...{ table: 'journal', where: 'n = ? AND session NOT IN (SELECT n FROM sessions)', value: n },
})

/** With all that belongs to it: half of it could not be gone on with, and would be taken for the whole. */
function moveSession(mover: Mover, session_id: string, why: string): void {
  const { sql } = mover
  const n = Number(sql('SELECT n FROM sessions WHERE session_id = ?').get(session_id)?.n ?? Number.NaN)
  if (Number.isNaN(n)) return
  const belongs = `it belongs to session ${session_id}, which was set aside: ${why}`
  const its = (table: string): Place => ({ table, where: 'session = ?', value: n })
  for (const table of ['approvals', 'unknowns', 'inbox']) move(mover, its(table), belongs)
  moveDispatches(mover, its('dispatches'), belongs)
  move(mover, { table: 'grants', where: 'session_id = ?', value: session_id }, belongs)
  const chain = sql(
    `WITH RECURSIVE entry (n, prev) AS (SELECT n, prev FROM journal WHERE n = (SELECT last FROM sessions WHERE n = ?)
       UNION ALL SELECT j.n, j.prev FROM journal j JOIN entry e ON j.n = e.prev AND j.n < e.n) SELECT n FROM entry`,
  ).all(n)
  move(mover, { table: 'sessions', where: 'n = ?', value: n }, why)
  // Only now: the journal of a session that is there cannot be taken away.
  move(mover, its('journal'), belongs)
  for (const entry of chain) move(mover, entryWithoutSession(Number(entry.n)), belongs)
}

/** What was made for them is made for nobody from now on; the JSON says what that was. */
function moveDispatches(mover: Mover, place: Place, why: string): void {
  const children = '(SELECT json_group_array(c.dispatch_id) FROM dispatches c WHERE c.parent = dispatches.n)'
  const { sql } = mover
  copy(mover, place, why, `, 'children', ${children}`)
  sql(`UPDATE dispatches SET parent = NULL WHERE parent IN (SELECT n FROM dispatches WHERE ${place.where})`).run(
    place.value,
  )
  remove(mover, place)
}

/** A run that nobody can take up is over, whatever it was. */
function moveDispatch(mover: Mover, place: Place, why: string): void {
  const { sql, now } = mover
  const session = Number(sql(`SELECT session FROM dispatches WHERE ${place.where}`).get(place.value)?.session)
  moveDispatches(mover, place, why)
  const goesOn = sql("SELECT 1 FROM dispatches WHERE session = ? AND status IN ('pending', 'running', 'waiting')")
  if (!goesOn.get(session)) closeApprovals(sql, session, 'the run ended: set aside, because it cannot be read', now)
}

type Moving = (mover: Mover, place: Place, why: string) => void

/** Where the row is missed by something that goes on, it gets what is safe instead. */
const MOVING: Partial<Record<TableName, Moving>> = {
  dispatches: moveDispatch,
  /** What it held is given back, as if it had left. */
  workers(mover, place, why) {
    const { sql, now } = mover
    sql(
      `UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ?
       WHERE status = 'running' AND epoch IN (SELECT epoch FROM workers WHERE ${place.where})`,
    ).run(now, place.value)
    move(mover, place, why)
  },
  tally(mover, place, why) {
    move(mover, place, why)
    mover
      .sql('INSERT INTO tally SELECT ?1, count(*) FROM dispatches WHERE status = ?1 HAVING count(*) > 0')
      .run(place.value)
  },
  /** The run that waits for a word on it lists it anew. */
  unknowns(mover, place, why) {
    const row = mover.sql(`SELECT id, dispatch_id FROM unknowns WHERE ${place.where}`).get(place.value) as Row
    move(mover, place, why)
    wakeWaiting(mover.sql, { id: String(row.id), dispatch_id: String(row.dispatch_id) }, mover.now)
  },
  /** Nobody can answer it any more: whoever waits for it has to ask again. */
  approvals(mover, place, why) {
    const { sql, now } = mover
    const { id, tool, session, status } = sql(
      `SELECT id, tool, session, status FROM approvals WHERE ${place.where}`,
    ).get(place.value) as Row
    move(mover, place, why)
    const isOver = ['allowed', 'denied', 'expired'].includes(String(status))
    if (isOver || !sql('SELECT 1 FROM sessions WHERE n = ?').get(Number(session))) return
    const expired = answerObservation({ id: String(id), tool: String(tool) }, 'expired', 'it could not be read', now)
    tell(sql, Number(session), expired, null, now)
  },
  /** Set, to nothing: a kernel that was paused stays so, and nothing counts as approved. */
  settings(mover, place, why) {
    move(mover, place, why)
    if (place.value !== LOST_COMMITS) mover.sql("INSERT INTO settings VALUES (?, '{}')").run(place.value)
  },
  /** Without a row it would be as good as the owner's word (I12). */
  labels(mover, place, why) {
    move(mover, place, why)
    mover.sql("INSERT INTO labels VALUES (?, 'untrusted', 1)").run(place.value)
  },
  facts(mover, place, why) {
    mover.sql(`DELETE FROM facts_words WHERE rowid IN (SELECT n FROM facts WHERE ${place.where})`).run(place.value)
    move(mover, place, why)
  },
  documents: moveVersion,
}

/** The latest text of a document stays its latest: an older one must not take its place. */
function moveVersion(mover: Mover, place: Place, why: string): void {
  const { sql, now } = mover
  const row = sql(
    `SELECT kernel_id, name, text, NOT EXISTS (SELECT 1 FROM documents d WHERE d.kernel_id = documents.kernel_id
       AND d.name = documents.name AND d.version > documents.version) AS is_latest FROM documents WHERE ${place.where}`,
  ).get(place.value) as Row
  move(mover, place, why)
  if (row.is_latest !== 1) return
  const text = String(row.text)
  sql(
    `INSERT INTO documents (kernel_id, name, version, sha256, bytes, author, reason, ts, text)
     SELECT ?1, ?2, coalesce(max(version), 0) + 1, ?3, ?4, 'system', ?5, ?6, ?7 FROM documents
     WHERE kernel_id = ?1 AND name = ?2 AND version < ${Number.MAX_SAFE_INTEGER}`,
  ).run(
    ...[String(row.kernel_id), String(row.name), hash('sha256', text), Buffer.byteLength(text)],
    ...[`the text of a version that was set aside: ${why}`, now, text],
  )
}
