/** From what was said ("8 in the evening", 下午三点和五点) to times of day. Refuses what has two readings. Pure. */

import { type TimeOfDay, writeTimeOfDay } from './calendar-time.ts'
import { REASONS, type Reason } from './reasons.ts'
import type { FoundToken, PartOfDay, SaidTime } from './tokens.ts'

/** `past_midnight`: the time is after the midnight that ends the evening it was said of. */
export interface ResolvedTime extends TimeOfDay {
  readonly past_midnight: boolean
}

type ResolvedTimes = { readonly times: readonly ResolvedTime[] } | { readonly why: Reason }

/** The hour that a part of the day means if no hour is named; undefined: it is too vague. */
const DEFAULT_HOUR: Readonly<Record<PartOfDay, number | undefined>> = {
  ...{ dawn: undefined, morning: 9, noon: 12, afternoon: 15, evening: 18, night: 21, after_dark: 21 },
}

/** From the hour that was said to the hour of the day; undefined: the hour does not belong to that part of the day. */
const HOUR_IN_PART: Readonly<Record<PartOfDay, (hour: number) => number | undefined>> = {
  dawn: (hour) => (hour <= 6 ? hour : hour === 12 ? 0 : undefined),
  morning: (hour) => (hour >= 1 && hour <= 12 ? hour : undefined),
  noon: (hour) => (hour === 1 || hour === 2 ? hour + 12 : hour >= 11 && hour <= 14 ? hour : undefined),
  afternoon: (hour) => (hour >= 1 && hour <= 8 ? hour + 12 : hour >= 12 && hour <= 20 ? hour : undefined),
  evening: (hour) => (hour >= 4 && hour <= 11 ? hour + 12 : hour >= 16 && hour <= 23 ? hour : undefined),
  night: (hour) =>
    hour >= 6 && hour <= 11 ? hour + 12 : hour === 12 ? 0 : hour <= 3 || hour >= 18 ? hour % 24 : undefined,
  after_dark: (hour) =>
    hour >= 5 && hour <= 11 ? hour + 12 : hour === 12 ? 0 : hour <= 3 || hour >= 17 ? hour % 24 : undefined,
}

const isDark = (part: PartOfDay | undefined): boolean => part === 'night' || part === 'after_dark' || part === 'evening'

/** Contract: the times in the order of the day, each once; empty if no time was said. */
export function resolveTimes(tokens: readonly FoundToken[]): ResolvedTimes {
  const said = pairWithParts(tokens)
  if (
    said.length > 1 &&
    said.some(({ time, part }) => time && isBare(time, part)) &&
    said.some(({ time, part }) => time?.half ?? part)
  )
    return { why: REASONS.mixedHalves() }
  const times: ResolvedTime[] = []
  for (const { time, part } of said) {
    const resolved = time ? resolveTime(time, part) : defaultTime(part)
    if ('why' in resolved) return resolved
    times.push(resolved)
  }
  if (
    said.every(({ time, part }) => time && isBare(time, part)) &&
    times.some((time, i) => minutesOf(time) < minutesOf(times[i - 1] ?? time))
  )
    return { why: REASONS.descending() }
  const sorted = [...times].sort((a, b) => minutesOf(a) - minutesOf(b))
  return { times: sorted.filter((time, i) => i === 0 || minutesOf(time) !== minutesOf(sorted[i - 1] ?? time)) }
}

const minutesOf = ({ hour, minute }: TimeOfDay): number => hour * 60 + minute
const isBare = ({ half, exact }: SaidTime, part: PartOfDay | undefined): boolean =>
  half === undefined && exact !== true && part === undefined

interface SaidPair {
  readonly time?: SaidTime
  readonly part?: PartOfDay | undefined
}

/** Gives each time its part of the day: the only one, the one before it, or, if times come first, the one after it. */
function pairWithParts(tokens: readonly FoundToken[]): readonly SaidPair[] {
  const items = tokens.flatMap((token): SaidPair[] => {
    if (token.kind === 'part') return token.parts.map((part) => ({ part }))
    return token.kind === 'time' ? token.times.map((time) => ({ time })) : []
  })
  const parts = items.flatMap(({ part }) => part ?? [])
  const times = items.filter(({ time }) => time !== undefined)
  if (times.length === 0 || parts.length === 0) return items
  if (parts.length === 1) return times.map(({ time }) => ({ ...(time ? { time } : {}), part: parts[0] }))
  const partsFirst = items[0]?.part !== undefined
  const ordered = partsFirst ? items : items.toReversed()
  const pairs: SaidPair[] = []
  let part: PartOfDay | undefined
  let used = true
  for (const item of ordered) {
    if (item.part !== undefined) {
      if (!used) pairs.push({ part })
      part = item.part
      used = false
    } else {
      pairs.push({ ...item, part })
      used = true
    }
  }
  if (!used) pairs.push({ part })
  return partsFirst ? pairs : pairs.toReversed()
}

type Resolved = ResolvedTime | { readonly why: Reason }

function defaultTime(part: PartOfDay | undefined): Resolved {
  const hour = part && DEFAULT_HOUR[part]
  return hour === undefined ? { why: REASONS.hourMissing() } : { hour, minute: 0, past_midnight: false }
}

function resolveTime({ hour, minute, half, exact }: SaidTime, part: PartOfDay | undefined): Resolved {
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return { why: REASONS.noTime(`${hour} ${half}`) }
    return { hour: (hour % 12) + (half === 'pm' ? 12 : 0), minute, past_midnight: false }
  }
  if (hour === 24) return { hour: 0, minute, past_midnight: true }
  if (part === undefined) return resolveBare(hour, minute, exact === true)
  // "every night at midnight": the clock time says everything.
  if (exact === true && hour === 0) return { hour, minute, past_midnight: isDark(part) }
  const meant = HOUR_IN_PART[part](hour)
  if (meant === undefined) return { why: REASONS.wrongPart(writeTimeOfDay({ hour, minute })) }
  return { hour: meant, minute, past_midnight: isDark(part) && meant <= 3 }
}

/** Contract: small hours without a part of the day have two readings. */
function resolveBare(hour: number, minute: number, exact: boolean): Resolved {
  if (!exact && hour >= 1 && hour <= 5) {
    const [early, late] = [hour, hour + 12].map((one) => writeTimeOfDay({ hour: one, minute }))
    return { why: REASONS.twoHours(hour, early ?? '', late ?? '') }
  }
  return { hour, minute, past_midnight: exact && hour === 0 && minute === 0 }
}
