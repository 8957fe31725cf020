/**
 * Rhythm: how far apart the kernel's beats are, and when the next ones come, from its settings alone. Pure.
 * Must not know: the clock, and what a beat sets off.
 */

import { scheduleOf } from './schedule.ts'
import type { Settings } from './settings.ts'
import { ownZone, wallTime } from './zone.ts'

/** From one beat of the kernel to the next. */
export function beatMs({ schedule, timezone }: Settings, now: number): number {
  const beats = scheduleOf(schedule, timezone ?? ownZone())
  const next = beats.next(now)
  const after = next === undefined ? undefined : beats.next(next)
  return next === undefined || after === undefined ? Number.POSITIVE_INFINITY : after - next
}

/** When an agent's turn comes: by its own schedule, or the kernel's; undefined where it never does. */
export function nextFor(
  { enabled, agents, schedule, timezone }: Settings,
  agentId: string,
  now: number,
): number | undefined {
  const agent = agents.find(({ agent_id }) => agent_id === agentId)
  if (!enabled || !agent?.enabled) return undefined
  return scheduleOf(agent.schedule ?? schedule, timezone ?? ownZone()).next(now)
}

/** The kernel's first beat at `instant` or later, as its owner's clock shows it: the date only where it is not within a day of `now`. */
export function nextBeatTime({ schedule, timezone }: Settings, instant: number, now: number): string | undefined {
  const zone = timezone ?? ownZone()
  const next = Number.isFinite(instant) ? scheduleOf(schedule, zone).next(instant - 1) : undefined
  if (next === undefined) return undefined
  const written = wallTime(next, zone)
  return next - now < 86_400_000 ? written.slice(-'HH:MM'.length) : written
}
