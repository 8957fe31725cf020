/** Dates and times of day as people write them, without a time zone. Pure. */

export interface CalendarTime {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly date: number
  readonly hour: number
  readonly minute: number
}

export interface TimeOfDay {
  readonly hour: number
  readonly minute: number
}

const pad = (value: number): string => String(value).padStart(2, '0')

/** "2026-01-31T09:00". */
export const writeCalendarTime = ({ year, month, date, hour, minute }: CalendarTime): string =>
  `${year}-${pad(month)}-${pad(date)}T${pad(hour)}:${pad(minute)}`

export const writeTimeOfDay = ({ hour, minute }: TimeOfDay): string => `${pad(hour)}:${pad(minute)}`

/** 0 is Sunday. */
export const weekdayOf = ({ year, month, date }: CalendarTime): number =>
  new Date(Date.UTC(year, month - 1, date)).getUTCDay()

export function shiftDate(from: CalendarTime, days: number): CalendarTime {
  const moved = new Date(Date.UTC(from.year, from.month - 1, from.date + days))
  return { ...from, year: moved.getUTCFullYear(), month: moved.getUTCMonth() + 1, date: moved.getUTCDate() }
}

/** Contract: false for February 30. */
export function isCalendarDate(year: number, month: number, date: number): boolean {
  const day = new Date(Date.UTC(year, month - 1, date))
  return day.getUTCMonth() + 1 === month && day.getUTCDate() === date
}
