/**
 * Time zone: its wall clock and its transitions (clock set forward or back). A wall time is represented by the instant
 * at which a clock in UTC shows it, in milliseconds since the epoch.
 * Must not know: what is scheduled.
 * Invariant: results depend neither on the present time nor on the machine's own zone.
 */

import { TirelessError } from '../../domain/error.ts'
import { iso } from '../../ports/clock.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** No wall clock is further ahead of UTC than this. */
const MAX_AHEAD_MS = 15 * HOUR_MS
/** Offsets are computed and cached in blocks of this length. */
const BLOCK_MS = 128 * DAY_MS

/** A period with the same offset from UTC; `start` is its first instant. */
interface OffsetPeriod {
  readonly start: number
  readonly offset: number
}

export interface TimeZone {
  /** Milliseconds that the wall clock is ahead of UTC. */
  offsetAt(instant: number): number
  /** Contract: the first transition after `from`, up to and including `to`; undefined if there is none. */
  nextTransition(from: number, to: number): number | undefined
  /** Contract: the first instant at which the wall clock shows `wall` or later. */
  firstInstantShowing(wall: number): number
}

/** Name of the machine's time zone. */
export const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** The zone's wall time, such as `2030-01-31 09:30`. */
export const wallTime = (instant: number, zone: string): string =>
  iso(instant + loadZone(zone).offsetAt(instant))
    .slice(0, 16)
    .replace('T', ' ')

export function loadZone(name: string): TimeZone {
  const readOffset = offsetReader(name)
  const blocks = new Map<number, readonly OffsetPeriod[]>()
  const block = (n: number): readonly OffsetPeriod[] => {
    const periods = blocks.get(n) ?? findPeriods(n * BLOCK_MS, readOffset)
    blocks.set(n, periods)
    return periods
  }
  const blockOf = (instant: number): number => Math.floor(instant / BLOCK_MS)

  function offsetAt(instant: number): number {
    return block(blockOf(instant)).findLast(({ start }) => start <= instant)?.offset ?? 0
  }

  function changeIn(from: number, to: number): number | undefined {
    const before = offsetAt(from)
    for (let n = blockOf(from); n * BLOCK_MS <= to; n += 1)
      for (const { start, offset } of block(n))
        if (start > from && offset !== before) return start <= to ? start : undefined
    return undefined
  }

  function reaches(wall: number): number {
    let from = wall - MAX_AHEAD_MS
    for (;;) {
      // A wall time that a forward transition skips is reached at the transition.
      const instant = Math.max(from, wall - offsetAt(from))
      const change = changeIn(from, instant)
      if (change === undefined) return instant
      from = change
    }
  }

  return { offsetAt, nextTransition: changeIn, firstInstantShowing: reaches }
}

/** Finds the offsets of one block. One sample per day is enough: no zone sets its clock back and forth within a day. */
function findPeriods(begin: number, offsetAt: (instant: number) => number): readonly OffsetPeriod[] {
  let last = { start: begin, offset: offsetAt(begin) }
  const periods = [last]
  for (let day = begin; day < begin + BLOCK_MS; day += DAY_MS) {
    if (offsetAt(day + DAY_MS) === last.offset) continue
    let [low, high] = [day, day + DAY_MS]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offsetAt(middle) === last.offset) low = middle
      else high = middle
    }
    last = { start: high, offset: offsetAt(high) }
    periods.push(last)
  }
  return periods
}

function offsetReader(timeZone: string): (instant: number) => number {
  // UTC needs no format; the first `Intl.DateTimeFormat` of a process is slow to create.
  if (timeZone === 'UTC') return () => 0
  const format = createFormat(timeZone)
  return (instant) => {
    const rounded = Math.floor(instant / 1000) * 1000
    const [month = 0, day, year = 0, hour, minute, second] = format.format(rounded).match(/\d+/g)?.map(Number) ?? []
    return Date.UTC(year, month - 1, day, hour, minute, second) - rounded
  }
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    throw new TirelessError('usage', {
      what: 'unknown time zone',
      got: timeZone,
      expected: 'a name such as Asia/Shanghai or UTC',
    })
  }
}
