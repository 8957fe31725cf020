/** Hook: observes a run inside the process. It cannot change the run, and a hook that throws or hangs does no harm. */

import type { Event } from '../domain/event.ts'
import type { StopReason } from '../domain/stop-reason.ts'

export const HOOKED_PHASES = ['observe', 'decide', 'act', 'reduce', 'critic', 'check_stop'] as const
export type HookedPhase = (typeof HOOKED_PHASES)[number]

export interface HookContext {
  readonly run_id: string
  readonly session_id: string
  readonly step_id: number
  /** Only with `on_run_end`. */
  readonly stop_reason?: StopReason
  /** With `on_after_*` and `on_recover`: the error, if one was thrown. */
  readonly error?: string
}

export interface HookFailure {
  readonly hook: string
  readonly moment: string
  readonly message: string
}

type HookCallback = (context: HookContext) => void | Promise<void>

/**
 * Contract: before and after come in pairs on every path, once per phase and step, and again if a phase is retried.
 * Promises are awaited for a bounded time; that of `on_event`, not at all. `on_run_end` is the last call of a run: its
 * end is already on disk and was emitted as an event. A hook that fails there is only logged, and a process that dies
 * just before it does not call it.
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
