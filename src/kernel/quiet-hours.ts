/**
 * Quiet hours: in which nobody is told anything that can wait, by the owner's wall clock.
 * Must not know: what is told. Pure.
 */

import { zoneOf } from './zone.ts'

const DAY_MS = 86_400_000

/** Contract: the instant at which they end, where `now` is within them. `hours`: as `22:00-07:00`; from and to the same hour is never. */
export function quietUntil(hours: string | null, timezone: string, now: number): number | undefined {
  const [from, to] = (hours ?? '').split('-').map(minutesOf)
  if (from === undefined || to === undefined || from === to) return undefined
  const zone = zoneOf(timezone)
  const wall = now + zone.offsetAt(now)
  const midnight = Math.floor(wall / DAY_MS) * DAY_MS
  const minute = Math.floor((wall - midnight) / 60_000)
  const overnight = from > to
  const within = overnight ? minute >= from || minute < to : minute >= from && minute < to
  if (!within) return undefined
  const day = overnight && minute >= from ? midnight + DAY_MS : midnight
  // Where the clock is put back over the end of them, it has been reached already: then it is now.
  return Math.max(now, zone.reaches(day + to * 60_000))
}

function minutesOf(text: string): number | undefined {
  const [hours, minutes] = text.split(':').map(Number)
  return hours === undefined || minutes === undefined ? undefined : hours * 60 + minutes
}
