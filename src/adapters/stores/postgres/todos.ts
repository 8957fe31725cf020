/** Operations on todos, undos and unknown outcomes in PostgreSQL. */

import { MAX_TODO_ATTEMPTS, parseTodoCode, type Todo } from '../../../domain/todo.ts'
import { applyTodoDelta, writeReceipt } from '../../../domain/todo-delta.ts'
import type { UnknownOutcome } from '../../../domain/unknown-outcome.ts'
import type { Wait } from '../../../domain/wait.ts'
import { iso } from '../../../ports/clock.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { receiptFromRow, type SqlRow, todoFromRow, UNKNOWN_COLUMNS, unknownFromRow } from '../rows/rows.ts'
import { withEnd, withStop } from '../rows/undo-shape.ts'
import { ensureReadableInBatch } from '../rows/unreadable-rows.ts'
import type { Queries } from './connection.ts'
import { wakeWaiting } from './create-dispatches.ts'
import { type ApplyPgOp, isReadable, lockSession, takeWideLock } from './op-context.ts'

const todos: ApplyPgOp<'todos'> = async (db, { op_id, session_id, actions, now }) => {
  const session = await lockSession(db, session_id)
  const first = await db.get('SELECT * FROM todo_receipts WHERE op_id = $1', op_id)
  if (first) return receiptFromRow(ensureReadableInBatch('todo_receipts', first))
  const rows = await db.all('SELECT * FROM todos WHERE session = $1 ORDER BY n', session)
  const adds = actions.some(({ kind }) => kind === 'add')
  const delta = { session_id, actions, at: iso(now), used: adds ? await highestCleared(db, session) : 0 }
  const outcome = applyTodoDelta(
    rows.map((row) => todoFromRow(ensureReadableInBatch('todos', row))),
    delta,
  )
  if (outcome.ok) {
    const kept = new Map(outcome.todos.map((todo) => [todo.code, todo]))
    for (const code of outcome.changed) {
      const todo = kept.get(code)
      if (todo) await writeTodo(db, session, todo)
      else await db.run('DELETE FROM todos WHERE session = $1 AND code = $2', session, code)
    }
  }
  const receipt = writeReceipt(op_id, delta, outcome)
  await db.run(
    'INSERT INTO todo_receipts (op_id, session, body, at) VALUES ($1, $2, $3, $4)',
    ...[op_id, session, JSON.stringify(receipt), now],
  )
  return receipt
}

/** The receipts keep the codes of todos that were removed, so that none is used again. */
async function highestCleared(db: Queries, session: number): Promise<number> {
  const rows = await db.all(`SELECT * FROM todo_receipts WHERE session = $1 AND strpos(body, '"clear"') > 0`, session)
  const codes = rows.flatMap((row) => receiptFromRow(ensureReadableInBatch('todo_receipts', row)).changed)
  return Math.max(0, ...codes.map((code) => parseTodoCode(code) ?? 0))
}

/** The row number is the order of the plan, so a changed todo keeps its row. */
async function writeTodo(db: Queries, session: number, todo: Todo): Promise<void> {
  await db.run(
    `INSERT INTO todos (session, code, status, body, updated_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (session, code) DO UPDATE SET status = excluded.status, body = excluded.body,
     updated_at = excluded.updated_at`,
    ...[session, todo.code, todo.status, JSON.stringify(todo), Date.parse(todo.updated_at)],
  )
}

/**
 * Puts a failed todo in the place of one that was set aside: its code must not be used again, and todos that depend on
 * it must not start.
 */
export async function replaceTodo(db: Queries, { n, session, code }: SqlRow, now: number): Promise<void> {
  const owner = await db.get('SELECT session_id FROM sessions WHERE n = $1', Number(session))
  if (parseTodoCode(String(code)) === undefined || !owner) return
  const at = iso(now)
  const todo: Todo = {
    ...{ code: String(code), session_id: String(owner.session_id), title: '(this todo could not be read)' },
    ...{ type: 'Task', status: 'FAILED', deps: [], assignee: null, parallel: false, skills: [], checks: [] },
    ...{ attempts: MAX_TODO_ATTEMPTS, notes: [], last_error: 'the stored todo could not be read; it was set aside' },
    ...{ baseline: null, evidence: null, proof: null, created_at: at, updated_at: at },
  }
  await db.run(
    'INSERT INTO todos (n, session, code, status, body, updated_at) VALUES ($1, $2, $3, $4, $5, $6)',
    ...[Number(n), Number(session), todo.code, todo.status, JSON.stringify(todo), now],
  )
}

const undo_begin: ApplyPgOp<'undo_begin'> = async (db, { undo, now }) => {
  const { id, target, ...body } = undo
  await takeWideLock(db)
  if (await db.get('SELECT id FROM undos WHERE id = $1', id)) throw new RefusedBatch('conflict', `undo ${id} is known`)
  await db.run(
    "INSERT INTO undos (id, target, status, body, created_at) VALUES ($1, $2, 'running', $3, $4)",
    ...[id, target, JSON.stringify(body), now],
  )
  return null
}

const undo_stop: ApplyPgOp<'undo_stop'> = async (db, op) => {
  const body = withStop(await lockRunningUndo(db, op.id), op)
  await db.run('UPDATE undos SET body = $1 WHERE id = $2', body, op.id)
  return null
}

const undo_end: ApplyPgOp<'undo_end'> = async (db, op) => {
  const { id, how, now } = op
  const body = withEnd(await lockRunningUndo(db, id), op)
  await db.run('UPDATE undos SET status = $1, body = $2, ended_at = $3 WHERE id = $4', how, body, now, id)
  return null
}

/** Contract: the body of the undo; throws `not_found` unless it is running. */
async function lockRunningUndo(db: Queries, id: string): Promise<string> {
  const row = await db.get("SELECT body FROM undos WHERE id = $1 AND status = 'running' FOR UPDATE", id)
  if (!row) throw new RefusedBatch('not_found', `no unfinished undo ${id}`)
  return String(row.body)
}

const unknown: ApplyPgOp<'unknown'> = async (db, { unknown: outcome }) => {
  const session = await lockSession(db, outcome.session_id)
  await db.run(
    `INSERT INTO unknowns (id, session, dispatch_id, tool, args, reach, started_at, output_so_far, status, resolution)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO UPDATE
       SET status = excluded.status, resolution = excluded.resolution`,
    ...[outcome.id, session, outcome.dispatch_id, outcome.tool, JSON.stringify(outcome.args), outcome.reach],
    ...[outcome.started_at, outcome.output_so_far, outcome.status, outcome.resolution],
  )
  return null
}

const resolve: ApplyPgOp<'resolve'> = async (db, op) => {
  // Locks the session first: a run that is about to wait for this outcome then sees the resolution, or is woken.
  await db.all(
    'SELECT n FROM sessions WHERE n = (SELECT session FROM unknowns WHERE id = $1) FOR NO KEY UPDATE',
    op.unknown_id,
  )
  const row = await db.get(`SELECT ${UNKNOWN_COLUMNS} WHERE u.id = $1 FOR NO KEY UPDATE OF u`, op.unknown_id)
  if (!row) throw new RefusedBatch('not_found', `there is no unknown outcome with the id ${op.unknown_id}`)
  const found = unknownFromRow(ensureReadableInBatch('unknowns', row))
  if (found.status === 'resolved')
    throw new RefusedBatch('conflict', `${op.unknown_id} is already resolved as ${found.resolution}`)
  await db.run("UPDATE unknowns SET status = 'resolved', resolution = $1 WHERE id = $2", op.as, op.unknown_id)
  await wakeRunWaitingFor(db, found, op.now)
  return { unknown: { ...found, status: 'resolved', resolution: op.as } }
}

/** Wakes the run that waits for the resolution, if any. */
export async function wakeRunWaitingFor(
  db: Queries,
  { id, dispatch_id }: Pick<UnknownOutcome, 'id' | 'dispatch_id'>,
  now: number,
): Promise<void> {
  const waiting = await db.get("SELECT * FROM dispatches WHERE dispatch_id = $1 AND status = 'waiting'", dispatch_id)
  if (!waiting || !isReadable('dispatches', waiting)) return
  const wait = JSON.parse(String(waiting.wait)) as Wait
  if (wait.kind === 'unknown' && wait.unknown_id === id) await wakeWaiting(db, Number(waiting.n), now)
}

export const todoOps = { todos, undo_begin, undo_stop, undo_end, unknown, resolve }
