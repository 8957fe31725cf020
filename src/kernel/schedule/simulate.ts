/**
 * Simulate: the beats of the coming days, their cost, and conflicts between schedules. Pure.
 * Must not know: which agents a planner would leave out; every due agent is counted.
 */

import type { Agent } from '../../domain/agent.ts'
import { addDays, dayFormatter } from '../../domain/day.ts'
import { dueAgents, type ScheduleRow } from './all-schedules.ts'

/** Maximum number of simulated beats; more would take too long to compute and to read. */
const MAX_BEATS = 100_000

export interface SimulationInput {
  readonly rows: readonly ScheduleRow[]
  readonly agents: readonly Agent[]
  readonly from: number
  readonly days: number
  /** The time zone that decides when a day begins. */
  readonly timezone: string
  readonly max_concurrent: number
  /** Milliseconds that a run of an agent may take; null: no limit. */
  timeoutOf(agent: string): number | null
  /** Cost of one run of an agent; null: unknown. */
  costOf(agent: string): Cost | null
}

export interface Cost {
  readonly usd_low: number
  readonly usd_high: number
}

export interface SimulatedBeat {
  readonly at: number
  readonly schedule_id: string
  readonly agents: readonly string[]
}

interface SimulatedDay extends Cost {
  readonly date: string
  readonly beats: number
  readonly dispatches: number
}

/** A conflict of one kind between the same schedules. `times`: how often it occurs; `first`: when it occurs first. */
type Conflict = { readonly first: number; readonly times: number } & (
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

interface Simulation extends Cost {
  readonly beats: readonly SimulatedBeat[]
  readonly days: readonly SimulatedDay[]
  readonly conflicts: readonly Conflict[]
  /** Due agents whose cost is unknown; the sums do not include them. */
  readonly unpriced: readonly string[]
  /** All beats up to this instant are listed; it is earlier than requested if there are too many beats. */
  readonly until: number
}

export function simulateSchedules(request: SimulationInput): Simulation {
  const { beats, until } = listBeats(request)
  const agents = new Set(beats.flatMap((beat) => beat.agents))
  return {
    beats,
    days: sumByDay(request, beats, until),
    ...sumCost(beats, request.costOf),
    conflicts: findConflicts(request, beats),
    unpriced: [...agents].filter((agent) => request.costOf(agent) === null).sort(),
    until,
  }
}

/** Lists the beats in order of time; beats of the same instant in the order of the schedules. */
function listBeats({ rows, agents, from, days }: SimulationInput): {
  readonly beats: readonly SimulatedBeat[]
  readonly until: number
} {
  const end = from + days * 86_400_000
  const beats: SimulatedBeat[] = []
  const upcoming = rows
    .map((row) => ({ row, agents: dueAgents(row, agents), at: row.schedule.next(from) }))
    .filter((entry) => !entry.row.paused && entry.agents.length > 0)
  for (;;) {
    const at = Math.min(...upcoming.map((entry) => entry.at ?? Number.POSITIVE_INFINITY))
    if (at > end) return { beats, until: end }
    if (beats.length >= MAX_BEATS) return { beats, until: at - 1 }
    for (const entry of upcoming)
      if (entry.at === at) {
        beats.push({ at, schedule_id: entry.row.schedule_id, agents: entry.agents })
        entry.at = entry.row.schedule.next(at)
      }
  }
}

function sumByDay(
  { timezone, from, costOf }: SimulationInput,
  beats: readonly SimulatedBeat[],
  until: number,
): readonly SimulatedDay[] {
  const dayOf = dayFormatter(timezone)
  const byDay = Map.groupBy(beats, ({ at }) => dayOf(at))
  const days: SimulatedDay[] = []
  for (let date = dayOf(from); date <= dayOf(until); date = addDays(date, 1)) {
    const group = byDay.get(date) ?? []
    days.push({ date, beats: group.length, dispatches: countDispatches(group), ...sumCost(group, costOf) })
  }
  return days
}

const countDispatches = (beats: readonly SimulatedBeat[]): number =>
  beats.reduce((sum, { agents }) => sum + agents.length, 0)

function sumCost(beats: readonly SimulatedBeat[], costOf: SimulationInput['costOf']): Cost {
  const costs = beats.flatMap(({ agents }) => agents.map((agent) => costOf(agent)))
  return {
    usd_low: costs.reduce((sum, cost) => sum + (cost?.usd_low ?? 0), 0),
    usd_high: costs.reduce((sum, cost) => sum + (cost?.usd_high ?? 0), 0),
  }
}

function findConflicts(request: SimulationInput, beats: readonly SimulatedBeat[]): readonly Conflict[] {
  const conflicts = new Map<string, Conflict>()
  const addConflict = (conflict: Conflict): void => {
    const key = [conflict.kind, ...conflict.schedules, 'agent' in conflict ? conflict.agent : ''].join(' ')
    const known = conflicts.get(key)
    conflicts.set(key, known ? { ...known, times: known.times + 1 } : conflict)
  }
  for (const [at, group] of Map.groupBy(beats, (beat) => beat.at)) {
    const { max_concurrent } = request
    const schedules = group.map(({ schedule_id }) => schedule_id)
    const due = countDispatches(group)
    const base = { schedules, first: at, times: 1 }
    if (schedules.length > 1) addConflict({ kind: 'together', ...base })
    if (due > max_concurrent) addConflict({ kind: 'crowded', ...base, due, max_concurrent })
  }
  for (const [id, group] of Map.groupBy(beats, ({ schedule_id }) => schedule_id))
    for (const [i, { at, agents }] of group.slice(1).entries())
      for (const agent of agents) {
        const interval_ms = at - (group[i]?.at ?? at)
        const timeout_ms = request.timeoutOf(agent)
        if (timeout_ms !== null && interval_ms < timeout_ms)
          addConflict({ kind: 'too_close', schedules: [id], agent, interval_ms, timeout_ms, first: at, times: 1 })
      }
  return [...conflicts.values()]
}
