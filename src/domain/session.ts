/** Session: the durable thread of one topic, strictly serial, one writer. */

import type { DispatchStatus } from './dispatch.ts'

export type SessionStatus = 'idle' | 'active' | 'waiting' | 'archived'

export interface Session {
  readonly session_id: string
  readonly agent_id: string
  readonly workspace: string
  readonly status: SessionStatus
  readonly created_at: string
}

/** Derived, never stored: a session cannot disagree with its queue. At most one of its dispatches is in flight. */
export function sessionStatus(archived: boolean, inFlight: DispatchStatus | null): SessionStatus {
  if (archived) return 'archived'
  if (inFlight === null) return 'idle'
  return inFlight === 'waiting' ? 'waiting' : 'active'
}
