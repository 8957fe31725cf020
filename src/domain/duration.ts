/** Parses durations and instants: `500ms`, `30s`, `10m`, `2h`, `1d`; `2030-01-31T09:00:00Z`. */

import { isDuration, isInstant } from './limits.ts'

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds; undefined if the text is no duration or out of range. */
export function parseDuration(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(text)
  if (!match) return undefined
  const ms = Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS])
  return isDuration(ms) ? ms : undefined
}

/** The shortest text that `parseDuration` reads back: `2h`, `90m`, `1500ms`. */
export function writeDuration(ms: number): string {
  const [unit, size] = (['d', 'h', 'm', 's', 'ms'] as const)
    .map((name) => [name, UNIT_MS[name]] as const)
    .find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

const UNIT_WORDS = { ms: 'millisecond', s: 'second', m: 'minute', h: 'hour', d: 'day' } as const

/** The same in words: `2 hours`, `90 minutes`. */
export function sayDuration(ms: number): string {
  const [, count = '', unit = 'ms'] = /^(\S+?)([a-z]+)$/.exec(writeDuration(ms)) ?? []
  return `${count} ${UNIT_WORDS[unit as keyof typeof UNIT_WORDS]}${count === '1' ? '' : 's'}`
}

/** Epoch ms of an ISO date, or of a duration from `now`. Undefined if the text is neither, or out of range. */
export function parseInstant(text: string, now: number): number | undefined {
  const duration = parseDuration(text)
  const instant = duration === undefined ? parseIsoDate(text.trim()) : now + duration
  return isInstant(instant) ? instant : undefined
}

const ISO_DATE = /^(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i

/** Checks the format first: `Date.parse` alone would read "foo 1" as the year 2001. */
function parseIsoDate(text: string): number | undefined {
  const [, day] = ISO_DATE.exec(text) ?? []
  return day !== undefined && isCalendarDay(day) ? Date.parse(text) : undefined
}

/**
 * Contract: takes `2026-01-31`; returns false for days that do not exist, such as February 31, which `Date` reads as
 * March 3.
 */
export function isCalendarDay(day: string): boolean {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day)
}
