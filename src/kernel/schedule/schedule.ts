/**
 * Schedule: when something is due. Cron lines, intervals and single instants differ only in `next`.
 * Must not know: the clock, who waits for a beat, what a beat starts.
 * Invariant: a schedule is a pure function, so restarts and several machines agree on every instant.
 */

import { isCalendarDay } from '../../domain/duration.ts'
import { TirelessError } from '../../domain/error.ts'
import { isDuration, isInstant } from '../../domain/limits.ts'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import { parseCron } from './cron.ts'
import { loadZone, type TimeZone } from './time-zone.ts'

export interface Schedule {
  /** Contract: the first due instant after `after`, in milliseconds since the epoch; undefined if none is left. */
  next(after: number): number | undefined
}

/** Contract: throws `usage` if the schedule is invalid. `anchor`: the instant from which an interval is counted. */
export function parseSchedule(spec: ScheduleSpec, timezone: string, anchor = 0): Schedule {
  const zone = loadZone(timezone)
  if (typeof spec === 'string') return cronSchedule(spec.split(';'), zone)
  return 'every' in spec ? intervalSchedule(spec.every, anchor) : instantSchedule(spec.at, zone)
}

/** Due whenever one of the lines is. */
function cronSchedule(lines: readonly string[], zone: TimeZone): Schedule {
  const [only, ...more] = lines.map((line) => parseCron(line, zone))
  if (only && more.length === 0) return { next: only }
  const nexts = [...(only ? [only] : []), ...more]
  return {
    next(after) {
      const due = nexts.flatMap((next) => next(after) ?? [])
      return due.length === 0 ? undefined : Math.min(...due)
    },
  }
}

/** Instants are counted from the anchor, not from the last beat, so that a late beat or a restart shifts none. */
function intervalSchedule(ms: number, anchor: number): Schedule {
  if (!isDuration(ms) || ms === 0)
    throw new TirelessError('usage', {
      what: 'invalid interval',
      got: `${ms} ms`,
      expected: 'whole milliseconds, 1 or more, at most 100 years',
    })
  return { next: (after) => anchor + (Math.floor((after - anchor) / ms) + 1) * ms }
}

function instantSchedule(text: string, zone: TimeZone): Schedule {
  const instant = parseInstant(text, zone)
  return { next: (after) => (after < instant ? instant : undefined) }
}

const INSTANT = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/

function parseInstant(text: string, zone: TimeZone): number {
  const [, date, time, offset] = INSTANT.exec(text) ?? []
  const wall = Date.parse(`${date}${time}Z`)
  const isDay = !Number.isNaN(wall) && isCalendarDay(String(date))
  const instant = offset === undefined && isDay ? zone.firstInstantShowing(wall) : Date.parse(text)
  if (isDay && isInstant(instant)) return instant
  throw new TirelessError('usage', {
    what: 'invalid date and time',
    got: JSON.stringify(text),
    expected:
      'a date in the years 1970 to 9999 such as 2026-01-31T09:00:00Z, or 2026-01-31T09:00 in the zone of the schedule',
  })
}
