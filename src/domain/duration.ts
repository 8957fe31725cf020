/** Durations and instants as people write them: `500ms`, `30s`, `10m`, `2h`, `1d`; `2030-01-31T09:00:00Z`. */

import { isDuration, isInstant } from './limits.ts'

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds, or undefined when it is no duration, or one out of range. */
export function parseDuration(text: string): number | undefined {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(text)
  if (!found) return undefined
  const ms = Math.round(Number(found[1]) * UNIT_MS[found[2] as keyof typeof UNIT_MS])
  return isDuration(ms) ? ms : undefined
}

/** An instant in epoch ms: an ISO date, or a duration from `now`. Undefined when it is neither, or out of range. */
export function parseInstant(text: string, now: number): number | undefined {
  const duration = parseDuration(text)
  const instant = duration === undefined ? parseIsoDate(text.trim()) : now + duration
  return isInstant(instant) ? instant : undefined
}

const ISO_DATE = /^(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i

/** Not `Date.parse` alone: that takes "foo 1" for the year 2001. */
function parseIsoDate(text: string): number | undefined {
  const [, day] = ISO_DATE.exec(text) ?? []
  return day !== undefined && isCalendarDay(day) ? Date.parse(text) : undefined
}

/** Contract: takes `2026-01-31`; false for a day that no calendar has, such as the 31st of February, which `Date` reads as the 3rd of March. */
export function isCalendarDay(day: string): boolean {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day)
}
