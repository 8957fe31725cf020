/** Schedule: when something is due, as people write it and as it is kept. */

/** A cron line or a nickname of one; the milliseconds from one to the next; one instant, on the schedule's own wall clock where it names no offset. */
export type ScheduleSpec = string | { readonly every: number } | { readonly at: string }

/** What is made up for of the beats that nobody was there for: nothing, the newest, all, the newest so many. */
export type Missed = 'skip' | 'once' | 'all' | { readonly all: number }

/** What becomes of the beats that were due while the one before them was still at work. */
export type Overrun = 'skip' | 'catch_up'

/** A schedule that a person added to those of the configuration. */
export interface ScheduleEntry {
  readonly id: string
  readonly spec: ScheduleSpec
  readonly timezone: string
  readonly agent_id: string
  /** Null: the agent's own. */
  readonly prompt: string | null
  readonly paused: boolean
  readonly created_at: string
}

export type NewScheduleEntry = Omit<ScheduleEntry, 'paused'>

/** How far a schedule has come: nothing up to `until` fires any more; `fired` is the last one that did. */
export interface Mark {
  readonly schedule_id: string
  readonly until: number
  readonly fired: number | null
}

/** The ids of the schedules that the configuration has: of the kernel, and of each agent that has one of its own. An added one has no colon. */
export const kernelScheduleId = (kernelId: string): string => `kernel:${kernelId}`
export const digestScheduleId = (kernelId: string): string => `digest:${kernelId}`
export const agentScheduleId = (agentId: string): string => `agent:${agentId}`
