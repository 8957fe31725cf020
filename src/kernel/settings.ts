/**
 * What a kernel is told by its owner, and what it stands in.
 * Must not know: files, YAML, processes.
 */

import type { Agent, Survey, SurveyMarks, Watched } from '../domain/agent.ts'
import type { CycleResult } from '../domain/cycle.ts'
import type { Missed, Overrun, ScheduleSpec } from '../domain/schedule.ts'
import type { Breaker } from '../engine/chain.ts'
import type { Clock } from '../ports/clock.ts'
import type { Documents } from '../ports/documents.ts'
import type { Ids } from '../ports/ids.ts'
import type { Models } from '../ports/model.ts'
import type { Store } from '../ports/store.ts'
import type { Doorbell } from './doorbell.ts'
import type { HeldDispatches } from './held.ts'

export interface Settings {
  readonly id: string
  readonly enabled: boolean
  readonly schedule: ScheduleSpec
  readonly timezone: string | null
  readonly jitter: number
  readonly overrun: Overrun
  readonly missed: Missed
  readonly planner: PlannerSettings
  readonly max_concurrent: number
  /** Deadline of a cycle; undefined: until the next beat. */
  readonly timeout?: number | null | undefined
  /** Milliseconds that running steps have to end, once the process is asked to stop. */
  readonly stop_timeout: number
  readonly max_cycle_history: number
  readonly seed_state: string
  readonly user_id: string | null
  readonly channel: string | null
  readonly chat_id: string | null
  /** As `22:00-07:00`. */
  readonly quiet_hours: string | null
  /** True: every morning. */
  readonly digest: boolean | ScheduleSpec | null
  readonly ping_url: string | null
  readonly agents: readonly Agent[]
}

export interface PlannerSettings {
  readonly mode: 'static' | 'llm' | 'hybrid'
  readonly model: string | null
  readonly max_dispatches: number | null
  readonly timeout: number | null
}

export interface Surroundings {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly bell: Doorbell
  readonly documents: Documents
  readonly models: Models
  readonly breaker: Breaker
  /** As they are now: the configuration may change from one cycle to the next. */
  settings(): Settings
  /** Contract: another text whenever something that is watched has changed; never rejects. */
  look(agent: Agent, watched: readonly Watched[]): Promise<string>
  /** Contract: what an agent watches, in words, with what is new since those marks; never rejects. */
  survey(agent: Agent, since: SurveyMarks | undefined): Promise<Survey>
  /** Contract: the folder of a session's deliverables, made ready; `wanted` by its agent, relative to the home. Throws `workspace_refused`. */
  workspace(sessionId: string, wanted?: string | null): Promise<string>
  /** Contract: works on these dispatches, in this process, whatever else is at work; resolves when none is pending, running or about to be. */
  work(dispatchIds: readonly string[], until: AbortSignal): Promise<void>
  readonly hold: HeldDispatches['hold']
  /** Contract: told of each cycle that is over and on record; never throws. */
  ended(result: CycleResult): void
  /** What an unattended run is told by the system. */
  systemPrompt(): string
  log(level: 'info' | 'warn' | 'error', event: string, details: Readonly<Record<string, string | number | null>>): void
}
