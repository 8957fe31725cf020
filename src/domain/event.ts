/**
 * Event: what observers of a run see. Events are computed from the run's records alone (event-fold.ts), so they are the
 * same live, from the journal and in a replay. A failing observer cannot fail the run (I9).
 */

import type { Payload } from './event-payload.ts'
import type { FailingPhase } from './journal-record.ts'
import type { Json } from './json.ts'

export type Phase = 'INIT' | FailingPhase | 'DECIDE_ERROR' | 'ACT_ERROR' | 'RECOVER' | 'END'

export interface Event {
  /** Counted from 1 in each run, without gaps. */
  readonly seq: number
  readonly run_id: string
  readonly session_id: string
  /** The turn within the run, counted from 1; 0 before the first turn. */
  readonly step_id: number
  readonly phase: Phase
  readonly stage: string
  readonly ts: number
  readonly ok: boolean
  readonly payload: Payload
  readonly error?: string
}

/** Progress that is shown live and not stored. */
export type Delta = { readonly run_id: string; readonly session_id: string } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly tool: string; readonly args: Json }
  /** Output of a running call, piece by piece. */
  | { readonly kind: 'output'; readonly index: number; readonly tool: string; readonly text: string }
  | {
      readonly kind: 'result'
      readonly index: number
      readonly tool: string
      readonly status: string
      readonly content: string
    }
)

/** A delta in the stream of live events. */
export type LiveDelta = Delta & {
  /** `seq` of the run's last event before it. */
  readonly seq: number
}
