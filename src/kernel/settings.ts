/**
 * The settings of a kernel, and the dependencies that its parts share.
 * Must not know: files, YAML, processes.
 */

import type { Agent, WatchMarks, WatchReport, WatchSpec } from '../domain/agent.ts'
import type { CycleResult } from '../domain/cycle.ts'
import type { MissedPolicy, OverrunPolicy, ScheduleSpec } from '../domain/schedule.ts'
import type { Breaker } from '../engine/request/model-fallback.ts'
import type { Clock } from '../ports/clock.ts'
import type { Documents } from '../ports/documents.ts'
import type { Ids } from '../ports/ids.ts'
import type { Models } from '../ports/model.ts'
import type { Store } from '../ports/store.ts'
import type { NoticeTarget } from './notify/notice-target.ts'
import type { HeldDispatches } from './queue/held-dispatches.ts'
import type { WakeSignal } from './queue/wake-signal.ts'

export interface KernelSettings {
  readonly id: string
  readonly enabled: boolean
  readonly schedule: ScheduleSpec
  readonly timezone: string | null
  readonly jitter: number
  readonly overrun: OverrunPolicy
  readonly missed: MissedPolicy
  readonly planner: PlannerSettings
  readonly max_concurrent: number
  /** Milliseconds after which a cycle stops waiting for its dispatches; undefined: at the next beat. */
  readonly timeout?: number | null | undefined
  /** Milliseconds that running steps get to finish when the process stops. */
  readonly stop_timeout: number
  readonly max_cycle_history: number
  readonly seed_state: string
  readonly user_id: string | null
  readonly channel: string | null
  readonly chat_id: string | null
  /** Time of day without notices, such as `22:00-07:00`; null: none. */
  readonly quiet_hours: string | null
  /** When digests are sent; true: every morning at 9. */
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

export interface KernelDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly wakeSignal: WakeSignal
  readonly documents: Documents
  readonly models: Models
  readonly breaker: Breaker
  /** Contract: the current settings; the configuration may change between cycles. */
  settings(): KernelSettings
  /** Contract: the chat that gets the notices now; null if there is none. Its model is the kernel's, too (E13). */
  noticeTarget(): Promise<Pick<NoticeTarget, 'channel' | 'chat_id'> | null>
  /** Contract: a text that changes whenever something that the agent watches changes; never rejects. */
  watchFingerprint(agent: Agent, watched: readonly WatchSpec[]): Promise<string>
  /** Contract: describes what the agent watches, and what is new since the marks of an earlier call; never rejects. */
  survey(agent: Agent, since: WatchMarks | undefined): Promise<WatchReport>
  /**
   * Contract: creates and returns the workspace of a session; `wanted` is the agent's own folder, relative to the home.
   * Throws `workspace_refused` if the folder is not allowed.
   */
  prepareWorkspace(sessionId: string, wanted?: string | null): Promise<string>
  /** Contract: how a prompt names a workspace; undefined: by its path. */
  nameWorkspace?(path: string): string | undefined
  /** Contract: runs these dispatches in this process; resolves when none is pending, running or about to be retried. */
  runDispatches(dispatchIds: readonly string[], until: AbortSignal): Promise<void>
  readonly hold: HeldDispatches['hold']
  /** Contract: called after each cycle, once its result is stored; never throws. */
  onCycleEnd(result: CycleResult): void
  /** The system prompt of unattended runs. */
  systemPrompt(): string
  log(level: 'info' | 'warn' | 'error', event: string, details: Readonly<Record<string, string | number | null>>): void
}
