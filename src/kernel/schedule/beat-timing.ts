/**
 * Beat timing: the interval between the kernel's beats and the time of the next beat, from the settings alone. Pure.
 * Must not know: the clock, what a beat triggers.
 */

import type { KernelSettings } from '../settings.ts'
import { parseSchedule } from './schedule.ts'
import { localZone, wallTime } from './time-zone.ts'

/** Milliseconds from the next beat of the kernel to the one after it. */
export function beatIntervalMs({ schedule, timezone }: KernelSettings, now: number): number {
  const beats = parseSchedule(schedule, timezone ?? localZone())
  const next = beats.next(now)
  const after = next === undefined ? undefined : beats.next(next)
  return next === undefined || after === undefined ? Number.POSITIVE_INFINITY : after - next
}

/** The next due time of an agent, by its own schedule or the kernel's; undefined if there is none. */
export function nextDueForAgent(
  { enabled, agents, schedule, timezone }: KernelSettings,
  agentId: string,
  now: number,
): number | undefined {
  const agent = agents.find(({ agent_id }) => agent_id === agentId)
  if (!enabled || !agent?.enabled) return undefined
  return parseSchedule(agent.schedule ?? schedule, timezone ?? localZone()).next(now)
}

/** Wall time of the kernel's first beat at or after `instant`; the date is left out within a day of `now`. */
export function nextBeatTime({ schedule, timezone }: KernelSettings, instant: number, now: number): string | undefined {
  const zone = timezone ?? localZone()
  const next = Number.isFinite(instant) ? parseSchedule(schedule, zone).next(instant - 1) : undefined
  if (next === undefined) return undefined
  const text = wallTime(next, zone)
  return next - now < 86_400_000 ? text.slice(-'HH:MM'.length) : text
}
