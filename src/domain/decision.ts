/** Decision: what the mind wants. Next: what the engine rules, after critics and budgets. */

import type { Effect } from './effect.ts'
import type { Json } from './json.ts'
import type { FailureClass, StopReason } from './stop.ts'
import type { Match, Wait } from './wait.ts'

/** A tool call as the engine will run it. A `fault` says why it must not run at all. */
export interface Call {
  readonly id: string
  readonly tool: string
  readonly args: Json
  readonly effect: Effect
  readonly fault?: string
  /** Beats the tool's own. */
  readonly timeoutMs?: number
  /** The approval by which a person has allowed this very call. */
  readonly approval?: string
}

export type Decision =
  /** `failFast`: after the first call that does not succeed, those not yet started are left alone. */
  | { readonly kind: 'act'; readonly calls: readonly Call[]; readonly failFast?: boolean }
  /** `via`: the model said it by calling a tool (`finish`, `wait`), which then needs a result like any other call. */
  | { readonly kind: 'final'; readonly answer: string; readonly summary?: string; readonly via?: Call }
  | {
      readonly kind: 'wait'
      readonly match: Match
      readonly until?: number
      readonly reason: string
      readonly via?: Call
    }
  /** Several ways to go on, of which the engine takes one; never one inside another. */
  | { readonly kind: 'branch'; readonly candidates: readonly Decision[] }
  /** Not a decision: what came is told back to the mind, and nothing acts on it. `empty`: it was an answer that says nothing. */
  | { readonly kind: 'invalid'; readonly feedback: string; readonly calls: readonly Call[]; readonly empty?: true }

export const CALL_STATUSES = [
  'ok',
  'error',
  'timed_out',
  'interrupted',
  'not_started',
  /** Held back, because the same call has led nowhere several times. */
  'blocked',
  'unknown',
  'parked',
] as const
export type CallStatus = (typeof CALL_STATUSES)[number]

export interface CallResult {
  readonly status: CallStatus
  /** What the model reads. */
  readonly content: string
  /** What the runtime itself learnt (file hashes, exit codes); never shown to the model. */
  readonly facts?: Json
}

export type Verdict =
  | { readonly kind: 'continue' }
  /** `attempt`: not the step again but the task, after a rest, with all of its time. Whoever asks for it counts how often. */
  | { readonly kind: 'retry'; readonly instruction: string; readonly attempt?: { readonly after_ms: number } }
  /** `failure_class`: what kind of failure that makes of the run. */
  | { readonly kind: 'stop'; readonly reason: string; readonly failure_class?: FailureClass }

/** Something that keeps a task from being begun. */
export interface Issue {
  readonly code: string
  readonly message: string
}

export type Next =
  /** `retry`: a critic asked for it. */
  | { readonly kind: 'continue'; readonly feedback?: string; readonly retry?: true }
  /** `feedback`: another attempt begins with it, once the run has rested. */
  | { readonly kind: 'park'; readonly wait: Wait; readonly feedback?: string }
  | {
      readonly kind: 'end'
      readonly stop_reason: StopReason
      readonly answer?: string
      readonly failure_class?: FailureClass
      readonly error?: string
      readonly issues?: readonly Issue[]
      readonly failure_report?: Json
    }
