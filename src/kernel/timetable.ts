/**
 * Timetable: every schedule there is, and whom it makes due: the kernel's, the agents' own, those that people added.
 * Must not know: the clock, who waits for it.
 */

import type { Agent } from '../domain/agent.ts'
import { asTirelessError } from '../domain/error.ts'
import {
  agentScheduleId,
  kernelScheduleId,
  type Mark,
  type ScheduleEntry,
  type ScheduleSpec,
} from '../domain/schedule.ts'
import type { TickPolicy } from './lateness.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import type { Settings } from './settings.ts'
import { ownZone } from './zone.ts'

export interface Row {
  readonly schedule_id: string
  readonly origin: 'kernel' | 'agent' | 'added'
  readonly spec: ScheduleSpec
  readonly timezone: string
  readonly schedule: Schedule
  /** Whom it is for; null: every agent that has none of its own. */
  readonly agents: readonly string[] | null
  /** Instead of the agent's own. */
  readonly prompt: string | null
  readonly paused: boolean
  /** When it was added; null: it is the configuration's. */
  readonly created_at: string | null
}

/** Contract: throws `usage` where a schedule of the configuration means nothing; an added one that does is left out (see `meaningless`). */
export function rowsOf(settings: Settings, entries: readonly ScheduleEntry[]): readonly Row[] {
  const { id, enabled, agents, schedule } = settings
  const timezone = settings.timezone ?? ownZone()
  const configured = (spec: ScheduleSpec, paused: boolean) => ({
    ...{ spec, timezone, schedule: scheduleOf(spec, timezone), prompt: null, created_at: null },
    paused: paused || !enabled,
  })
  const kernel: Row = {
    ...configured(schedule, false),
    ...{ schedule_id: kernelScheduleId(id), origin: 'kernel', agents: null },
  }
  const own = agents.flatMap((agent): Row[] => {
    const { agent_id } = agent
    if (agent.schedule === null) return []
    const row = configured(agent.schedule, !agent.enabled)
    return [{ ...row, schedule_id: agentScheduleId(agent_id), origin: 'agent', agents: [agent_id] }]
  })
  const isMeant = (entry: ScheduleEntry): boolean => whyMeaningless(entry) === undefined
  const added = entries.filter(isMeant).map((entry) => ({ ...addedRow(entry), paused: entry.paused || !enabled }))
  return [kernel, ...own, ...added]
}

/** Added schedules that no beat can be reckoned from: an earlier version took them. */
export function meaningless(
  entries: readonly ScheduleEntry[],
): readonly { readonly id: string; readonly why: string }[] {
  return entries.flatMap((entry) => {
    const why = whyMeaningless(entry)
    return why === undefined ? [] : [{ id: entry.id, why }]
  })
}

function whyMeaningless(entry: ScheduleEntry): string | undefined {
  try {
    addedRow(entry)
    return undefined
  } catch (thrown) {
    return asTirelessError(thrown).message
  }
}

/** An interval that was added is counted from when it was. */
export function addedRow({ id, spec, timezone, agent_id, prompt, paused, created_at }: ScheduleEntry): Row {
  const schedule = scheduleOf(spec, timezone, Date.parse(created_at))
  return {
    ...{ schedule_id: id, origin: 'added', spec, timezone, schedule, agents: [agent_id], prompt, paused, created_at },
  }
}

/** Who is due with a beat of it: nobody where there is none of that name and nothing says what to do. */
export function dueWith({ agents: named, prompt }: Row, agents: readonly Agent[]): readonly string[] {
  const able = agents.filter(({ enabled }) => enabled)
  if (named === null) return able.filter(({ schedule }) => schedule === null).map(({ agent_id }) => agent_id)
  return named.filter((name) => prompt !== null || able.some(({ agent_id }) => agent_id === name))
}

/** One that was asked for once is not skipped because nobody was there. */
export function policyOf(row: Row, { jitter, missed, overrun }: Settings): TickPolicy {
  return { id: row.schedule_id, jitter, overrun, missed: isOnce(row) ? 'once' : missed }
}

export const isOnce = ({ spec }: Row): boolean => typeof spec === 'object' && 'at' in spec

/** When it is due next, by what is known of it; undefined where it is not. */
export function nextOf(
  { schedule_id, schedule, paused }: Row,
  marks: readonly Mark[],
  now: number,
): number | undefined {
  const until = marks.find((mark) => mark.schedule_id === schedule_id)?.until ?? now
  return paused ? undefined : schedule.next(Math.max(until, now))
}
