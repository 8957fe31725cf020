/**
 * The next beat of each schedule, with the agents that it makes due.
 * Must not know: who asks.
 */

import type { ScheduleEntry, ScheduleMark } from '../../domain/schedule.ts'
import type { KernelSettings } from '../settings.ts'
import { dueAgents, listSchedules, nextScheduleDue } from './all-schedules.ts'

interface NextBeat {
  readonly schedule_id: string
  readonly at: number
  readonly agents: readonly string[]
  readonly prompt: string | null
}

/** Contract: pure; earliest first; without schedules that make no agent due. */
export function upcomingBeats(
  settings: KernelSettings,
  entries: readonly ScheduleEntry[],
  marks: readonly ScheduleMark[],
  now: number,
): readonly NextBeat[] {
  const beats = listSchedules(settings, entries).flatMap((row): NextBeat[] => {
    const [at, agents] = [nextScheduleDue(row, marks, now), dueAgents(row, settings.agents)]
    if (at === undefined || agents.length === 0) return []
    return [{ schedule_id: row.schedule_id, at, agents, prompt: row.prompt }]
  })
  return beats.toSorted((a, b) => a.at - b.at)
}
