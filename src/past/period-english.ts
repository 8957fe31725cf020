/** English words for periods of the past. Pure. */

import { ANY_DAY } from '../schedule-words/english-words.ts'
import { ENGLISH_NUMBER as N, readNumber } from '../schedule-words/numerals.ts'
import { ENGLISH_DATES, ENGLISH_MONTHS } from './period-english-dates.ts'
import {
  AFTER_PREPOSITION,
  DAY_PARTS,
  type DayPart,
  inexact,
  type PeriodRule,
  type PeriodToken,
  partToken,
  rangeOf,
  englishRule as words,
} from './period-tokens.ts'
import {
  DAY_MS,
  daysFrom,
  HOUR_MS,
  latestWeekday,
  monthsFrom,
  quarterFrom,
  type WallRange,
  weekFrom,
  yearFrom,
} from './wall-clock.ts'

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const weekdayIn = (text: string): number => WEEKDAYS.indexOf(text.toLowerCase().slice(0, 3))
const amountIn = (text: string | undefined): number => (text === undefined ? 1 : (readNumber(text) ?? Number.NaN))

const FULL_DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day'
const PART = 'morning|noon|afternoon|evening|night'

const WEEKDAY_RULES: readonly PeriodRule[] = [
  words(`(?:last week'?s?|(?:on )?the previous week'?s?) (${ANY_DAY})`, ([, day = '']) => weekdayOfWeek(day, -1)),
  words(`(?:on )?(${ANY_DAY}) (?:of )?(?:last week|the previous week|the week before)`, ([, day = '']) =>
    weekdayOfWeek(day, -1),
  ),
  words(`(?:on )?(${ANY_DAY}) (?:of )?this week|this week'?s? (${ANY_DAY})`, ([, day, other = '']) =>
    weekdayOfWeek(day ?? other, 0),
  ),
  words(`this (${ANY_DAY})`, ([, day = '']) => weekdayOfWeek(day, 0)),
  words(`next (?:${ANY_DAY}|week|month|year|time)`, () => ({ kind: 'future' })),
  words(`(?:last|previous) (${ANY_DAY})`, ([, day = '']) => {
    const weekday = weekdayIn(day)
    return { kind: 'range', at: (today) => latestWeekday(today, weekday, true) }
  }),
  words(`${AFTER_PREPOSITION}(${ANY_DAY})`, ([, day = '']) => plainWeekday(day)),
  words(`(${FULL_DAY})`, ([, day = '']) => plainWeekday(day)),
]

function plainWeekday(day: string): PeriodToken {
  const weekday = weekdayIn(day)
  return { kind: 'range', at: (today) => latestWeekday(today, weekday) }
}

function weekdayOfWeek(day: string, week: number): PeriodToken {
  const weekday = weekdayIn(day)
  return { kind: 'range', at: (today) => daysFrom(weekFrom(today, week).from, (weekday + 6) % 7) }
}

const dayPart = (offset: number, part: DayPart): PeriodToken => ({
  kind: 'range',
  at(today) {
    const { from } = daysFrom(today, offset)
    return { from: from + DAY_PARTS[part].from * HOUR_MS, to: from + DAY_PARTS[part].to * HOUR_MS }
  },
})

const DAYS: readonly PeriodRule[] = [
  words(
    '(?:the )?day before yesterday',
    rangeOf((today) => daysFrom(today, -2)),
  ),
  words('last night|overnight|during the night', () => dayPart(-1, 'night')),
  words('tonight|this night', () => dayPart(0, 'night')),
  words('this (morning|noon|afternoon|evening)', ([, part]) => dayPart(0, part?.toLowerCase() as DayPart)),
  words(
    'today(?!\\.\\w)',
    rangeOf((today) => daysFrom(today, 0)),
  ),
  words(
    'yesterday',
    rangeOf((today) => daysFrom(today, -1)),
  ),
  words('tomorrow|the day after tomorrow', () => ({ kind: 'future' })),
  words(`(${PART})`, ([, part]) => partToken(part?.toLowerCase() as DayPart)),
]

const LAST = '(?:(?:in|over|during|for|within) )?(?:the )?(?:last|past|previous)'
const FEW = '(?:few|several|couple(?: of)?|some)'

const lastOf = (amount: number, unit: string): PeriodToken | undefined => {
  if (!Number.isInteger(amount) || amount < 1) return undefined
  switch (unit.toLowerCase().replace(/s$/, '')) {
    case 'minute':
      return { kind: 'span', ms: amount * 60_000 }
    case 'hour':
      return { kind: 'span', ms: amount * HOUR_MS }
    case 'week':
      return { kind: 'range', at: (today) => daysFrom(today, 1 - amount * 7, amount * 7) }
    case 'month':
      return { kind: 'range', at: (today) => ({ from: monthsBack(today, amount), to: today + DAY_MS }) }
    case 'year':
      return { kind: 'range', at: (today) => ({ from: monthsBack(today, amount * 12), to: today + DAY_MS }) }
    default:
      return { kind: 'range', at: (today) => daysFrom(today, 1 - amount, amount) }
  }
}

/** The day after the same date `months` months earlier, so that the days up to now are whole months. */
export function monthsBack(today: number, months: number): number {
  const at = new Date(today)
  const { from, to } = monthsFrom(today, -months)
  return Math.min(from + (at.getUTCDate() - 1) * DAY_MS, to - DAY_MS) + DAY_MS
}

const AGO: Readonly<Record<string, (today: number, amount: number) => WallRange>> = {
  day: (today, amount) => daysFrom(today, -amount),
  night: (today, amount) => daysFrom(today, -amount),
  week: (today, amount) => weekFrom(today, -amount),
  month: (today, amount) => monthsFrom(today, -amount),
  year: (today, amount) => yearFrom(today, -amount),
}

const SPANS: readonly PeriodRule[] = [
  words(
    `${LAST} ${FEW} (?:minutes|hours|days|weeks|months|years)|the other day|a while ago|a few (?:\\w+) ago`,
    ([text]) => inexact(text),
  ),
  words(`these (?:last |past )?(?:few )?days|earlier this (?:week|month|year)`, ([text]) => inexact(text)),
  words(`${LAST} (${N}) (minutes?|hours?|days?|weeks?|months?|years?)`, ([, amount, unit = '']) =>
    lastOf(amountIn(amount), unit),
  ),
  words(`${LAST} half(?: an)? hour`, () => ({ kind: 'span', ms: HOUR_MS / 2 })),
  words(`${LAST} hour`, () => ({ kind: 'span', ms: HOUR_MS })),
  words('(?:the )?(?:last|past) fortnight', () => lastOf(2, 'week')),
  words('(?:(?:in|over|during|for) )?(?:the (?:last|past)|past) (day|week|month|year)', ([, unit = '']) =>
    unit.toLowerCase() === 'day' ? { kind: 'span', ms: DAY_MS } : lastOf(1, unit),
  ),
  words(`(${N}|an?) (days?|nights?|weeks?|months?|years?) ago`, ([, amount, unit = '']) => {
    const count = amountIn(amount)
    const ago = AGO[unit.toLowerCase().replace(/s$/, '')]
    return Number.isInteger(count) && ago ? { kind: 'range', at: (today) => ago(today, count) } : undefined
  }),
  words(`(${N}|an?|half an) (?:minutes?|hours?) ago|just now|a moment ago`, ([text]) => inexact(text)),
]

const WEEKS: readonly PeriodRule[] = [
  words('(?:the )?(week|month|year) before last', ([, unit = '']) => {
    const ago = AGO[unit.toLowerCase()]
    return ago && { kind: 'range', at: (today) => ago(today, 2) }
  }),
  words(
    "(?:this|the current)(?: whole)? week(?:'s)?",
    rangeOf((today) => weekFrom(today, 0)),
  ),
  words(
    "(?:last|the previous) week(?:'s)?",
    rangeOf((today) => weekFrom(today, -1)),
  ),
  words(
    "(?:this|the current) month(?:'s)?",
    rangeOf((today) => monthsFrom(today, 0)),
  ),
  words(
    "(?:last|the previous) month(?:'s)?",
    rangeOf((today) => monthsFrom(today, -1)),
  ),
  words(
    "(?:this|the current) quarter(?:'s)?",
    rangeOf((today) => quarterFrom(today, 0)),
  ),
  words(
    "(?:last|the previous) quarter(?:'s)?",
    rangeOf((today) => quarterFrom(today, -1)),
  ),
  words(
    "(?:this|the current) year(?:'s)?",
    rangeOf((today) => yearFrom(today, 0)),
  ),
  words(
    "(?:last|the previous) year(?:'s)?",
    rangeOf((today) => yearFrom(today, -1)),
  ),
  words("(?:(?:over|on|at|during) )?(?:the|last|the last|the past) weekend(?:'s)?", rangeOf(latestWeekend)),
  words(
    'this weekend',
    rangeOf((today) => daysFrom(weekFrom(today, 0).from, 5, 2)),
  ),
]

/** The latest weekend that has begun. */
export function latestWeekend(today: number): WallRange {
  const weekend = daysFrom(weekFrom(today, 0).from, 5, 2)
  return weekend.from <= today ? weekend : daysFrom(weekend.from, -7, 2)
}

const VAGUE: readonly PeriodRule[] = [
  words('recently|lately|of late', () => ({ kind: 'recent' })),
  words('ever|all time|(?:in|of) all|in total|overall|altogether|since the (?:beginning|start)|so far', () => ({
    kind: 'all',
  })),
]

/** Longer readings first: the first rule that fits at a position wins. */
export const ENGLISH_PERIODS: readonly PeriodRule[] = [
  ...ENGLISH_DATES,
  ...SPANS,
  ...WEEKDAY_RULES,
  ...WEEKS,
  ...DAYS,
  ...ENGLISH_MONTHS,
  ...VAGUE,
]
