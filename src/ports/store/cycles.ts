/** Cycles of kernels, the schedules that start them, and settings. */

import type { Cycle, CycleResult } from '../../domain/cycle.ts'
import type { Json } from '../../domain/json.ts'
import type { NewScheduleEntry, ScheduleEntry, ScheduleMark } from '../../domain/schedule.ts'
import type { PageLimit } from './page-limit.ts'
import type { Leader } from './queue.ts'

export type CycleOp =
  /**
   * Starts a cycle; commit it before any work of the cycle. An unfinished cycle of the same kernel, whose process is
   * gone, is ended with an error; its open dispatches, and those of the cycle before it, pass to the new cycle.
   */
  | {
      readonly op: 'cycle_begin'
      readonly cycle_id: string
      readonly kernel_id: string
      readonly trigger: string
      readonly due: number | null
      readonly now: number
    }
  /** Ends a cycle, once. `open`: dispatches that have not finished. */
  | {
      readonly op: 'cycle_end'
      readonly result: CycleResult
      readonly open: readonly string[]
      readonly now: number
    }
  /** Adds a schedule; beats up to `now` never fire. An existing id is a `conflict`. */
  | { readonly op: 'schedule_put'; readonly entry: NewScheduleEntry; readonly now: number }
  | { readonly op: 'schedule_remove'; readonly id: string }
  /** Pauses or resumes a schedule. Beats that were due during the pause never fire. */
  | { readonly op: 'schedule_pause'; readonly id: string; readonly paused: boolean; readonly now: number }
  /**
   * Returns how far a schedule (added or configured) has come. The first call for a schedule sets that to `now`:
   * earlier beats never fire.
   */
  | { readonly op: 'schedule_open'; readonly id: string; readonly now: number }
  /** Records a beat: commit it with the work it triggers. No beat up to its instant fires again. */
  | { readonly op: 'schedule_fired'; readonly id: string; readonly instant: number }
  /**
   * Stores a setting, such as that the kernel is paused; null deletes it. `base`: the value from which the change
   * starts; refused with `store_sequence` if another one is stored.
   */
  | { readonly op: 'set'; readonly name: string; readonly value: Json; readonly base?: Json }

export interface CycleResults {
  /** `interrupted`: cycles that were ended with an error. `left`: dispatches that no earlier cycle saw finish. */
  cycle_begin: { readonly interrupted: readonly string[]; readonly left: readonly string[] }
  cycle_end: null
  schedule_put: null
  schedule_remove: { readonly removed: boolean }
  schedule_pause: null
  /** No beat up to the instant `until` fires. */
  schedule_open: { readonly until: number }
  /** `first`: false if the instant already fired or was skipped. */
  schedule_fired: { readonly first: boolean }
  set: null
}

export interface CycleReads {
  /** Contract: newest first. */
  cycles(kernelId: string, page: PageLimit): Promise<readonly Cycle[]>
  /** Contract: how many cycles began since then and have ended, and how many of them started no dispatch at all. */
  countCycles(kernelId: string, since: number): Promise<{ readonly ended: number; readonly quiet: number }>
  /** Contract: schedules that were added by a command, oldest first. */
  schedules(): Promise<readonly ScheduleEntry[]>
  /** Contract: the progress of each schedule that was opened and not removed, sorted by schedule id. */
  marks(): Promise<readonly ScheduleMark[]>
  /**
   * Contract: the worker that led last under this name, which may have ended, and the token of its writes; epoch 0: it
   * has given the lead up.
   */
  leader(name: string): Promise<Leader | undefined>
  /** Contract: null if not set. */
  setting(name: string): Promise<Json>
}
