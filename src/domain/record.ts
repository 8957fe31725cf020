/**
 * The journal: what a session's turns were, in order, append-only. Events, progress, replay and resume are pure
 * functions of these records.
 *
 * Order inside a turn:
 *   input_bound → model_requested → (model_failed …) → model_answered | decided
 *   → (call_intended → call_settled)* → step_committed
 */

import type { Call, CallResult, Decision, Next } from './decision.ts'
import type { Effect } from './effect.ts'
import type { ErrorCode } from './error.ts'
import type { Json } from './json.ts'
import type { Observation } from './observation.ts'
import type { FailureClass, StopReason } from './stop.ts'

export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
}

/** A call as the model wrote it; `args` is the raw text, which may not even be JSON. */
export interface AskedCall {
  readonly id: string
  readonly tool: string
  readonly args: string
}

export interface Answer {
  readonly text: string
  readonly calls: readonly AskedCall[]
  /** `length`: the provider cut it; nothing in it may be acted on. */
  readonly finish: 'stop' | 'calls' | 'length'
  readonly usage: Usage
  /** Reasoning parts of the provider, kept verbatim for it alone. */
  readonly reasoning?: Json
}

type Body =
  | { readonly kind: 'run_started'; readonly run_id: string; readonly agent_id: string; readonly behaviour: string }
  | {
      readonly kind: 'input_bound'
      readonly turn: number
      readonly input: readonly Observation[]
      readonly feedback?: string
    }
  | {
      readonly kind: 'model_requested'
      readonly turn: number
      readonly model: string
      /** The request by reference: records [from, upto) under this compiler version, and a digest to prove it. */
      readonly from: number
      readonly upto: number
      readonly compiler: number
      readonly digest: string
    }
  | { readonly kind: 'model_failed'; readonly turn: number; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'model_answered'; readonly turn: number; readonly answer: Answer }
  | { readonly kind: 'decided'; readonly turn: number; readonly decision: Decision }
  | {
      readonly kind: 'call_intended'
      readonly turn: number
      readonly index: number
      /** 1, or one more each time the owner said of an interrupted one that it did not happen. */
      readonly attempt: number
      readonly call: Omit<Call, 'fault' | 'effect'>
      readonly effect: Effect
      /** What the tool noted about the world before acting, for its probe. */
      readonly before?: Json
    }
  | {
      readonly kind: 'call_settled'
      readonly turn: number
      readonly index: number
      readonly call_id: string
      readonly result: CallResult
    }
  | { readonly kind: 'step_committed'; readonly turn: number; readonly next: Next; readonly state?: Json }
  | {
      readonly kind: 'run_ended'
      readonly run_id: string
      readonly stop_reason: StopReason
      readonly answer?: string
      readonly failure_class?: FailureClass
      readonly error?: string
    }

export type JournalRecord = Body & { readonly seq: number; readonly ts: number }
export type RecordBody = Body
export type RecordKind = Body['kind']
