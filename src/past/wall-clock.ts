/**
 * Days, weeks and months of the owner's time zone. A wall time is the instant at which a clock in UTC shows it, in
 * milliseconds since the epoch. Pure.
 */

/** The part of a time zone that periods need. */
export interface WallClock {
  /** Milliseconds that the wall clock is ahead of UTC. */
  offsetAt(instant: number): number
  /** Contract: the first instant at which the wall clock shows `wall` or later. */
  firstInstantShowing(wall: number): number
}

/** Wall times; `to` is not included. */
export interface WallRange {
  readonly from: number
  readonly to: number
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export const wallAt = (clock: WallClock, instant: number): number => instant + clock.offsetAt(instant)

export const startOfDay = (wall: number): number => Math.floor(wall / DAY_MS) * DAY_MS

/** "2026-11-12". */
export const writeDay = (wall: number): string => new Date(wall).toISOString().slice(0, 10)

/** "09:05". */
export const writeTime = (wall: number): string => new Date(wall).toISOString().slice(11, 16)

/** 0 is Sunday. */
export const weekdayOfWall = (wall: number): number => new Date(wall).getUTCDay()

/** Days that follow each other, the first one `offset` days from `day`. */
export const daysFrom = (day: number, offset: number, count = 1): WallRange => ({
  from: day + offset * DAY_MS,
  to: day + (offset + count) * DAY_MS,
})

/** Weeks begin on Monday; 0 is the week of `day`. */
export const weekFrom = (day: number, weeks: number): WallRange =>
  daysFrom(day, -((weekdayOfWall(day) + 6) % 7) + weeks * 7, 7)

/** `months` months, the first one `offset` months from that of `day`. */
export function monthsFrom(day: number, offset: number, months = 1): WallRange {
  const at = new Date(day)
  const start = (shift: number): number => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + shift, 1)
  return { from: start(offset), to: start(offset + months) }
}

export function quarterFrom(day: number, quarters: number): WallRange {
  const month = new Date(day).getUTCMonth()
  return monthsFrom(day, -(month % 3) + quarters * 3, 3)
}

export function yearFrom(day: number, years: number): WallRange {
  const year = new Date(day).getUTCFullYear() + years
  return yearOf(year)
}

export const yearOf = (year: number): WallRange => ({ from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) })

/** The latest such weekday that is not after `day`; `before`: and not `day` itself. */
export function latestWeekday(day: number, weekday: number, before = false): WallRange {
  const back = (weekdayOfWall(day) - weekday + 7) % 7
  return daysFrom(day, back === 0 && before ? -7 : -back)
}

/** Contract: undefined for February 30. */
export function dateOf(year: number, month: number, date: number): WallRange | undefined {
  const at = Date.UTC(year, month - 1, date)
  const day = new Date(at)
  return day.getUTCMonth() + 1 === month && day.getUTCDate() === date ? daysFrom(at, 0) : undefined
}

/** The latest day with that date that is not after `day`. Contract: undefined if there is none in four years. */
export function latestDate(day: number, month: number, date: number): WallRange | undefined {
  const year = new Date(day).getUTCFullYear()
  const found = [year, year - 1, year - 2, year - 3, year - 4].map((one) => dateOf(one, month, date))
  return found.find((range) => range !== undefined && range.from <= day)
}

/** The latest such date of any month that is not after `day`: "on the 3rd". */
export function latestDateOfMonth(day: number, date: number): WallRange | undefined {
  const { from } = monthsFrom(day, 0)
  const found = [0, -1, -2].map((shift) => {
    const month = new Date(monthsFrom(from, shift).from)
    return dateOf(month.getUTCFullYear(), month.getUTCMonth() + 1, date)
  })
  return found.find((range) => range !== undefined && range.from <= day)
}

/** The latest such month that has begun; `month` is 1 to 12. */
export function latestMonth(day: number, month: number): WallRange {
  const now = new Date(day).getUTCMonth() + 1
  return monthsFrom(day, month <= now ? month - now : month - now - 12)
}

/** Contract: `from` and `to` as instants. */
export function instantsOf(clock: WallClock, { from, to }: WallRange): { readonly from: number; readonly to: number } {
  return { from: clock.firstInstantShowing(from), to: clock.firstInstantShowing(to) }
}
