/** Session: one durable conversation of an agent, strictly serial, with one writer. */

import type { DispatchStatus } from './dispatch.ts'

type SessionStatus = 'idle' | 'active' | 'waiting' | 'archived'

export interface Session {
  readonly session_id: string
  readonly agent_id: string
  readonly workspace: string
  readonly status: SessionStatus
  readonly created_at: string
}

/**
 * Computed, never stored, so that the status cannot contradict the queue. At most one dispatch of a session is in
 * flight.
 */
export function sessionStatus(archived: boolean, inFlight: DispatchStatus | null): SessionStatus {
  if (archived) return 'archived'
  if (inFlight === null) return 'idle'
  return inFlight === 'waiting' ? 'waiting' : 'active'
}
