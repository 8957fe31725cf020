/**
 * Schedule: when something is due. Cron lines, intervals and single instants differ in what comes next, and in nothing else.
 * Must not know: the clock, who waits, what happens then.
 * Invariant: a schedule is a pure function, so restarts and several machines agree on every instant.
 */

import { isCalendarDay } from '../domain/duration.ts'
import { TirelessError } from '../domain/error.ts'
import { isDuration, isInstant } from '../domain/limits.ts'
import type { ScheduleSpec } from '../domain/schedule.ts'
import { cronNext } from './cron.ts'
import { type Zone, zoneOf } from './zone.ts'

export interface Schedule {
  /** Contract: the first instant strictly after `after`, in epoch milliseconds; undefined where none is left. */
  next(after: number): number | undefined
}

/** Contract: throws `usage` saying what is wrong with it. `anchor`: an instant that an interval is counted from. */
export function scheduleOf(spec: ScheduleSpec, timezone: string, anchor = 0): Schedule {
  const zone = zoneOf(timezone)
  if (typeof spec === 'string') return { next: cronNext(spec, zone) }
  return 'every' in spec ? every(spec.every, anchor) : at(spec.at, zone)
}

/** Counted from an anchor, not from the beat before: it neither drifts nor shifts with a restart. */
function every(ms: number, anchor: number): Schedule {
  if (!isDuration(ms) || ms === 0)
    throw new TirelessError('usage', {
      what: 'this is no interval',
      got: `${ms} ms`,
      expected: 'whole milliseconds, 1 or more, at most 100 years',
    })
  return { next: (after) => anchor + (Math.floor((after - anchor) / ms) + 1) * ms }
}

function at(text: string, zone: Zone): Schedule {
  const instant = instantOf(text, zone)
  return { next: (after) => (after < instant ? instant : undefined) }
}

const INSTANT = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/

function instantOf(text: string, zone: Zone): number {
  const [, date, time, offset] = INSTANT.exec(text) ?? []
  const wall = Date.parse(`${date}${time}Z`)
  const isDay = !Number.isNaN(wall) && isCalendarDay(String(date))
  const instant = offset === undefined && isDay ? zone.reaches(wall) : Date.parse(text)
  if (isDay && isInstant(instant)) return instant
  throw new TirelessError('usage', {
    what: 'this is no instant',
    got: JSON.stringify(text),
    expected:
      'one in the years 1970 to 9999 such as 2026-01-31T09:00:00Z, or 2026-01-31T09:00 on the wall clock of the schedule',
  })
}
