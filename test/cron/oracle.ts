/**
 * The oracle for cron lines: walks through every minute (or second) of a span and lists when a line is due, by the
 * rule of docs/schedules.md. It shares no code with the program: a line has a text and a predicate, so nothing is
 * parsed; the offset of a zone comes from Intl; and the calendar is counted day by day.
 */

export interface WallDay {
  readonly date: number
  readonly month: number
  readonly weekday: number
  /** 28 to 31. */
  readonly last: number
}

export interface OracleLine {
  readonly text: string
  readonly isDay: (day: WallDay) => boolean
  /** Whether the line names this second of the day. */
  readonly isTime: (hour: number, minute: number, second: number) => boolean
  readonly isHourly: boolean
}

/** Instants in seconds since 1970; `step` is 60 or 1. */
export interface Span {
  readonly from: number
  readonly to: number
  readonly step: number
}

/** From `start` until the next stretch, the wall clock is `offset` seconds ahead of UTC. */
export interface Stretch {
  readonly start: number
  readonly offset: number
}

const DAY = 86_400
const HALF_DAY = DAY / 2

export function stretchesOf(timeZone: string, from: number, to: number): Stretch[] {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (at: number): number => {
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(format.format(at * 1000)) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60)
  }
  const found = [{ start: from, offset: offsetAt(from) }]
  for (let at = from; at < to; at += HALF_DAY) {
    if (offsetAt(at + HALF_DAY) === found.at(-1)?.offset) continue
    for (let minute = at + 60; minute <= at + HALF_DAY; minute += 60) {
      const offset = offsetAt(minute)
      if (offset !== found.at(-1)?.offset) found.push({ start: minute, offset })
    }
  }
  return found
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

/** Every day from 1 January 1970, a Thursday, to the end of 2031. */
export const CALENDAR: readonly WallDay[] = (() => {
  const days: WallDay[] = []
  for (let year = 1970; year < 2032; year += 1)
    for (const [index, usual] of MONTH_DAYS.entries()) {
      const last = index === 1 && isLeap(year) ? 29 : usual
      for (let date = 1; date <= last; date += 1)
        days.push({ date, month: index + 1, weekday: (days.length + 4) % 7, last })
    }
  return days
})()

/** The seconds at which `line` is due, after `span.from` and before `span.to`. */
export function dueTimes(line: OracleLine, stretches: readonly Stretch[], { from, to, step }: Span): number[] {
  const { times, days } = namedTimes(line, step)
  const due: number[] = []
  const show = (begin: number, end: number, instantOf: (wall: number) => number): void => {
    for (let day = Math.floor(begin / DAY); day * DAY < end; day += 1) {
      if (days[day] !== 1) continue
      const last = Math.min(end - day * DAY, DAY) / step
      for (let i = Math.max(begin - day * DAY, 0) / step; i < last; i += 1)
        if (times[i] === 1) due.push(instantOf(day * DAY + i * step))
    }
  }
  let next = (stretches[0]?.start ?? 0) + (stretches[0]?.offset ?? 0)
  for (const [i, { start, offset }] of stretches.entries()) {
    const end = Math.min(stretches[i + 1]?.start ?? to, to) + offset
    const begin = start + offset
    // With named hours: a time that the clock skips is due after the jump; a time that repeats is due once.
    if (!line.isHourly) show(next, begin, () => start)
    show(line.isHourly ? begin : Math.max(begin, next), end, (wall) => wall - offset)
    next = Math.max(next, end)
  }
  return due.filter((at, i) => at > from && at !== due[i - 1])
}

function namedTimes(line: OracleLine, step: number): { readonly times: Uint8Array; readonly days: Uint8Array } {
  const times = new Uint8Array(DAY / step)
  for (let at = 0; at < DAY; at += step)
    times[at / step] = line.isTime(Math.floor(at / 3600), Math.floor(at / 60) % 60, at % 60) ? 1 : 0
  return { times, days: Uint8Array.from(CALENDAR, (day) => (line.isDay(day) ? 1 : 0)) }
}
