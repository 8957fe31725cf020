/**
 * Simulate: the beats of days to come, what they would cost, and where they get in each other's way. Pure.
 * Must not know: what a planner would leave out; it counts everybody who is due.
 */

import type { Agent } from '../domain/agent.ts'
import { dayAfter, dayIn } from '../domain/day.ts'
import { dueWith, type Row } from './timetable.ts'

/** More beats than this nobody reads, and counting them takes too long. */
const MOST_BEATS = 100_000

export interface Days {
  readonly rows: readonly Row[]
  readonly agents: readonly Agent[]
  readonly from: number
  readonly days: number
  /** On whose calendar the days are. */
  readonly timezone: string
  readonly max_concurrent: number
  /** How long a run of an agent may take; null: for ever. */
  timeoutOf(agent: string): number | null
  /** What a run of an agent costs; null: nobody knows. */
  costOf(agent: string): Cost | null
}

export interface Cost {
  readonly usd_low: number
  readonly usd_high: number
}

export interface ForetoldBeat {
  readonly at: number
  readonly schedule_id: string
  readonly agents: readonly string[]
}

export interface ForetoldDay extends Cost {
  readonly date: string
  readonly beats: number
  readonly dispatches: number
}

/** Each kind once per schedules concerned: how often, and when for the first time. */
export type Conflict = { readonly first: number; readonly times: number } & (
  | { readonly kind: 'together'; readonly schedules: readonly string[] }
  | {
      readonly kind: 'crowded'
      readonly schedules: readonly string[]
      readonly due: number
      readonly max_concurrent: number
    }
  | {
      readonly kind: 'too_close'
      readonly schedules: readonly [string]
      readonly agent: string
      readonly interval_ms: number
      readonly timeout_ms: number
    }
)

export interface Foretold extends Cost {
  readonly beats: readonly ForetoldBeat[]
  readonly days: readonly ForetoldDay[]
  readonly conflicts: readonly Conflict[]
  /** Agents that are due and whose cost nobody knows: it is not in the sums. */
  readonly unpriced: readonly string[]
  /** Up to when all beats are here: less than was asked for where there are too many. */
  readonly until: number
}

export function simulate(asked: Days): Foretold {
  const { beats, until } = beatsOf(asked)
  const agents = new Set(beats.flatMap((beat) => beat.agents))
  return {
    beats,
    days: daysOf(asked, beats, until),
    ...sumOf(beats, asked.costOf),
    conflicts: conflictsOf(asked, beats),
    unpriced: [...agents].filter((agent) => asked.costOf(agent) === null).sort(),
    until,
  }
}

/** In order of time; at one instant, in the order of the timetable. */
function beatsOf({ rows, agents, from, days }: Days): {
  readonly beats: readonly ForetoldBeat[]
  readonly until: number
} {
  const end = from + days * 86_400_000
  const beats: ForetoldBeat[] = []
  const coming = rows
    .map((row) => ({ row, agents: dueWith(row, agents), at: row.schedule.next(from) }))
    .filter((one) => !one.row.paused && one.agents.length > 0)
  for (;;) {
    const at = Math.min(...coming.map((one) => one.at ?? Number.POSITIVE_INFINITY))
    if (at > end) return { beats, until: end }
    if (beats.length >= MOST_BEATS) return { beats, until: at - 1 }
    for (const one of coming)
      if (one.at === at) {
        beats.push({ at, schedule_id: one.row.schedule_id, agents: one.agents })
        one.at = one.row.schedule.next(at)
      }
  }
}

function daysOf(
  { timezone, from, costOf }: Days,
  beats: readonly ForetoldBeat[],
  until: number,
): readonly ForetoldDay[] {
  const dayOf = dayIn(timezone)
  const byDay = Map.groupBy(beats, ({ at }) => dayOf(at))
  const days: ForetoldDay[] = []
  for (let date = dayOf(from); date <= dayOf(until); date = dayAfter(date, 1)) {
    const its = byDay.get(date) ?? []
    days.push({ date, beats: its.length, dispatches: dispatchesOf(its), ...sumOf(its, costOf) })
  }
  return days
}

const dispatchesOf = (beats: readonly ForetoldBeat[]): number =>
  beats.reduce((sum, { agents }) => sum + agents.length, 0)

function sumOf(beats: readonly ForetoldBeat[], costOf: Days['costOf']): Cost {
  const costs = beats.flatMap(({ agents }) => agents.map((agent) => costOf(agent)))
  return {
    usd_low: costs.reduce((sum, cost) => sum + (cost?.usd_low ?? 0), 0),
    usd_high: costs.reduce((sum, cost) => sum + (cost?.usd_high ?? 0), 0),
  }
}

function conflictsOf(asked: Days, beats: readonly ForetoldBeat[]): readonly Conflict[] {
  const found = new Map<string, Conflict>()
  const note = (conflict: Conflict): void => {
    const key = [conflict.kind, ...conflict.schedules, 'agent' in conflict ? conflict.agent : ''].join(' ')
    const known = found.get(key)
    found.set(key, known ? { ...known, times: known.times + 1 } : conflict)
  }
  for (const [at, its] of Map.groupBy(beats, (beat) => beat.at)) {
    const { max_concurrent } = asked
    const schedules = its.map(({ schedule_id }) => schedule_id)
    const due = dispatchesOf(its)
    const noted = { schedules, first: at, times: 1 }
    if (schedules.length > 1) note({ kind: 'together', ...noted })
    if (due > max_concurrent) note({ kind: 'crowded', ...noted, due, max_concurrent })
  }
  for (const [id, its] of Map.groupBy(beats, ({ schedule_id }) => schedule_id))
    for (const [i, { at, agents }] of its.slice(1).entries())
      for (const agent of agents) {
        const interval_ms = at - (its[i]?.at ?? at)
        const timeout_ms = asked.timeoutOf(agent)
        if (timeout_ms !== null && interval_ms < timeout_ms)
          note({ kind: 'too_close', schedules: [id], agent, interval_ms, timeout_ms, first: at, times: 1 })
      }
  return [...found.values()]
}
