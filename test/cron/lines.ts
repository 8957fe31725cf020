/**
 * Cron lines for the oracle: hand-written ones for every form, and generated ones. Each field has its text and its
 * meaning.
 */

import { integerBelow, type Key, oneOf } from '../sim/random.ts'
import type { OracleLine, WallDay } from './oracle.ts'

interface ValueField {
  readonly text: string
  readonly has: (value: number) => boolean
}

interface DayField {
  readonly text: string
  readonly has: (day: WallDay) => boolean
}

/** Default fields: ten past two, every day. */
interface Fields {
  readonly second?: ValueField
  readonly minute?: ValueField
  readonly hour?: ValueField
  readonly date?: DayField
  readonly month?: ValueField
  readonly weekday?: DayField
  /** `+`: both days must match. */
  readonly both?: boolean
  /** Replaces the texts of the fields. */
  readonly nickname?: string
}

function lineOf(fields: Fields): OracleLine {
  const { minute = value('10', 10), hour = value('2', 2), date = anyDay, month = any, weekday = anyDay } = fields
  const { second, both = false, nickname } = fields
  const isFree = [date, weekday].some(({ text }) => text === '*' || text === '?')
  const texts = [second?.text, minute.text, hour.text, date.text, month.text, (both ? '+' : '') + weekday.text]
  return {
    text: nickname ?? texts.filter((text) => text !== undefined).join(' '),
    isDay: (day) =>
      month.has(day.month) && (isFree || both ? date.has(day) && weekday.has(day) : date.has(day) || weekday.has(day)),
    isTime: (h, m, s) => hour.has(h) && minute.has(m) && (second ? second.has(s) : s === 0),
    isHourly: Array.from({ length: 24 }, (_, h) => h).every(hour.has),
  }
}

const value = (text: string, ...values: number[]): ValueField => ({ text, has: (v) => values.includes(v) })
const any: ValueField = { text: '*', has: () => true }
const days = (text: string, has: (day: WallDay) => boolean): DayField => ({ text, has })
const anyDay = days('*', () => true)

/** The workday nearest to a date, by trial: the date itself, then one and two days to either side, within the month. */
function nearestWorkday(date: number, day: WallDay): number | undefined {
  if (date > day.last) return undefined
  const weekdayOf = (other: number): number => (((day.weekday + other - day.date) % 7) + 7) % 7
  const isWorkday = (other: number): boolean => other >= 1 && other <= day.last && weekdayOf(other) % 6 !== 0
  return [date, date - 1, date + 1, date - 2, date + 2].find(isWorkday)
}

const FIRST = days('1', (d) => d.date === 1)
const MIDNIGHT = { minute: value('0', 0), hour: value('0', 0) }

/** Every form of docs/schedules.md. */
export const WRITTEN: readonly OracleLine[] = [
  // Both day fields: these were once missed on 1 March 2025 and 2026, after a Monday in February.
  lineOf({ date: FIRST, weekday: days('1', (d) => d.weekday === 1) }),
  lineOf({
    date: days('*/10', (d) => d.date % 10 === 1),
    weekday: days('5#2', (d) => d.weekday === 5 && d.date > 7 && d.date < 15),
  }),
  lineOf({ date: FIRST, weekday: days('MON', (d) => d.weekday === 1), both: true }),
  lineOf({ date: days('29-31', (d) => d.date >= 29), weekday: days('0', (d) => d.weekday === 0) }),
  lineOf({ date: days('1-7', (d) => d.date <= 7), weekday: days('sat,SUN', (d) => d.weekday % 6 === 0) }),
  lineOf({ date: days('?', () => true), weekday: days('mon-fri', (d) => d.weekday % 6 !== 0) }),
  lineOf({ date: days('15', (d) => d.date === 15), weekday: days('?', () => true) }),
  // Days of the week: 7 is Sunday, a range may end there, L and # count within the month.
  lineOf({ weekday: days('7', (d) => d.weekday === 0) }),
  lineOf({ weekday: days('fri-sun', (d) => [5, 6, 0].includes(d.weekday)) }),
  lineOf({ weekday: days('1-7/2', (d) => [1, 3, 5, 0].includes(d.weekday)) }),
  lineOf({ weekday: days('*/3', (d) => [0, 3, 6].includes(d.weekday)) }),
  lineOf({ weekday: days('5L', (d) => d.weekday === 5 && d.date > d.last - 7) }),
  lineOf({ weekday: days('5-6#L', (d) => d.weekday >= 5 && d.date > d.last - 7) }),
  lineOf({ weekday: days('thu#5', (d) => d.weekday === 4 && d.date > 28) }),
  lineOf({
    weekday: days('1#1,3#3', (d) => (d.weekday === 1 && d.date < 8) || (d.weekday === 3 && d.date > 14 && d.date < 22)),
  }),
  // Days of the month: L, LW, W, and days that few months have.
  lineOf({ date: days('L', (d) => d.date === d.last) }),
  lineOf({ date: days('1,L', (d) => d.date === 1 || d.date === d.last) }),
  lineOf({ date: days('LW', (d) => d.date === nearestWorkday(d.last, d)) }),
  ...[1, 15, 30, 31].map((date) => lineOf({ date: days(`${date}W`, (d) => d.date === nearestWorkday(date, d)) })),
  lineOf({
    date: days('L', (d) => d.date === d.last),
    weekday: days('1L', (d) => d.weekday === 1 && d.date > d.last - 7),
  }),
  lineOf({ month: value('2', 2), date: days('29', (d) => d.date === 29) }),
  lineOf({ month: value('FEB,apr-Jun', 2, 4, 5, 6), date: days('31,30,29', (d) => d.date >= 29) }),
  lineOf({ month: value('2-12/5', 2, 7, 12), date: days('*/31', (d) => d.date === 1) }),
  // Times of day: lists, ranges, steps; lines for every hour.
  lineOf({ minute: value('0,30', 0, 30), hour: value('0-3', 0, 1, 2, 3) }),
  lineOf({ minute: { text: '*/7', has: (m) => m % 7 === 0 }, hour: { text: '1-23/2', has: (h) => h % 2 === 1 } }),
  lineOf({ minute: any, hour: any }),
  lineOf({ minute: { text: '5-59/10', has: (m) => m % 10 === 5 }, hour: { text: '0-23', has: () => true } }),
  lineOf({ minute: value('59', 59), hour: value('23', 23), date: days('L', (d) => d.date === d.last) }),
  // Nicknames.
  lineOf({ minute: value('0', 0), hour: any, nickname: '@hourly' }),
  ...['@daily', '@midnight'].map((nickname) => lineOf({ ...MIDNIGHT, nickname })),
  lineOf({ ...MIDNIGHT, weekday: days('0', (d) => d.weekday === 0), nickname: '@weekly' }),
  lineOf({ ...MIDNIGHT, date: FIRST, nickname: '@Monthly' }),
  ...['@yearly', '@annually'].map((nickname) => lineOf({ ...MIDNIGHT, month: value('1', 1), date: FIRST, nickname })),
]

/** A line drawn from a seed; with `isSeconds` it has six fields. */
export function generatedLine(seed: number, isSeconds = false): OracleLine {
  return lineOf({
    ...(isSeconds ? { second: drawnValues(seed, 'second', 0, 59) } : {}),
    minute: drawnValues(seed, 'minute', 0, 59),
    hour: drawnValues(seed, 'hour', 0, 23),
    date: drawnDates(seed),
    month: integerBelow(seed, 3, 'months') === 0 ? drawnValues(seed, 'month', 1, 12) : any,
    weekday: drawnWeekdays(seed),
    both: integerBelow(seed, 6, 'both') === 0,
  })
}

function drawnValues(seed: number, name: Key, min: number, max: number): ValueField {
  const draw = (key: Key): number => min + integerBelow(seed, max - min + 1, name, key)
  const [a, b, c] = [draw('a'), draw('b'), draw('c')]
  const [low, high] = [Math.min(a, b), Math.max(a, b)]
  const step = 1 + integerBelow(seed, Math.min(12, max), name, 'step')
  return oneOf<ValueField>(
    seed,
    [
      any,
      value(String(a), a),
      value(`${a},${b},${c}`, a, b, c),
      { text: `${low}-${high}`, has: (v) => v >= low && v <= high },
      { text: `${low}-${high}/${step}`, has: (v) => v >= low && v <= high && (v - low) % step === 0 },
      { text: `*/${step}`, has: (v) => (v - min) % step === 0 },
      { text: `${low}-${high},${c}`, has: (v) => (v >= low && v <= high) || v === c },
    ],
    name,
    'form',
  )
}

function drawnDates(seed: number): DayField {
  const date = 1 + integerBelow(seed, 31, 'date')
  const plain = drawnValues(seed, 'dates', 1, 31)
  return oneOf<DayField>(
    seed,
    [
      anyDay,
      days(plain.text, (d) => plain.has(d.date)),
      days(String(date), (d) => d.date === date),
      days('L', (d) => d.date === d.last),
      days('LW', (d) => d.date === nearestWorkday(d.last, d)),
      days(`${date}W`, (d) => d.date === nearestWorkday(date, d)),
      days(`${date},L`, (d) => d.date === date || d.date === d.last),
    ],
    'date form',
  )
}

function drawnWeekdays(seed: number): DayField {
  const weekday = integerBelow(seed, 7, 'weekday')
  const nth = 1 + integerBelow(seed, 5, 'nth')
  const plain = drawnValues(seed, 'weekdays', 0, 6)
  return oneOf<DayField>(
    seed,
    [
      anyDay,
      anyDay,
      days(plain.text, (d) => plain.has(d.weekday)),
      days(String(weekday), (d) => d.weekday === weekday),
      days(`${weekday}L`, (d) => d.weekday === weekday && d.date > d.last - 7),
      days(`${weekday}#${nth}`, (d) => d.weekday === weekday && d.date > nth * 7 - 7 && d.date <= nth * 7),
      days('tue-sun', (d) => d.weekday !== 1),
    ],
    'weekday form',
  )
}
