/**
 * Borne-out time: what the commits of the store confirm about the wall clock. A clock that jumps ahead must not delete,
 * expire or deny what is not old, so all of that follows borne-out time. Pure.
 */

export interface ClockRecord {
  /** Borne-out time of the last commit. */
  readonly at: number
  /** While the wall clock is in doubt: what it showed when the doubt began, and how long programs have run since. */
  readonly doubt: { readonly wall: number; readonly at: number; readonly ran_ms: number } | null
  /** Borne-out time before the wall clock went far back, to which it may return without doubt. */
  readonly left: { readonly at: number; readonly ran_ms: number } | null
  /** The days on which the store committed, as ranges of days since 1970 in UTC, oldest first. */
  readonly days: readonly (readonly [number, number])[]
}

/** A wall clock further ahead is in doubt. A little more than 36 hours, so that a jump of 36 hours is not. */
const MAX_LEAP_MS = (36 * 60 + 10) * 60_000
/** After this much running time with commits, the wall clock is believed. */
export const BELIEVED_AFTER_MS = 24 * 3_600_000
const DAY_MS = 86_400_000

/** A record, and what has passed since: monotonic time, and the wall clock now. */
interface Reading {
  readonly elapsed: number
  readonly wall: number
}

/** Contract: the wall clock, unless it is in doubt; never later than the wall clock. */
export function borneOutTime(record: ClockRecord, { elapsed, wall }: Reading): number {
  return isInDoubt(record, { elapsed, wall }) ? record.at + Math.floor(elapsed) : wall
}

export function isInDoubt({ at, left }: ClockRecord, { elapsed, wall }: Reading): boolean {
  return wall > at + elapsed + MAX_LEAP_MS && (left === null || wall > left.at + left.ran_ms + elapsed + MAX_LEAP_MS)
}

/** The instant whose day counts for caps of a day: a jump of the clock opens one new day at most. */
export function budgetTime(record: ClockRecord, reading: Reading): number {
  if (!isInDoubt(record, reading)) return reading.wall
  const since = record.doubt === null ? 0 : record.at + Math.floor(reading.elapsed) - record.doubt.at
  return (record.doubt?.wall ?? reading.wall) + since
}

/** Contract: the record after a commit. */
export function afterCommit(record: ClockRecord, reading: Reading): ClockRecord {
  const { wall } = reading
  // Monotonic time has fractions, and stored instants are whole.
  const elapsed = Math.floor(reading.elapsed)
  const expected = record.at + elapsed
  if (isInDoubt(record, reading)) {
    const began = record.doubt ?? { wall, at: expected, ran_ms: 0 }
    const doubt = { ...began, ran_ms: record.doubt === null ? 0 : began.ran_ms + elapsed }
    if (doubt.ran_ms >= BELIEVED_AFTER_MS) return believeWall(record, wall)
    return { at: expected, doubt, left: longerAgo(record.left, elapsed), days: withDay(record.days, expected) }
  }
  const hasGoneBack = wall < expected - MAX_LEAP_MS
  const left = longerAgo(record.left, elapsed)
  return {
    at: wall,
    doubt: null,
    left: hasGoneBack
      ? { at: Math.max(expected, left === null ? 0 : left.at + left.ran_ms), ran_ms: 0 }
      : left !== null && (wall > left.at - MAX_LEAP_MS || left.ran_ms >= BELIEVED_AFTER_MS)
        ? null
        : left,
    days: withDay(record.days, wall),
  }
}

const longerAgo = (left: ClockRecord['left'], elapsed: number): ClockRecord['left'] =>
  left && { at: left.at, ran_ms: left.ran_ms + elapsed }

/** The wall clock is right: its owner says so, or it has shown the same for long enough. */
export const believeWall = ({ days }: ClockRecord, wall: number): ClockRecord => ({
  at: wall,
  doubt: null,
  left: null,
  days: withDay(days, wall),
})

/** The oldest days are forgotten: no setting keeps records for longer. */
const MAX_RANGES = 400

function withDay(days: ClockRecord['days'], instant: number): ClockRecord['days'] {
  const day = Math.floor(instant / DAY_MS)
  if (days.some(([first, last]) => first <= day && day <= last)) return days
  const before = days.filter(([, last]) => last < day - 1)
  const after = days.filter(([first]) => first > day + 1)
  const touching = days.filter(([first, last]) => last >= day - 1 && first <= day + 1)
  const joined = [day, ...touching.flat()]
  return [...before, [Math.min(...joined), Math.max(...joined)] as const, ...after].slice(-MAX_RANGES)
}

/**
 * Contract: records from before this instant are older than `age` days, counted in days on which the store committed;
 * undefined: none is.
 */
export function cutoffAfterDays(record: ClockRecord, age: number, now: number): number | undefined {
  const today = Math.floor(now / DAY_MS)
  let left = Math.ceil(age)
  for (const [first, last] of record.days.toReversed()) {
    const to = Math.min(last, today)
    if (to < first) continue
    if (to - first + 1 >= left) return Math.min((to - left + 1) * DAY_MS, now - age * DAY_MS)
    left -= to - first + 1
  }
  return undefined
}

/** Contract: the record of a home that has none yet. `last`: the newest instant that its records name. */
export const firstClockRecord = (last: number | undefined, wall: number): ClockRecord => ({
  at: Math.min(last ?? wall, wall),
  doubt: null,
  left: null,
  days: [],
})

/** The name of the setting with the record. */
export const CLOCK_SETTING = 'clock'

/** Contract: undefined if the value is not a record. */
export function readClockRecord(value: unknown): ClockRecord | undefined {
  const found = value as Partial<ClockRecord> | null
  const isRecord = Number.isSafeInteger(found?.at) && Array.isArray(found?.days)
  return isRecord
    ? { at: Number(found?.at), doubt: found?.doubt ?? null, left: found?.left ?? null, days: found?.days ?? [] }
    : undefined
}
