/**
 * The settings of a resident.
 * Must not know: files, YAML.
 */

import type { ResidentSetup } from '../../domain/resident.ts'
import type { OverrunPolicy } from '../../domain/schedule.ts'

export interface Goal {
  readonly text: string
  /** The resident looks at the goal at least this often; null: only when something is new. */
  readonly every_ms: number | null
  /** The goal is over at this instant; null: never. */
  readonly until: number | null
}

export interface ResidentSettings extends Omit<ResidentSetup, 'tick' | 'goals'> {
  readonly agent_id: string
  readonly goals: readonly Goal[]
  readonly overrun: OverrunPolicy
  readonly sources: readonly string[]
}
