/** The period of a tool's arguments: in words, or by its first and last day or moment. Pure. */

import { type Period, readPeriod } from './period.ts'
import { DAY_MS, startOfDay, type WallClock } from './wall-clock.ts'

export interface PeriodArguments {
  readonly when?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

type Resolved = { readonly period: Period | undefined } | { readonly problem: string }

const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?$/
const EXPECTED = 'expected a day such as 2026-11-03, or a local time such as 2026-11-03T09:30'

/** Contract: `period` undefined: no argument names one. `problem`: what is wrong, for the caller of the tool. */
export function resolvePeriod({ when, from, to }: PeriodArguments, now: number, clock: WallClock): Resolved {
  if (from === undefined && to === undefined)
    return when === undefined ? { period: undefined } : inWords(when, now, clock)
  const [start, end] = [from === undefined ? 0 : wallOf(from), to === undefined ? undefined : wallOf(to)]
  if (Number.isNaN(start)) return { problem: `from: ${JSON.stringify(from)} is no time; ${EXPECTED}` }
  if (Number.isNaN(end)) return { problem: `to: ${JSON.stringify(to)} is no time; ${EXPECTED}` }
  // A day as the end is included.
  const isDay = end !== undefined && startOfDay(end) === end
  const period = {
    from: start === 0 ? 0 : clock.firstInstantShowing(start),
    to: end === undefined ? now + 1 : clock.firstInstantShowing(isDay ? end + DAY_MS : end),
    said: '',
  }
  return period.from < period.to ? { period } : { problem: 'the period ends before it begins' }
}

function inWords(when: string, now: number, clock: WallClock): Resolved {
  const reading = readPeriod(when, now, clock)
  if (reading.kind === 'period') return { period: reading.period }
  if (reading.kind === 'unclear') return { problem: reading.why.en }
  return {
    problem:
      reading.kind === 'future'
        ? `when: "${reading.said}" lies in the future`
        : `when: ${JSON.stringify(when)} names no period; say, for example, "yesterday" or "last week"`,
  }
}

const wallOf = (text: string): number =>
  MOMENT.test(text.trim())
    ? Date.parse(`${text.trim().replace(' ', 'T')}${text.length > 10 ? '' : 'T00:00'}Z`)
    : Number.NaN
