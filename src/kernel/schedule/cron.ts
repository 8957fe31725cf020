/**
 * Cron: computes the instants at which a cron line is due on a zone's wall clock.
 * Must not know: the present time, who waits for a beat, the syntax of a line (cron-line.ts).
 * Invariant: every matching wall time is found, in order; cron.test.ts compares the result with a search through every
 * minute from 2024 to 2030.
 *
 * The rule for clock changes (docs/schedules.md; schedule-zones.test.ts checks it in forty zones):
 * - A line with fixed hours follows the wall clock: each of its times is due once, at the first instant at which the
 *   clock shows that time or a later one. A repeated time is due the first time only, a skipped one at the jump.
 * - A line for every hour follows elapsed time: it is due whenever the clock shows its minute, in both passes of a
 *   repeated hour, and not in a skipped one.
 */

import { type CalendarDay, type CronLine, invalidCronLine, parseCronLine } from './cron-line.ts'
import type { TimeZone } from './time-zone.ts'

const DAY_MS = 86_400_000
/** The Gregorian calendar, weekdays included, repeats after this many months. */
const CALENDAR_MONTHS = 400 * 12

/** Contract: the returned function gives the first instant after `after`; undefined if no valid date is left. */
export function parseCron(text: string, zone: TimeZone): (after: number) => number | undefined {
  const line = parseCronLine(text)
  const nextWall = (wall: number): number | undefined => nextWallTime(line, wall)
  if (nextWall(0) === undefined) throw invalidCronLine(text, 'no month has that day')
  return line.hours.length === 24 ? byElapsedTime(nextWall, zone) : byWallClock(nextWall, zone)
}

type NextWall = (wall: number) => number | undefined

function byWallClock(nextWall: NextWall, zone: TimeZone) {
  return (after: number): number | undefined => {
    for (let wall = nextWall(after + zone.offsetAt(after)); wall !== undefined; wall = nextWall(wall)) {
      const instant = zone.firstInstantShowing(wall)
      if (instant > after) return instant
    }
    return undefined
  }
}

function byElapsedTime(nextWall: NextWall, zone: TimeZone) {
  return (after: number): number | undefined => {
    let from = after + 1
    for (;;) {
      const offset = zone.offsetAt(from)
      const wall = nextWall(from + offset - 1)
      if (wall === undefined) return undefined
      const instant = wall - offset
      const change = zone.nextTransition(from, instant)
      if (change === undefined) return instant
      from = change
    }
  }
}

/** The first matching wall time after `wall`: later on the same day, else the first time of the next matching day. */
function nextWallTime(line: CronLine, wall: number): number | undefined {
  const from = (Math.floor(wall / 1000) + 1) * 1000
  const today = Math.floor(from / DAY_MS)
  for (const day of daysFrom(line, today)) {
    const time = firstTime(line, day === today ? (from - day * DAY_MS) / 1000 : 0)
    if (time !== undefined) return day * DAY_MS + time * 1000
  }
  return undefined
}

/** The days from `first` on that match the line, as numbers of days since 1 January 1970. */
function* daysFrom(line: CronLine, first: number): Generator<number> {
  const start = new Date(first * DAY_MS)
  const [year, month] = [start.getUTCFullYear(), start.getUTCMonth()]
  for (let ahead = 0; ahead <= CALENDAR_MONTHS; ahead += 1) {
    if (!line.months.has(((month + ahead) % 12) + 1)) continue
    const begin = Date.UTC(year, month + ahead, 1) / DAY_MS
    const daysInMonth = Date.UTC(year, month + ahead + 1, 1) / DAY_MS - begin
    for (let day = Math.max(begin, first); day < begin + daysInMonth; day += 1)
      if (line.includesDay(calendarDay(day, begin, daysInMonth))) yield day
  }
}

function calendarDay(day: number, begin: number, daysInMonth: number): CalendarDay {
  // 4, because 1 January 1970 (day 0) was a Thursday.
  return { date: day - begin + 1, weekday: (((day + 4) % 7) + 7) % 7, daysInMonth }
}

/** The first time of day at or after `from` that matches the line; both in seconds after midnight. */
function firstTime({ hours, minutes, seconds }: CronLine, from: number): number | undefined {
  for (const hour of hours) {
    if (hour * 3600 + 3599 < from) continue
    for (const minute of minutes) {
      const begin = hour * 3600 + minute * 60
      if (begin + 59 < from) continue
      const second = seconds.find((value) => begin + value >= from)
      if (second !== undefined) return begin + second
    }
  }
  return undefined
}
