/** Recovery rule: may decide what follows a failed step, within the limits of the engine's retry policy. */

import type { ErrorCategory, ErrorCode } from '../domain/error.ts'
import type { FailingPhase } from '../domain/journal-record.ts'

/** A step that failed, after which the run may go on. */
export interface FailedStep {
  readonly run_id: string
  readonly session_id: string
  readonly agent_id: string
  readonly behaviour: string
  readonly phase: FailingPhase
  readonly code: ErrorCode
  readonly category: ErrorCategory
  readonly message: string
  /** Whether a call of a model failed. */
  readonly is_model_call: boolean
  /** Number of failures in a row, this one included; and of the whole run. The policy ends a run at 3 and at 10. */
  readonly attempt: number
  readonly failures: number
  /** What the policy does without a rule. */
  readonly policy: 'retry' | 'next_turn' | 'fail'
}

export type RecoveryChoice =
  /** The same turn again: what it has already done is kept. */
  | { readonly kind: 'retry'; readonly after_ms?: number }
  /** The next turn, in which the model reads `feedback` (default: the error). */
  | { readonly kind: 'next_turn'; readonly feedback?: string; readonly after_ms?: number }
  /** The run ends as failed, with the error of the step. */
  | { readonly kind: 'fail' }

export interface RecoveryRule {
  readonly name: string
  /**
   * Contract: changes nothing; returns what follows, or undefined to leave it to the next rule and then to the policy.
   * A pause is at most one hour. The choice is recorded with the failure, and a replay does not ask again. No rule is
   * asked if a budget is used up, the run was interrupted, or the failure is the last that the policy allows. A rule
   * that throws, takes longer than ten seconds or returns anything else is recorded as a diagnosis and skipped.
   */
  decide(failure: FailedStep): RecoveryChoice | undefined | Promise<RecoveryChoice | undefined>
}
