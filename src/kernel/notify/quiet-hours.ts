/**
 * Quiet hours: the time of day in which messages that can wait are held back, on the owner's wall clock. Pure.
 * Must not know: what the messages are.
 */

import { loadZone } from '../schedule/time-zone.ts'

const DAY_MS = 86_400_000

/** Contract: the end of the quiet hours if `now` is in them. `hours`: `22:00-07:00`, say; equal times: never. */
export function quietHoursEnd(hours: string | null, timezone: string, now: number): number | undefined {
  const [from, to] = (hours ?? '').split('-').map(minutesOf)
  if (from === undefined || to === undefined || from === to) return undefined
  const zone = loadZone(timezone)
  const wall = now + zone.offsetAt(now)
  const midnight = Math.floor(wall / DAY_MS) * DAY_MS
  const minute = Math.floor((wall - midnight) / 60_000)
  const overnight = from > to
  const within = overnight ? minute >= from || minute < to : minute >= from && minute < to
  if (!within) return undefined
  const day = overnight && minute >= from ? midnight + DAY_MS : midnight
  // If the wall clock is set back across the end of the hours, the end may already have passed; then the end is now.
  return Math.max(now, zone.firstInstantShowing(day + to * 60_000))
}

function minutesOf(text: string): number | undefined {
  const [hours, minutes] = text.split(':').map(Number)
  return hours === undefined || minutes === undefined ? undefined : hours * 60 + minutes
}
