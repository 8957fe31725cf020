/** What the end of a dispatch means for its family in PostgreSQL: its result goes to its parent. */

import { type Dispatch, type DispatchStatus, isTerminal } from '../../../domain/dispatch.ts'
import { agentResult, type ChildReport } from '../../../domain/sub-agent.ts'
import type { Queries } from './connection.ts'
import { deliverToInbox } from './inbox.ts'

/** Whether a run spawned the dispatch with this metadata; false for metadata that cannot be read. */
export function isSpawnedBy(metadata: unknown): boolean {
  try {
    const { spawned_by } = JSON.parse(String(metadata))
    return typeof spawned_by === 'object' && spawned_by !== null && !Array.isArray(spawned_by)
  } catch {
    return false
  }
}

/**
 * Delivers the result of a sub-agent that has ended; does nothing for other dispatches. Call it after its status was
 * written.
 */
export async function deliverResult(
  db: Queries,
  dispatch: number,
  report: ChildReport | undefined,
  now: number,
): Promise<void> {
  const child = await db.get(
    `SELECT d.dispatch_id, d.agent_id, d.status, d.result, d.error, d.attempts, d.metadata,
       p.session AS parent_session, p.n AS parent
     FROM dispatches d JOIN dispatches p ON p.n = d.parent WHERE d.n = $1`,
    dispatch,
  )
  if (!child || !isSpawnedBy(child.metadata)) return
  const { parent_session, parent, metadata, ...ended } = child
  // The session of the parent is locked first: then its run can neither park nor end meanwhile.
  await db.all('SELECT 1 FROM sessions WHERE n = $1 FOR NO KEY UPDATE', Number(parent_session))
  const owner = await db.get('SELECT status FROM dispatches WHERE n = $1', Number(parent))
  const isLate = isTerminal(String(owner?.status) as DispatchStatus)
  const row = { ...ended, metadata: JSON.parse(String(metadata)) } as unknown as Dispatch
  await deliverToInbox(db, Number(parent_session), agentResult(row, report, { isLate, now }), null, now)
}
