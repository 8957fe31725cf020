/** Hook: observes a run inside the process. It cannot change the run, and a hook that throws or hangs does no harm. */

import type { Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import type { StopReason } from '../domain/stop-reason.ts'

export const HOOKED_PHASES = ['observe', 'decide', 'act', 'reduce', 'critic', 'check_stop'] as const
export type HookedPhase = (typeof HOOKED_PHASES)[number]

export interface HookContext {
  readonly run_id: string
  readonly session_id: string
  readonly step_id: number
  /** Set only in `on_run_end`. */
  readonly stop_reason?: StopReason
  /**
   * In `on_after_*`, a frozen copy of what the phase came to: the input and the observation, the decision, the results,
   * the state, the verdicts, what follows. Absent after an error.
   */
  readonly data?: Json
  /** In `on_after_*` and `on_recover`: the error, if one was thrown. */
  readonly error?: string
}

export interface HookFailure {
  readonly hook: string
  readonly moment: string
  readonly message: string
}

type HookCallback = (context: HookContext) => void | Promise<void>

/**
 * Contract: `on_before_*` and `on_after_*` are called in pairs, also after an error, once per phase and step, and again
 * if the phase is retried. The run waits for the promise of a hook for a limited time, and never for a promise of
 * `on_event`. `on_run_end` is called last, when the end of the run is already on disk and was emitted as an event; if
 * the hook fails then, its error is only logged. If the process dies just before that, `on_run_end` is never called.
 */
export type Hook = {
  readonly name: string
  readonly on_run_start?: HookCallback
  readonly on_run_end?: HookCallback
  readonly on_recover?: HookCallback
  readonly on_event?: (event: Event) => void | Promise<void>
} & { readonly [P in HookedPhase as `on_before_${P}`]?: HookCallback } & {
  readonly [P in HookedPhase as `on_after_${P}`]?: HookCallback
}
