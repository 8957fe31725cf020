/** Simulated beats as a calendar: crowded hours, schedules that are too frequent to list, likely cost. Pure. */

import { dayFormatter } from '../../domain/day.ts'
import type { ScheduleRow } from '../../kernel/schedule/all-schedules.ts'
import type { Cost, SimulatedBeat } from '../../kernel/schedule/simulate.ts'
import { wallTime } from '../../kernel/schedule/time-zone.ts'
import { describeSchedule } from '../../schedule-words/describe-schedule.ts'
import { CHANGES_PER_DAY } from './forecast.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

interface BusyHour {
  /** Start of the hour on the clock of the time zone. */
  readonly at: number
  readonly dispatches: number
  /** The most that are due at one instant. */
  readonly at_once: number
}

/** Contract: the hours with beats, in order. */
export function busyHours(beats: readonly SimulatedBeat[], from: number, timezone: string): readonly BusyHour[] {
  const minuteThere = Number(wallTime(from, timezone).slice(-2))
  // The hours of some time zones begin at a quarter or half of the hours of UTC.
  const shift = (minuteThere - (Math.floor(from / MINUTE_MS) % 60)) * MINUTE_MS
  const hours = new Map<number, { dispatches: number; instants: Map<number, number> }>()
  for (const { at, agents } of beats) {
    const start = Math.floor((at + shift) / HOUR_MS) * HOUR_MS - shift
    const hour = hours.get(start) ?? { dispatches: 0, instants: new Map() }
    hour.dispatches += agents.length
    hour.instants.set(at, (hour.instants.get(at) ?? 0) + agents.length)
    hours.set(start, hour)
  }
  return [...hours].map(([at, { dispatches, instants }]) => ({
    at,
    dispatches,
    at_once: Math.max(...instants.values()),
  }))
}

/** Contract: the schedules with more than `most` beats on some day, in words; their beats are not listed. */
export function frequentSchedules(
  beats: readonly SimulatedBeat[],
  rows: readonly ScheduleRow[],
  most: number,
  timezone: string,
) {
  const dayOf = dayFormatter(timezone)
  return [...Map.groupBy(beats, ({ schedule_id }) => schedule_id)].flatMap(([schedule_id, own]) => {
    const perDay = [...Map.groupBy(own, ({ at }) => dayOf(at)).values()].map((group) => group.length)
    const row = rows.find((one) => one.schedule_id === schedule_id)
    if (!row || Math.max(...perDay) <= most) return []
    const words = { words: describeSchedule(row.spec, 'en'), words_zh: describeSchedule(row.spec, 'zh') }
    return [
      { schedule_id, agents: [...(own[0]?.agents ?? [])], ...words, beats: own.length, per_day: Math.max(...perDay) },
    ]
  })
}

interface LikelyInput {
  /** Agents that run only if something has changed. */
  readonly onChange: ReadonlySet<string>
  readonly timezone: string
  costOf(agent: string): Cost | null
}

/** Contract: by day, the cost in the middle of what is known; agents that wait for changes run a few times a day. */
export function likelyCosts(
  beats: readonly SimulatedBeat[],
  { onChange, timezone, costOf }: LikelyInput,
): ReadonlyMap<string, number> {
  const dayOf = dayFormatter(timezone)
  const costs = new Map<string, number>()
  for (const [day, group] of Map.groupBy(beats, ({ at }) => dayOf(at))) {
    const runs = Map.groupBy(
      group.flatMap(({ agents }) => agents),
      (agent) => agent,
    )
    const usd = [...runs].map(([agent, due]) => {
      const { usd_low, usd_high } = costOf(agent) ?? { usd_low: 0, usd_high: 0 }
      const count = onChange.has(agent) ? Math.min(due.length, CHANGES_PER_DAY) : due.length
      return (count * (usd_low + usd_high)) / 2
    })
    costs.set(
      day,
      usd.reduce((sum, each) => sum + each, 0),
    )
  }
  return costs
}
