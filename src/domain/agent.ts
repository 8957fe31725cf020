/** Agent: who does the work, as its owner describes it. */

import type { Json } from './json.ts'
import type { ScheduleSpec } from './schedule.ts'

/**
 * A path, or a mapping that names one under `path` (a file, or a folder with what is in it, without the names in `except`) or `git` (a work
 * tree, its commits and changes). Relative to the home.
 */
export type Watched = string | Readonly<Record<string, Json>>

/** What is there of what an agent watches, in words; and what is kept of it, so that the next time only what is new by then is told as such. */
export interface Survey {
  readonly text: string
  readonly marks: SurveyMarks
}

export interface SurveyMarks {
  /** When the newest of its files came there or was changed, by the file system's own clock. */
  readonly newest: number
  /** The last commit of each work tree. */
  readonly heads: Readonly<Record<string, string>>
}

export interface Agent {
  readonly agent_id: string
  readonly prompt: string
  readonly priority: number
  readonly enabled: boolean
  readonly metadata: Readonly<Record<string, Json>>
  /** Makes it due by itself; then the beats of the kernel do not. */
  readonly schedule: ScheduleSpec | null
  /** Milliseconds at work; null: no limit; undefined: what every dispatch has. */
  readonly timeout?: number | null | undefined
  /** Milliseconds of rest after a success. */
  readonly cooldown: number
  readonly watch: readonly Watched[]
  readonly model: string | null
  readonly tools: readonly string[] | null
  /** Relative to the home; null: a folder of its own for each dispatch. */
  readonly workspace: string | null
}
