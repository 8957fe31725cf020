/** Creates and wakes dispatches. */

import type { NewDispatch } from '../../../domain/dispatch.ts'
import type { Wait } from '../../../domain/wait.ts'
import type { OpResults } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { SqlRow } from '../rows/rows.ts'
import { type ApplyOp, findSessionNumber } from './op-context.ts'
import type { Sql } from './sql.ts'

export const enqueueDispatches: ApplyOp<'enqueue'> = (sql, op) =>
  op.dispatches.map((dispatch) => enqueueOne(sql, dispatch, op.now))

export const openSession: ApplyOp<'open_session'> = (sql, op) => {
  insertSession(sql, op, op.now)
  return null
}

function insertSession(
  sql: Sql,
  {
    session_id,
    kernel_id,
    agent_id,
    workspace,
    metadata,
  }: Pick<NewDispatch, 'session_id' | 'kernel_id' | 'agent_id' | 'workspace' | 'metadata'>,
  now: number,
): void {
  sql(
    'INSERT INTO sessions (session_id, kernel_id, agent_id, workspace, metadata, ' +
      'created_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id) DO NOTHING',
  ).run(session_id, kernel_id, agent_id, workspace, JSON.stringify(metadata), now)
}

function enqueueOne(sql: Sql, dispatch: NewDispatch, now: number): OpResults['enqueue'][number] {
  const existing =
    dispatch.key !== undefined &&
    sql(
      'SELECT d.dispatch_id, s.session_id FROM dispatches d JOIN ' +
        'sessions s ON s.n = d.session WHERE d.source = ? AND d.key = ?',
    ).get(dispatch.source, dispatch.key)
  if (existing)
    return { dispatch_id: String(existing.dispatch_id), session_id: String(existing.session_id), duplicate: true }
  insertSession(sql, dispatch, now)
  const session = findSessionNumber(sql, dispatch.session_id)
  const busy = sql(
    "SELECT dispatch_id FROM dispatches WHERE session = ? AND status IN ('pending', 'running', 'waiting')",
  ).get(session)
  if (busy)
    throw new RefusedBatch(
      'conflict',
      `session ${dispatch.session_id} is busy with dispatch ${busy.dispatch_id}; send it a message instead`,
    )
  const start: Wait | undefined =
    dispatch.at !== undefined && dispatch.at > now
      ? { kind: 'start', until: dispatch.at, reason: 'scheduled for later' }
      : undefined
  insertDispatch(sql, session, dispatch, start, now)
  return { dispatch_id: dispatch.dispatch_id, session_id: dispatch.session_id, duplicate: false }
}

/**
 * Creates a dispatch for a session that has unread input but no dispatch in flight, so that every message is processed.
 */
export function enqueueSuccessor(sql: Sql, session: number, dispatch_id: string, now: number): string {
  const { kernel_id, agent_id, metadata } = sql('SELECT kernel_id, agent_id, metadata FROM sessions WHERE n = ?').get(
    session,
  ) as SqlRow
  const successor = {
    dispatch_id,
    kernel_id: String(kernel_id),
    agent_id: String(agent_id),
    prompt: '',
    priority: 0,
    metadata: JSON.parse(String(metadata)),
    source: 'inbox',
  }
  sql('UPDATE sessions SET archived_at = NULL WHERE n = ? AND archived_at IS NOT NULL').run(session)
  insertDispatch(sql, session, successor, undefined, now)
  return dispatch_id
}

function insertDispatch(
  sql: Sql,
  session: number,
  dispatch: Omit<NewDispatch, 'session_id' | 'workspace'>,
  wait: Wait | undefined,
  now: number,
): void {
  // The aggregate max() returns one row even if there is no parent, so exactly one dispatch is inserted.
  sql(
    `INSERT INTO dispatches (dispatch_id, kernel_id, cycle_id, agent_id, session, prompt, priority, status, metadata,
      source, key, wait, due, created_at, updated_at, parent, paused)
     SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, max(n), coalesce(max(paused), 0) FROM dispatches
       WHERE dispatch_id = ?`,
  ).run(
    dispatch.dispatch_id,
    dispatch.kernel_id,
    dispatch.cycle_id ?? null,
    dispatch.agent_id,
    session,
    dispatch.prompt,
    dispatch.priority,
    wait ? 'waiting' : 'pending',
    JSON.stringify(dispatch.metadata),
    dispatch.source,
    dispatch.key ?? null,
    wait ? JSON.stringify(wait) : null,
    wait?.until ?? null,
    now,
    now,
    dispatch.parent_id ?? null,
  )
}

export function wakeDispatch(sql: Sql, dispatch: number, now: number): void {
  sql("UPDATE dispatches SET status = 'pending', wait = NULL, due = NULL, updated_at = ? WHERE n = ?").run(
    now,
    dispatch,
  )
}
