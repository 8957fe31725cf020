/** What the end of a dispatch means for its family: its result goes to its parent, and its sub-agents are cancelled. */

import { type Dispatch, type DispatchStatus, isTerminal } from '../../../domain/dispatch.ts'
import { agentResult, type ChildReport } from '../../../domain/sub-agent.ts'
import { deliverObservation } from './inbox.ts'
import type { Sql } from './sql.ts'

/** SQL condition for a dispatch that a run spawned; false for metadata that cannot be read. */
export const isSpawned = (metadata: string): string =>
  `CASE WHEN json_valid(${metadata}) THEN json_type(${metadata}, '$.spawned_by') ELSE NULL END = 'object'`

/**
 * Delivers the result of a sub-agent that has ended; does nothing for other dispatches. Call it after its status was
 * written.
 */
export function deliverAgentResult(sql: Sql, dispatch: number, report: ChildReport | undefined, now: number): void {
  const child = sql(
    `SELECT d.dispatch_id, d.agent_id, d.status, d.result, d.error, d.attempts, d.metadata,
       p.session AS parent_session, p.status AS parent_status
     FROM dispatches d JOIN dispatches p ON p.n = d.parent
     WHERE d.n = ? AND ${isSpawned('d.metadata')}`,
  ).get(dispatch)
  if (!child) return
  const { parent_session, parent_status, metadata, ...ended } = child
  const isLate = isTerminal(String(parent_status) as DispatchStatus)
  const row = { ...ended, metadata: JSON.parse(String(metadata)) } as unknown as Dispatch
  deliverObservation(sql, Number(parent_session), agentResult(row, report, { isLate, now }), null, now)
}
