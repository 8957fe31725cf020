/**
 * Cron: which instants a cron line means on a zone's wall clock. The one file that knows croner, and uses its calendar alone: its
 * own handling of zones loses `0,30 2 * * *` when the clock is put forward and doubles it when it is put back, and reads the present.
 *
 * The rule, in docs/schedules.md and proved in forty zones by schedule-zones.test.ts:
 * - A line that names hours keeps the wall clock: each of its times is due once, at the first instant at which the clock shows that time
 *   or a later one. So a time that comes twice is due the first time, and one that is jumped over is due when the clock has jumped.
 * - A line for every hour goes with the time that passes: it is due whenever the clock shows its minute, in both passes of an hour that
 *   comes twice, and not in one that is jumped over.
 */

import { CronDate, CronPattern } from 'croner'
import { TirelessError } from '../domain/error.ts'
import type { Zone } from './zone.ts'

/** Contract: the first instant after `after`; undefined where there is none before the year 3000. */
export function cronNext(line: string, zone: Zone): (after: number) => number | undefined {
  const pattern = patternOf(line)
  const nextWall = (wall: number): number | undefined =>
    timeOf(new CronDate(new Date(wall), 0).increment(pattern, {}, false))
  if (nextWall(0) === undefined) throw badLine(line, 'no day is like that')
  return pattern.hour.every(Boolean) ? whenShown(nextWall, zone) : whenReached(nextWall, zone)
}

type NextWall = (wall: number) => number | undefined

function whenReached(nextWall: NextWall, zone: Zone) {
  return (after: number): number | undefined => {
    for (let wall = nextWall(after + zone.offsetAt(after)); wall !== undefined; wall = nextWall(wall)) {
      const instant = zone.reaches(wall)
      if (instant > after) return instant
    }
    return undefined
  }
}

function whenShown(nextWall: NextWall, zone: Zone) {
  return (after: number): number | undefined => {
    let from = after + 1
    for (;;) {
      const offset = zone.offsetAt(from)
      const wall = nextWall(from + offset - 1)
      if (wall === undefined) return undefined
      const instant = wall - offset
      const change = zone.changeIn(from, instant)
      if (change === undefined) return instant
      from = change
    }
  }
}

const timeOf = (date: CronDate | null): number | undefined => date?.getTime()

function patternOf(line: string): CronPattern {
  try {
    return new CronPattern(line, undefined, { mode: '5-or-6-parts' })
  } catch (thrown) {
    throw badLine(line, thrown instanceof Error ? thrown.message.replace(/^CronPattern: /, '') : String(thrown))
  }
}

function badLine(line: string, why: string): TirelessError {
  return new TirelessError('usage', {
    what: `no schedule can be made of this cron line: ${why}`,
    got: JSON.stringify(line),
    expected:
      'five fields (minute hour day month weekday), six with seconds first, or @hourly @daily @weekly @monthly @yearly',
    fix: 'write "30 9 * * 1-5", for example',
  })
}
