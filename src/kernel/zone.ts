/**
 * Zone: a time zone's wall clock, and the instants at which it is put forward or back.
 * Must not know: what is scheduled. A wall time is written as the instant at which a clock in UTC would show it.
 * Invariant: nothing of a zone depends on the present, or on the machine's own.
 */

import { TirelessError } from '../domain/error.ts'
import { iso } from '../ports/clock.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Further than this no wall clock is ahead of UTC. */
const MOST_AHEAD_MS = 15 * HOUR_MS
/** What is found out about a zone is found out for so long at a time, and kept. */
const BLOCK_MS = 128 * DAY_MS

/** From `start` on. */
interface Stretch {
  readonly start: number
  readonly offset: number
}

export interface Zone {
  /** How far its wall clock is ahead of UTC. */
  offsetAt(instant: number): number
  /** Contract: the first instant after `from`, up to and including `to`, at which the wall clock is put forward or back. */
  changeIn(from: number, to: number): number | undefined
  /** Contract: the first instant at which the wall clock shows `wall` or a later time. */
  reaches(wall: number): number
}

/** The machine's own. */
export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** What the wall clock of that zone shows, as `2030-01-31 09:30`. */
export const wallTime = (instant: number, zone: string): string =>
  iso(instant + zoneOf(zone).offsetAt(instant))
    .slice(0, 16)
    .replace('T', ' ')

export function zoneOf(name: string): Zone {
  const read = offsetReader(name)
  const blocks = new Map<number, readonly Stretch[]>()
  const block = (n: number): readonly Stretch[] => {
    const known = blocks.get(n) ?? stretchesIn(n * BLOCK_MS, read)
    blocks.set(n, known)
    return known
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
    let from = wall - MOST_AHEAD_MS
    for (;;) {
      // Where the clock was put forward over it, it shows a later time from the change on.
      const instant = Math.max(from, wall - offsetAt(from))
      const change = changeIn(from, instant)
      if (change === undefined) return instant
      from = change
    }
  }

  return { offsetAt, changeIn, reaches }
}

/** Looked at once a day: no zone has two changes within a day that cancel out. */
function stretchesIn(begin: number, offsetAt: (instant: number) => number): readonly Stretch[] {
  let last = { start: begin, offset: offsetAt(begin) }
  const found = [last]
  for (let day = begin; day < begin + BLOCK_MS; day += DAY_MS) {
    if (offsetAt(day + DAY_MS) === last.offset) continue
    let [low, high] = [day, day + DAY_MS]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offsetAt(middle) === last.offset) low = middle
      else high = middle
    }
    last = { start: high, offset: offsetAt(high) }
    found.push(last)
  }
  return found
}

function offsetReader(timeZone: string): (instant: number) => number {
  // The first format that a process makes takes it longer than all the rest of a configuration's checks.
  if (timeZone === 'UTC') return () => 0
  const format = formatOf(timeZone)
  return (instant) => {
    const whole = Math.floor(instant / 1000) * 1000
    const [month = 0, day, year = 0, hour, minute, second] = format.format(whole).match(/\d+/g)?.map(Number) ?? []
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
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
      what: 'there is no such time zone',
      got: timeZone,
      expected: 'a name such as Asia/Shanghai or UTC',
    })
  }
}
