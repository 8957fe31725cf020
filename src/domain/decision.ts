/**
 * Decision: the next action that the model or the behaviour wants. Next: how the run goes on after critics and budgets.
 */

import type { Effect } from './effect.ts'
import type { Json } from './json.ts'
import type { Label } from './label.ts'
import type { FailureClass, StopReason } from './stop-reason.ts'
import type { Wait, WaitMatch } from './wait.ts'

/** A tool call as the engine will run it. A call with a `fault` must not run; the fault says why. */
export interface Call {
  readonly id: string
  readonly tool: string
  readonly args: Json
  readonly effect: Effect
  readonly fault?: string
  /** Overrides the tool's own timeout. */
  readonly timeoutMs?: number
  /** The approval by which a person allowed exactly this call. */
  readonly approval?: string
}

export type Decision =
  /** `failFast`: after the first call that fails, the remaining calls are not started. */
  | { readonly kind: 'act'; readonly calls: readonly Call[]; readonly failFast?: boolean }
  /**
   * `via`: the call (`finish`, `wait`) by which the model made this decision; it needs a result like any other call.
   */
  | {
      readonly kind: 'final'
      readonly answer: string
      readonly summary?: string
      /** The behaviour that the model wants next; heard only if the behaviour leaves a choice. */
      readonly next?: string
      readonly via?: Call
    }
  | {
      readonly kind: 'wait'
      readonly match: WaitMatch
      readonly until?: number
      readonly reason: string
      readonly via?: Call
    }
  /** Alternative decisions, of which the engine takes one. Branches do not nest. */
  | { readonly kind: 'branch'; readonly candidates: readonly Decision[] }
  /** Not a usable decision: the feedback goes back to the model, and no call runs. `empty`: the answer was empty. */
  | { readonly kind: 'invalid'; readonly feedback: string; readonly calls: readonly Call[]; readonly empty?: true }

export const CALL_STATUSES = [
  'ok',
  'error',
  'timed_out',
  'interrupted',
  'not_started',
  /** The call was not run, because the same call had no effect several times. */
  'blocked',
  'unknown',
  'parked',
] as const
export type CallStatus = (typeof CALL_STATUSES)[number]

export interface CallResult {
  readonly status: CallStatus
  /** The result as the model sees it. */
  readonly content: string
  /** Metadata for the runtime (file hashes, exit codes); never shown to the model. */
  readonly facts?: Json
}

export type Verdict =
  | { readonly kind: 'continue' }
  /**
   * `attempt`: repeat the whole task, after a pause and with a fresh time limit. The critic limits the attempts itself.
   */
  | ({
      readonly kind: 'retry'
      readonly instruction: string
      readonly attempt?: { readonly after_ms: number }
    } & VerdictLabel)
  /** `failure_class`: the failure class of the stopped run. */
  | ({ readonly kind: 'stop'; readonly reason: string; readonly failure_class?: FailureClass } & VerdictLabel)

/** The label of a critic's text; absent: it is as trusted as the owner's. The model reads untrusted text in a fence. */
interface VerdictLabel {
  readonly label?: Label
}

/** A reason why a task cannot start. */
export interface Issue {
  readonly code: string
  readonly message: string
}

/** A behaviour with its parameters, and why it was chosen. */
export interface BehaviourChoice {
  readonly behaviour: string
  readonly params: Readonly<Record<string, string>>
  readonly why: string
}

export type Next =
  /**
   * `retry`: a critic asked for another try; `feedback` is its instruction. `stay`: the behaviour may not end yet;
   * `feedback` says why. `agents`: the run may not end yet, because sub-agents are open.
   */
  | {
      readonly kind: 'continue'
      readonly feedback?: string
      readonly retry?: true
      readonly stay?: true
      readonly agents?: true
    }
  /**
   * `feedback`: the input of the next attempt, which starts when the wait is over. `pause`: no new attempt, only a
   * pause that a recovery rule wants.
   */
  | { readonly kind: 'park'; readonly wait: Wait; readonly feedback?: string; readonly pause?: true }
  /** The run goes on with another behaviour, which starts with a new conversation. */
  | ({ readonly kind: 'become' } & BehaviourChoice)
  | {
      readonly kind: 'end'
      readonly stop_reason: StopReason
      readonly answer?: string
      /** Why the env or a stop rule ended the run, and the rule's name. */
      readonly reason?: string
      readonly rule?: string
      readonly failure_class?: FailureClass
      readonly error?: string
      readonly issues?: readonly Issue[]
      readonly failure_report?: Json
    }
