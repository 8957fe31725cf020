/** The coming beats by day and hour, in the browser's time zone. Pure. */

import type { Simulation } from '../api-types.ts'

export interface CalendarHour {
  readonly at: number
  /** The most that are due at one instant. */
  readonly atOnce: number
  readonly entries: readonly CalendarEntry[]
}

interface CalendarEntry {
  readonly at: number
  readonly schedule_id: string
  readonly agents: readonly string[]
}

export interface CalendarDay {
  /** As the server names it: `2026-11-17`. */
  readonly date: string
  readonly at: number
  readonly hours: readonly CalendarHour[]
  readonly usd: number
}

const DAYS = 7

/** Contract: today and the six days after it; what has passed by `now` is left out. */
export function calendarDays({ beats, hours, days }: Simulation, now: number): readonly CalendarDay[] {
  const entries = beats.map((beat) => ({ ...beat, at: Date.parse(beat.at) })).filter(({ at }) => at >= now)
  const byHour = Map.groupBy(entries, ({ at }) => startOfHour(at))
  const atOnce = new Map(hours.map((hour) => [Date.parse(hour.at), hour.at_once]))
  const first = new Date(now)
  return Array.from({ length: DAYS }, (_, offset) => {
    const start = new Date(first.getFullYear(), first.getMonth(), first.getDate() + offset)
    const end = new Date(first.getFullYear(), first.getMonth(), first.getDate() + offset + 1)
    const date = dateOf(start)
    return {
      ...{ date, at: start.getTime(), usd: days.find((day) => day.date === date)?.usd_likely ?? 0 },
      hours: [...byHour]
        .filter(([at]) => at >= start.getTime() && at < end.getTime())
        .map(([at, own]) => ({ at, entries: own, atOnce: atOnce.get(at) ?? mostAtOnce(own) })),
    }
  })
}

function startOfHour(at: number): number {
  const time = new Date(at)
  return new Date(time.getFullYear(), time.getMonth(), time.getDate(), time.getHours()).getTime()
}

const twoDigits = (number: number): string => String(number).padStart(2, '0')

const dateOf = (day: Date): string =>
  `${day.getFullYear()}-${twoDigits(day.getMonth() + 1)}-${twoDigits(day.getDate())}`

/** Where the hours of the server's time zone begin at other minutes. */
const mostAtOnce = (entries: readonly CalendarEntry[]): number =>
  Math.max(
    ...[...Map.groupBy(entries, ({ at }) => at).values()].map((group) =>
      group.reduce((sum, { agents }) => sum + agents.length, 0),
    ),
  )
