/** Schedule: when an agent or the kernel is due. */

/**
 * A cron line or its nickname, or several of them separated by `;`; an interval in milliseconds; or one instant, in the
 * schedule's time zone unless the text names an offset.
 */
export type ScheduleSpec = string | { readonly every: number } | { readonly at: string }

/** Which missed beats are made up for: none, the newest, all, or the newest N. */
export type MissedPolicy = 'skip' | 'once' | 'all' | { readonly all: number }

/** Whether beats that were due while the work of the previous beat still ran are skipped or made up for. */
export type OverrunPolicy = 'skip' | 'catch_up'

/** A schedule added by a command, not by the configuration. */
export interface ScheduleEntry {
  readonly id: string
  readonly spec: ScheduleSpec
  readonly timezone: string
  readonly agent_id: string
  /** Null: the agent's own prompt. */
  readonly prompt: string | null
  readonly paused: boolean
  readonly created_at: string
}

export type NewScheduleEntry = Omit<ScheduleEntry, 'paused'>

/** Progress of a schedule: no beat up to `until` fires again; `fired` is the last beat that fired. */
export interface ScheduleMark {
  readonly schedule_id: string
  readonly until: number
  readonly fired: number | null
}

/**
 * Ids of the schedules in the configuration: the kernel's, its digest's, and each agent's own. Schedules added by a
 * command have no colon in their id.
 */
export const kernelScheduleId = (kernelId: string): string => `kernel:${kernelId}`
export const digestScheduleId = (kernelId: string): string => `digest:${kernelId}`
export const agentScheduleId = (agentId: string): string => `agent:${agentId}`
