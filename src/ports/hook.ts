/** Hook: watches a run from inside the process. An observer: it changes nothing, and a hook that throws or hangs hurts nobody. */

import type { Event } from '../domain/event.ts'
import type { StopReason } from '../domain/stop.ts'

export const HOOKED_PHASES = ['observe', 'decide', 'act', 'reduce', 'critic', 'check_stop'] as const
export type HookedPhase = (typeof HOOKED_PHASES)[number]

export interface HookContext {
  readonly run_id: string
  readonly session_id: string
  readonly step_id: number
  /** With `on_run_end`. */
  readonly stop_reason?: StopReason
  /** With `on_after_*` and `on_recover`: what was thrown, where something was. */
  readonly error?: string
}

export interface HookFailure {
  readonly hook: string
  readonly moment: string
  readonly message: string
}

type Told = (context: HookContext) => void | Promise<void>

/**
 * Contract: before and after come in pairs on every path, once per phase and step, and again where a phase is tried again. What a hook
 * returns is waited for a moment, never longer; what `on_event` returns, not at all. `on_run_end` is the last call of a run: its end is on disk
 * and was told as an event by then, so a hook that breaks there is in the log, and one whose process dies just before it is not called.
 */
export type Hook = {
  readonly name: string
  readonly on_run_start?: Told
  readonly on_run_end?: Told
  readonly on_recover?: Told
  readonly on_event?: (event: Event) => void | Promise<void>
} & { readonly [P in HookedPhase as `on_before_${P}`]?: Told } & {
  readonly [P in HookedPhase as `on_after_${P}`]?: Told
}
