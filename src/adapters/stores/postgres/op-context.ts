/**
 * What functions that apply an op in PostgreSQL share: statements of the group's transaction, and locks.
 *
 * Transactions are READ COMMITTED: each statement sees what was committed before it. So a row is locked before its
 * state is looked at, a session before its dispatch, and each change of a dispatch names the status that it starts
 * from. Ops that span many rows (recover, promote, cancel, pause, leave, prune, set_aside, cycle_begin, undo_begin,
 * documents and facts) take one advisory lock instead, until their transaction ends. A deadlock with an op of another
 * process repeats the group.
 */

import type { Op, OpResults } from '../../../ports/store.ts'
import type { EncodedOp } from '../encode-batch.ts'
import type { HeldDispatch } from '../held-dispatch.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { TableName } from '../rows/columns.ts'
import type { SqlRow } from '../rows/rows.ts'
import { describeUnreadableRow } from '../rows/unreadable-rows.ts'
import type { Queries } from './connection.ts'

export interface OpContext extends Queries {
  /** Contract: the instant that counts for leases: the database's, or in tests the given one. */
  leaseNow(given: number): Promise<number>
  /** Contract: the key with which audit entries are hashed. */
  auditKey(): string | undefined
}

export type ApplyPgOp<K extends Op['op']> = (
  db: OpContext,
  op: Extract<EncodedOp, { op: K }>,
  held: HeldDispatch | undefined,
) => Promise<OpResults[K]>

/**
 * The last statements of a part of a group, which the commit is sent together with. Contract: if another part fails
 * before the commit waits for them, their failure is not reported as unhandled.
 */
export function sendLast(statements: Promise<unknown>): Promise<unknown> {
  statements.catch(() => undefined)
  return statements
}

/** Numbers of advisory locks; the first number names this program. */
const PROGRAM = 84_737
const WIDE_OPS = 1
const SPENDING = 2

export const takeWideLock = (db: Queries): Promise<SqlRow[]> =>
  db.all(`SELECT pg_advisory_xact_lock(${PROGRAM}, ${WIDE_OPS})`)

/** Taken at the end of a group, before the head of the audit log is locked; held until the group is committed. */
export const takeSpendLock = (db: Queries): Promise<SqlRow[]> =>
  db.all(`SELECT pg_advisory_xact_lock(${PROGRAM}, ${SPENDING})`)

/** SQL that is true if this transaction is the only one that claims in the workspace. */
export const tryWorkspaceLock = (workspace: string): string =>
  `pg_try_advisory_xact_lock(${PROGRAM + 1}, hashtext(${workspace}))`

/** Contract: the number of the session, which stays locked until the transaction ends. */
export async function lockSession(db: Queries, session_id: string): Promise<number> {
  const row = await db.get('SELECT n FROM sessions WHERE session_id = $1 FOR NO KEY UPDATE', session_id)
  if (!row) throw new RefusedBatch('not_found', `unknown session ${session_id}`)
  return Number(row.n)
}

/** Contract: locks the sessions of the dispatches, then the dispatches; returns these as they are now, by number. */
export async function lockDispatches(db: Queries, numbers: readonly number[]): Promise<SqlRow[]> {
  if (numbers.length === 0) return []
  await db.all(
    `SELECT n FROM sessions WHERE n IN (SELECT session FROM dispatches WHERE n = ANY ($1::bigint[]))
     ORDER BY n FOR NO KEY UPDATE`,
    numbers,
  )
  return db.all('SELECT * FROM dispatches WHERE n = ANY ($1::bigint[]) ORDER BY n FOR NO KEY UPDATE', numbers)
}

export const isReadable = (table: TableName, row: SqlRow): boolean => describeUnreadableRow(table, row) === undefined

export const IN_FLIGHT = "('pending', 'running', 'waiting')"
