/** Session: one durable conversation of an agent, strictly serial, with one writer. */

import type { DispatchStatus } from './dispatch.ts'

type SessionStatus = 'idle' | 'active' | 'waiting' | 'archived'

/** On a store that several homes share: which of them has the files of a session. */
export interface WorkspacePin {
  /** The id of the home whose workers run the session; null: that of the first worker that claims it. */
  readonly home: string | null
  /** The workspace's path below its home; null: it is outside. */
  readonly folder: string | null
}

export interface Session {
  readonly session_id: string
  readonly agent_id: string
  readonly workspace: string
  /** The id of the home that has the workspace, if only one has it. */
  readonly home?: string
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
