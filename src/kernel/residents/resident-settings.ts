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

/** Contract: pure; what a look is told of the settings, without goals that are over. */
export function setupOf(settings: ResidentSettings, tick: number, now: number): ResidentSetup {
  const { hz, goals, slots, stm, max_queries, persist_thought, expires_ms } = settings
  const open = goals.filter(({ until }) => until === null || until > now).map(({ text }) => text)
  return { tick, hz, goals: open, slots, stm, max_queries, persist_thought, expires_ms }
}
