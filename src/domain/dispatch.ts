/** Dispatch: the durable unit of work. Nothing runs unless its dispatch was claimed (I1). */

import type { Json } from './json.ts'
import type { WorkspacePin } from './session.ts'
import type { FailureClass } from './stop-reason.ts'
import type { Wait } from './wait.ts'

export const DISPATCH_STATUSES = ['pending', 'running', 'waiting', 'done', 'failed', 'cancelled', 'dead'] as const
export type DispatchStatus = (typeof DISPATCH_STATUSES)[number]

/**
 * Allowed changes of status. To `pending`: from running by recovery or shutdown, from waiting by a wake-up, from failed
 * or dead by a manual retry.
 */
const MOVES: Readonly<Record<DispatchStatus, readonly DispatchStatus[]>> = {
  pending: ['running', 'cancelled'],
  running: ['done', 'failed', 'waiting', 'cancelled', 'dead', 'pending'],
  waiting: ['pending', 'cancelled'],
  done: [],
  failed: ['pending'],
  cancelled: [],
  dead: ['pending'],
}

export function canMove(from: DispatchStatus, to: DispatchStatus): boolean {
  return MOVES[from].includes(to)
}

const IN_FLIGHT: readonly DispatchStatus[] = ['pending', 'running', 'waiting']

export function isTerminal(status: DispatchStatus): boolean {
  return !IN_FLIGHT.includes(status)
}

/** A run that crashes the process this often without a new record becomes `dead`, so that it blocks no other work. */
export const MAX_CRASHES_WITHOUT_RECORD = 3

export function statusAfterCrash(crashes: number): 'pending' | 'dead' {
  return crashes >= MAX_CRASHES_WITHOUT_RECORD ? 'dead' : 'pending'
}

/**
 * Whether to stop after the current step or at once. A later request can change `after_step` to `immediate`, not back.
 */
export const CANCEL_MODES = ['after_step', 'immediate'] as const
export type CancelMode = (typeof CANCEL_MODES)[number]

/** One dispatch is one run, so the dispatch's id is also the run's id. */
export interface Dispatch {
  readonly dispatch_id: string
  readonly kernel_id: string
  readonly cycle_id: string | null
  readonly agent_id: string
  readonly session_id: string
  readonly prompt: string
  readonly priority: number
  readonly status: DispatchStatus
  readonly metadata: Readonly<Record<string, Json>>
  readonly lease_owner: number | null
  readonly lease_until: string | null
  /** Fencing token: every write of the run carries it; each claim raises it. */
  readonly token: number
  readonly attempts: number
  readonly crashes: number
  readonly wait: Wait | null
  readonly result: string | null
  readonly error: string | null
  readonly failure_class: FailureClass | null
  /** The requested cancellation, if any. */
  readonly cancel: CancelMode | null
  /** True: the dispatch is not claimed until it is resumed. */
  readonly paused: boolean
  /** The dispatch that created this dispatch; pausing or cancelling the parent includes its children. */
  readonly parent_id: string | null
  /** The id of the home whose workers may claim it, because it has the session's files; absent: any worker may. */
  readonly home?: string
  readonly created_at: string
  readonly updated_at: string
}

export interface NewDispatch {
  readonly dispatch_id: string
  readonly kernel_id: string
  readonly cycle_id?: string | undefined
  readonly agent_id: string
  readonly session_id: string
  readonly prompt: string
  readonly priority: number
  readonly parent_id?: string | undefined
  readonly metadata: Readonly<Record<string, Json>>
  /** A second enqueue with the same source and key adds nothing and returns the id of the first dispatch. */
  readonly source: string
  readonly key?: string | undefined
  /** The dispatch is not claimed before this instant (epoch ms). */
  readonly at?: number | undefined
  /** The folder for the session's files; ignored if the session already exists. */
  readonly workspace: string
  /** Which home has that folder; absent: all see it under the same path. A store of one home ignores it. */
  readonly pin?: WorkspacePin | undefined
}
