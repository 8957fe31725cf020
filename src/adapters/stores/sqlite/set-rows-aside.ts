/** Moves unreadable rows unchanged to the table `set_aside`; nothing is lost. */

import { hash } from 'node:crypto'
import { approvalAnswerObservation } from '../../../domain/approval.ts'
import { LOST_COMMITS } from '../../../domain/lost-commits.ts'
import { staysInTable, type UnreadableRow } from '../../../domain/unreadable-row.ts'
import { TABLES, type TableName } from '../rows/columns.ts'
import type { SqlRow } from '../rows/rows.ts'
import { closeApprovals, deliverObservation } from './inbox.ts'
import type { ApplyOp } from './op-context.ts'
import { badRowCondition } from './scan-rows.ts'
import type { Sql } from './sql.ts'
import { replaceUnreadableTodo } from './todos.ts'
import { wakeWaitingRun } from './unknown-outcomes.ts'

export const setRowsAside: ApplyOp<'set_aside'> = (sql, { rows, now }) => {
  // Sessions move first, because their other rows move with them; workers last, because dispatches refer to them.
  const order = ({ table }: UnreadableRow): number => (table === 'sessions' ? 0 : table === 'workers' ? 2 : 1)
  const before = countMoved(sql)
  for (const row of rows.toSorted((a, b) => order(a) - order(b))) if (!staysInTable(row)) moveRow({ sql, now }, row)
  return { moved: countMoved(sql) - before }
}

const countMoved = (sql: Sql): number => Number(sql('SELECT count(*) AS n FROM set_aside').get()?.n)

interface MoveContext {
  readonly sql: Sql
  readonly now: number
}

/** Selects rows of a table by an SQL condition with one value. */
interface RowSelection {
  readonly table: string
  readonly where: string
  readonly value: string | number
}

/** Moves a row, unless it is readable by now. */
function moveRow(context: MoveContext, row: UnreadableRow): void {
  if (row.table === 'sessions') moveSession(context, row.key, row.why)
  else if (row.table === 'journal') moveSelected(context, entryWithoutSession(Number(row.key)), row.why)
  else moveFrom(context, row.table as TableName, row)
}

function moveFrom(context: MoveContext, table: TableName, { key, why }: UnreadableRow): void {
  const keyText = TABLES[table].key.map((column) => `"${column}"`).join(" || ' ' || ")
  const selection = { table, where: `${keyText} = ? AND ${badRowCondition(table)}`, value: key }
  const moveTable = MOVE_BY_TABLE[table] ?? moveSelected
  if (context.sql(`SELECT 1 FROM ${table} WHERE ${selection.where}`).get(key)) moveTable(context, selection, why)
}

function moveSelected(context: MoveContext, selection: RowSelection, why: string): void {
  copy(context, selection, why)
  remove(context, selection)
}

/**
 * Copies rows as JSON to `set_aside`. SQL does the copy, so that large integers stay exact. `more`: further JSON
 * fields.
 */
function copy({ sql, now }: MoveContext, { table, where, value }: RowSelection, why: string, more = ''): void {
  const columns = sql(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => `'${name}', ${table}."${name}"`)
  sql(
    `INSERT INTO set_aside (source, why, body, at)
     SELECT ?, ?, json_object(${columns.join(', ')}${more}), ? FROM ${table} WHERE ${where}`,
  ).run(table, why, now, value)
}

const remove = ({ sql }: MoveContext, { table, where, value }: RowSelection): void => {
  sql(`DELETE FROM ${table} WHERE ${where}`).run(value)
}

const entryWithoutSession = (n: number): RowSelection => ({
  ...{ table: 'journal', where: 'n = ? AND session NOT IN (SELECT n FROM sessions)', value: n },
})

/** Moves all rows of the session: with a part of its rows, the session would look complete but could not be resumed. */
function moveSession(context: MoveContext, session_id: string, why: string): void {
  const { sql } = context
  const n = Number(sql('SELECT n FROM sessions WHERE session_id = ?').get(session_id)?.n ?? Number.NaN)
  if (Number.isNaN(n)) return
  const belongsWhy = `it belongs to session ${session_id}, which was set aside: ${why}`
  const selectOfSession = (table: string): RowSelection => ({ table, where: 'session = ?', value: n })
  for (const table of ['approvals', 'unknowns', 'inbox', 'todos', 'todo_receipts'])
    moveSelected(context, selectOfSession(table), belongsWhy)
  moveDispatches(context, selectOfSession('dispatches'), belongsWhy)
  moveSelected(context, { table: 'grants', where: 'session_id = ?', value: session_id }, belongsWhy)
  const chain = sql(
    `WITH RECURSIVE entry (n, prev) AS (SELECT n, prev FROM journal WHERE n = (SELECT last FROM sessions WHERE n = ?)
       UNION ALL SELECT j.n, j.prev FROM journal j JOIN entry e ON j.n = e.prev AND j.n < e.n) SELECT n FROM entry`,
  ).all(n)
  moveSelected(context, { table: 'sessions', where: 'n = ?', value: n }, why)
  // The journal moves after the session, because a trigger protects the journal of an existing session.
  moveSelected(context, selectOfSession('journal'), belongsWhy)
  for (const entry of chain) moveSelected(context, entryWithoutSession(Number(entry.n)), belongsWhy)
}

/** Moves dispatches and detaches their child dispatches; the copied JSON lists the children. */
function moveDispatches(context: MoveContext, selection: RowSelection, why: string): void {
  const children = '(SELECT json_group_array(c.dispatch_id) FROM dispatches c WHERE c.parent = dispatches.n)'
  const { sql } = context
  copy(context, selection, why, `, 'children', ${children}`)
  sql(`UPDATE dispatches SET parent = NULL WHERE parent IN (SELECT n FROM dispatches WHERE ${selection.where})`).run(
    selection.value,
  )
  remove(context, selection)
}

/** Moves a dispatch, which ends its run: approvals are closed, unless another dispatch of the session is in flight. */
function moveDispatch(context: MoveContext, selection: RowSelection, why: string): void {
  const { sql, now } = context
  const session = Number(sql(`SELECT session FROM dispatches WHERE ${selection.where}`).get(selection.value)?.session)
  moveDispatches(context, selection, why)
  const inFlight = sql("SELECT 1 FROM dispatches WHERE session = ? AND status IN ('pending', 'running', 'waiting')")
  if (!inFlight.get(session))
    closeApprovals(sql, session, 'the run ended: it was set aside, because its row cannot be read', now)
}

type TableMover = (context: MoveContext, selection: RowSelection, why: string) => void

/** How rows are moved from tables in which a moved row needs a safe replacement or a follow-up. */
const MOVE_BY_TABLE: Partial<Record<TableName, TableMover>> = {
  dispatches: moveDispatch,
  /** Returns the worker's running dispatches to the queue. */
  workers(context, selection, why) {
    const { sql, now } = context
    sql(
      `UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ?
       WHERE status = 'running' AND epoch IN (SELECT epoch FROM workers WHERE ${selection.where})`,
    ).run(now, selection.value)
    moveSelected(context, selection, why)
  },
  tally(context, selection, why) {
    moveSelected(context, selection, why)
    context
      .sql('INSERT INTO tally SELECT ?1, count(*) FROM dispatches WHERE status = ?1 HAVING count(*) > 0')
      .run(selection.value)
  },
  /** Wakes the run that waits for the unknown outcome; the run records the outcome again. */
  unknowns(context, selection, why) {
    const row = context
      .sql(`SELECT id, dispatch_id FROM unknowns WHERE ${selection.where}`)
      .get(selection.value) as SqlRow
    moveSelected(context, selection, why)
    wakeWaitingRun(context.sql, { id: String(row.id), dispatch_id: String(row.dispatch_id) }, context.now)
  },
  /** Tells the session that the approval expired, so that a waiting run asks again. */
  approvals(context, selection, why) {
    const { sql, now } = context
    const { id, tool, session, status } = sql(
      `SELECT id, tool, session, status FROM approvals WHERE ${selection.where}`,
    ).get(selection.value) as SqlRow
    moveSelected(context, selection, why)
    const isOver = ['allowed', 'denied', 'expired'].includes(String(status))
    if (isOver || !sql('SELECT 1 FROM sessions WHERE n = ?').get(Number(session))) return
    const expired = approvalAnswerObservation(
      { id: String(id), tool: String(tool) },
      'expired',
      'the stored approval could not be read',
      now,
    )
    deliverObservation(sql, Number(session), expired, null, now)
  },
  /**
   * Replaces the setting by an empty object, with which a paused kernel stays paused and nothing counts as approved.
   */
  settings(context, selection, why) {
    moveSelected(context, selection, why)
    if (selection.value !== LOST_COMMITS) context.sql("INSERT INTO settings VALUES (?, '{}')").run(selection.value)
  },
  /** Replaces the label by the strictest one: a session without a label row would count as trusted (I12). */
  labels(context, selection, why) {
    moveSelected(context, selection, why)
    context.sql("INSERT INTO labels VALUES (?, 'untrusted', 1)").run(selection.value)
  },
  todos(context, selection, why) {
    const row = context.sql(`SELECT n, session, code FROM todos WHERE ${selection.where}`).get(selection.value)
    moveSelected(context, selection, why)
    if (row) replaceUnreadableTodo(context.sql, row as SqlRow, context.now)
  },
  facts(context, selection, why) {
    context
      .sql(`DELETE FROM facts_words WHERE rowid IN (SELECT n FROM facts WHERE ${selection.where})`)
      .run(selection.value)
    moveSelected(context, selection, why)
  },
  documents: moveVersion,
}

/** If the moved version was the latest, adds its text as a new version, so that no older text becomes current. */
function moveVersion(context: MoveContext, selection: RowSelection, why: string): void {
  const { sql, now } = context
  const row = sql(
    `SELECT kernel_id, name, text, NOT EXISTS (SELECT 1 FROM documents d WHERE d.kernel_id = documents.kernel_id
       AND d.name = documents.name AND d.version > documents.version) AS is_latest FROM documents
         WHERE ${selection.where}`,
  ).get(selection.value) as SqlRow
  moveSelected(context, selection, why)
  if (row.is_latest !== 1) return
  const text = String(row.text)
  sql(
    `INSERT INTO documents (kernel_id, name, version, sha256, bytes, author, reason, ts, text)
     SELECT ?1, ?2, coalesce(max(version), 0) + 1, ?3, ?4, 'system', ?5, ?6, ?7 FROM documents
     WHERE kernel_id = ?1 AND name = ?2 AND version < ${Number.MAX_SAFE_INTEGER}`,
  ).run(
    ...[String(row.kernel_id), String(row.name), hash('sha256', text), Buffer.byteLength(text)],
    ...[`text of a version that was set aside: ${why}`, now, text],
  )
}
