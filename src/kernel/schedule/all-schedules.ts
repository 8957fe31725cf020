/**
 * All schedules (of the kernel, of agents, and added by people), and the agents that each makes due.
 * Must not know: the clock, who waits for a beat.
 */

import type { Agent } from '../../domain/agent.ts'
import { asTirelessError } from '../../domain/error.ts'
import {
  agentScheduleId,
  kernelScheduleId,
  type ScheduleEntry,
  type ScheduleMark,
  type ScheduleSpec,
} from '../../domain/schedule.ts'
import type { KernelSettings } from '../settings.ts'
import type { TickPolicy } from './missed-beats.ts'
import { parseSchedule, type Schedule } from './schedule.ts'
import { localZone } from './time-zone.ts'

export interface ScheduleRow {
  readonly schedule_id: string
  readonly origin: 'kernel' | 'agent' | 'added'
  readonly spec: ScheduleSpec
  readonly timezone: string
  readonly schedule: Schedule
  /** The agents that the schedule makes due; null: every agent without its own schedule. */
  readonly agents: readonly string[] | null
  /** Replaces the agent's own prompt. */
  readonly prompt: string | null
  readonly paused: boolean
  /** When a person added the schedule; null: it is from the configuration. */
  readonly created_at: string | null
}

/** Contract: throws `usage` for an invalid configured schedule; leaves out invalid added ones. */
export function listSchedules(settings: KernelSettings, entries: readonly ScheduleEntry[]): readonly ScheduleRow[] {
  const { id, enabled, agents, schedule } = settings
  const timezone = settings.timezone ?? localZone()
  const configured = (spec: ScheduleSpec, paused: boolean) => ({
    ...{ spec, timezone, schedule: parseSchedule(spec, timezone), prompt: null, created_at: null },
    paused: paused || !enabled,
  })
  const kernel: ScheduleRow = {
    ...configured(schedule, false),
    ...{ schedule_id: kernelScheduleId(id), origin: 'kernel', agents: null },
  }
  const ofAgents = agents.flatMap((agent): ScheduleRow[] => {
    const { agent_id } = agent
    if (agent.schedule === null) return []
    const row = configured(agent.schedule, !agent.enabled)
    return [{ ...row, schedule_id: agentScheduleId(agent_id), origin: 'agent', agents: [agent_id] }]
  })
  const isValid = (entry: ScheduleEntry): boolean => findProblem(entry) === undefined
  const added = entries.filter(isValid).map((entry) => ({ ...rowFromEntry(entry), paused: entry.paused || !enabled }))
  return [kernel, ...ofAgents, ...added]
}

/** Added schedules that cannot be parsed, because an earlier version accepted them. */
export function invalidSchedules(
  entries: readonly ScheduleEntry[],
): readonly { readonly id: string; readonly why: string }[] {
  return entries.flatMap((entry) => {
    const why = findProblem(entry)
    return why === undefined ? [] : [{ id: entry.id, why }]
  })
}

function findProblem(entry: ScheduleEntry): string | undefined {
  try {
    rowFromEntry(entry)
    return undefined
  } catch (thrown) {
    return asTirelessError(thrown).message
  }
}

/** The row of an added schedule. If it is an interval, its beats are counted from the time when it was added. */
export function rowFromEntry({ id, spec, timezone, agent_id, prompt, paused, created_at }: ScheduleEntry): ScheduleRow {
  const schedule = parseSchedule(spec, timezone, Date.parse(created_at))
  return {
    ...{ schedule_id: id, origin: 'added', spec, timezone, schedule, agents: [agent_id], prompt, paused, created_at },
  }
}

/** The agents that a beat makes due. A disabled agent is due only if the schedule names it and has its own prompt. */
export function dueAgents({ agents: named, prompt }: ScheduleRow, agents: readonly Agent[]): readonly string[] {
  const enabledAgents = agents.filter(({ enabled }) => enabled)
  if (named === null) return enabledAgents.filter(({ schedule }) => schedule === null).map(({ agent_id }) => agent_id)
  return named.filter((name) => prompt !== null || enabledAgents.some(({ agent_id }) => agent_id === name))
}

/** How to handle late beats of a schedule. A one-time schedule fires late rather than never. */
export function tickPolicy(row: ScheduleRow, { jitter, missed, overrun }: KernelSettings): TickPolicy {
  return { id: row.schedule_id, jitter, overrun, missed: isOnce(row) ? 'once' : missed }
}

export const isOnce = ({ spec }: ScheduleRow): boolean => typeof spec === 'object' && 'at' in spec

/** The next beat of a schedule that has not fired yet; undefined if the schedule is paused or has no beat left. */
export function nextScheduleDue(
  { schedule_id, schedule, paused }: ScheduleRow,
  marks: readonly ScheduleMark[],
  now: number,
): number | undefined {
  const until = marks.find((mark) => mark.schedule_id === schedule_id)?.until ?? now
  return paused ? undefined : schedule.next(Math.max(until, now))
}
