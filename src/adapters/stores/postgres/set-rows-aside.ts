/** Moves unreadable rows unchanged to the table `set_aside` in PostgreSQL; nothing is lost. */

import { hash } from 'node:crypto'
import { approvalAnswerObservation } from '../../../domain/approval.ts'
import { LOST_COMMITS } from '../../../domain/lost-commits.ts'
import { staysInTable, type UnreadableRow } from '../../../domain/unreadable-row.ts'
import { TABLES, type TableName } from '../rows/columns.ts'
import type { SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'
import { closeAllApprovals, deliverToInbox } from './inbox.ts'
import { type ApplyPgOp, IN_FLIGHT, isReadable, takeWideLock } from './op-context.ts'
import { ENTRIES_OF } from './retention.ts'
import { replaceTodo, wakeRunWaitingFor } from './todos.ts'

const set_aside: ApplyPgOp<'set_aside'> = async (db, { rows, now }) => {
  await takeWideLock(db)
  // Sessions move first, because their other rows move with them; workers last, because dispatches refer to them.
  const order = ({ table }: UnreadableRow): number => (table === 'sessions' ? 0 : table === 'workers' ? 2 : 1)
  const before = await countMoved(db)
  for (const row of rows.toSorted((a, b) => order(a) - order(b)))
    if (!staysInTable(row)) await moveRow({ db, now }, row)
  return { moved: (await countMoved(db)) - before }
}

export const setAsideOps = { set_aside }

const countMoved = async (db: Queries): Promise<number> =>
  Number((await db.get('SELECT count(*) AS n FROM set_aside'))?.n)

interface MoveContext {
  readonly db: Queries
  readonly now: number
}

/** Selects rows of a table by an SQL condition with one value, `$1`. */
interface RowSelection {
  readonly table: string
  readonly where: string
  readonly value: string | number
}

/** Moves a row, unless it is readable by now. */
async function moveRow(context: MoveContext, row: UnreadableRow): Promise<void> {
  if (row.table === 'sessions') await moveSession(context, row.key, row.why)
  else if (row.table === 'journal') await moveSelected(context, entryWithoutSession(Number(row.key)), row.why)
  else if (row.table in TABLES) await moveFrom(context, row.table as TableName, row)
}

async function moveFrom(context: MoveContext, table: TableName, { key, why }: UnreadableRow): Promise<void> {
  const keyText = TABLES[table].key.map((column) => `"${column}"::text`).join(" || ' ' || ")
  const selection = { table, where: `${keyText} = $1`, value: key }
  const row = await context.db.get(`SELECT * FROM ${table} WHERE ${selection.where}`, key)
  if (!row || !(await isBad(context.db, table, row))) return
  const moveTable = MOVE_BY_TABLE[table] ?? moveSelected
  await moveTable(context, selection, why, row)
}

/** Foreign keys keep rows from losing their session; counts can be wrong. */
async function isBad(db: Queries, table: TableName, row: SqlRow): Promise<boolean> {
  if (!isReadable(table, row)) return true
  if (table !== 'tally') return false
  const counted = await db.get('SELECT count(*) AS n FROM dispatches WHERE status = $1', String(row.status))
  return counted?.n !== row.n
}

async function moveSelected(context: MoveContext, selection: RowSelection, why: string): Promise<void> {
  await copy(context, selection, why, 'to_json(t)')
  await remove(context, selection)
}

/** Copies rows as JSON to `set_aside`. SQL does the copy, so that large integers stay exact. */
async function copy({ db, now }: MoveContext, selection: RowSelection, why: string, json: string): Promise<void> {
  const { table, where, value } = selection
  await db.run(
    `INSERT INTO set_aside (source, why, body, at) SELECT $2, $3, (${json})::text, $4 FROM ${table} t WHERE ${where}`,
    ...[value, table, why, now],
  )
}

const remove = ({ db }: MoveContext, { table, where, value }: RowSelection): Promise<number> =>
  db.run(`DELETE FROM ${table} WHERE ${where}`, value)

const entryWithoutSession = (n: number): RowSelection => ({
  ...{ table: 'journal', where: 'n = $1 AND session NOT IN (SELECT n FROM sessions)', value: n },
})

/** Moves all rows of the session: with a part of its rows, the session would look complete but could not be resumed. */
async function moveSession(context: MoveContext, session_id: string, why: string): Promise<void> {
  const { db } = context
  const session = await db.get('SELECT n, last FROM sessions WHERE session_id = $1 FOR UPDATE', session_id)
  if (!session) return
  const n = Number(session.n)
  const belongsWhy = `it belongs to session ${session_id}, which was set aside: ${why}`
  const selectOfSession = (table: string): RowSelection => ({ table, where: 'session = $1', value: n })
  for (const table of ['approvals', 'unknowns', 'inbox', 'todos', 'todo_receipts'])
    await moveSelected(context, selectOfSession(table), belongsWhy)
  await moveDispatches(context, selectOfSession('dispatches'), belongsWhy)
  await moveSelected(context, { table: 'grants', where: 'session_id = $1', value: session_id }, belongsWhy)
  const chain = session.last === null ? [] : await db.all(ENTRIES_OF, String(session.last))
  await moveSelected(context, { table: 'sessions', where: 'n = $1', value: n }, why)
  // The journal moves after the session, because a trigger protects the journal of an existing session.
  await moveSelected(context, selectOfSession('journal'), belongsWhy)
  for (const entry of chain) await moveSelected(context, entryWithoutSession(Number(entry.n)), belongsWhy)
}

/** Moves dispatches and detaches their child dispatches; the copied JSON lists the children. */
async function moveDispatches(context: MoveContext, selection: RowSelection, why: string): Promise<void> {
  const children = "(SELECT coalesce(json_agg(c.dispatch_id), '[]') FROM dispatches c WHERE c.parent = t.n)"
  await copy(context, selection, why, `to_jsonb(t) || jsonb_build_object('children', ${children})`)
  await context.db.run(
    `UPDATE dispatches SET parent = NULL WHERE parent IN (SELECT n FROM dispatches WHERE ${selection.where})`,
    selection.value,
  )
  await remove(context, selection)
}

type TableMover = (context: MoveContext, selection: RowSelection, why: string, row: SqlRow) => Promise<void>

/** How rows are moved from tables in which a moved row needs a safe replacement or a follow-up. */
const MOVE_BY_TABLE: Partial<Record<TableName, TableMover>> = {
  /** Ends the run: approvals are closed, unless another dispatch of the session is in flight. */
  async dispatches(context, selection, why, { session }) {
    const { db, now } = context
    await moveDispatches(context, selection, why)
    const inFlight = `SELECT 1 FROM dispatches WHERE session = $1 AND status IN ${IN_FLIGHT}`
    const reason = 'the run ended: it was set aside, because its row cannot be read'
    if (!(await db.get(inFlight, Number(session)))) await closeAllApprovals(db, Number(session), reason, now)
  },
  /** Returns the worker's running dispatches to the queue. Finished dispatches may refer to it, too. */
  async workers(context, selection, why, { epoch }) {
    await context.db.run(
      "UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = $1 WHERE status = 'running' AND epoch = $2",
      ...[context.now, String(epoch)],
    )
    await moveSelected(context, selection, why)
  },
  async tally(context, selection, why) {
    await copy(context, selection, why, 'to_json(t)')
    await context.db.run('DELETE FROM tally_shards WHERE status = $1', selection.value)
    await context.db.run(
      `INSERT INTO tally_shards (status, shard, n)
       SELECT $1, 0, count(*) FROM dispatches WHERE status = $1 HAVING count(*) > 0`,
      selection.value,
    )
  },
  /** Wakes the run that waits for the unknown outcome; the run records the outcome again. */
  async unknowns(context, selection, why, { id, dispatch_id }) {
    await moveSelected(context, selection, why)
    await wakeRunWaitingFor(context.db, { id: String(id), dispatch_id: String(dispatch_id) }, context.now)
  },
  /** Tells the session that the approval expired, so that a waiting run asks again. */
  async approvals(context, selection, why, { id, tool, session, status }) {
    const { db, now } = context
    await moveSelected(context, selection, why)
    if (['allowed', 'denied', 'expired'].includes(String(status))) return
    const reason = 'the stored approval could not be read'
    const expired = approvalAnswerObservation({ id: String(id), tool: String(tool) }, 'expired', reason, now)
    await deliverToInbox(db, Number(session), expired, null, now)
  },
  /** Replaces it by an empty object, with which a paused kernel stays paused and nothing counts as approved. */
  async settings(context, selection, why) {
    await moveSelected(context, selection, why)
    if (selection.value !== LOST_COMMITS)
      await context.db.run("INSERT INTO settings (name, value) VALUES ($1, '{}')", selection.value)
  },
  /** Replaces the label by the strictest one: a session without a label row would count as trusted (I12). */
  async labels(context, selection, why) {
    await moveSelected(context, selection, why)
    await context.db.run(`INSERT INTO labels ("of", trust, private) VALUES ($1, 'untrusted', 1)`, selection.value)
  },
  async todos(context, selection, why, row) {
    await moveSelected(context, selection, why)
    await replaceTodo(context.db, row, context.now)
  },
  documents: moveVersion,
}

/** If the moved version was the latest, adds its text as a new version, so that no older text becomes current. */
async function moveVersion({ db, now }: MoveContext, selection: RowSelection, why: string, row: SqlRow): Promise<void> {
  const [kernel_id, name, text] = [String(row.kernel_id), String(row.name), String(row.text)]
  const newer = await db.get(
    'SELECT 1 FROM documents WHERE kernel_id = $1 AND name = $2 AND version > $3 LIMIT 1',
    ...[kernel_id, name, String(row.version)],
  )
  await moveSelected({ db, now }, selection, why)
  if (newer) return
  await db.run(
    `INSERT INTO documents (kernel_id, name, version, sha256, bytes, author, reason, ts, text)
     SELECT $1, $2, coalesce(max(version), 0) + 1, $3, $4, 'system', $5, $6, $7 FROM documents
     WHERE kernel_id = $1 AND name = $2 AND version < ${Number.MAX_SAFE_INTEGER}`,
    ...[kernel_id, name, hash('sha256', text), Buffer.byteLength(text)],
    ...[`text of a version that was set aside: ${why}`, now, text],
  )
}
