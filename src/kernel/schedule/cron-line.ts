/**
 * Cron line: parses a cron line into times of day and days.
 * Must not know: time zones, the present time, who waits for a beat.
 * Invariants: an accepted line has at least one value per field, every range ascends, and no text is ignored.
 */

import { TirelessError } from '../../domain/error.ts'

/** One day of a month. `date`: 1 to 31; `weekday`: 0 is Sunday. */
export interface CalendarDay {
  readonly date: number
  readonly weekday: number
  readonly daysInMonth: number
}

export interface CronLine {
  /** Seconds, minutes and hours are each sorted in ascending order. */
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  /** 1 is January. */
  readonly months: ReadonlySet<number>
  includesDay(day: CalendarDay): boolean
}

type DayRule = (day: CalendarDay) => boolean

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  /** Names that stand for values; the first name stands for `min`. */
  readonly names?: readonly string[]
}

const SECOND: Field = { name: 'second', min: 0, max: 59 }
const MINUTE: Field = { name: 'minute', min: 0, max: 59 }
const HOUR: Field = { name: 'hour', min: 0, max: 23 }
const DAY: Field = { name: 'day of the month', min: 1, max: 31 }
const MONTH_NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH: Field = { name: 'month', min: 1, max: 12, names: MONTH_NAMES }
/** 7 is Sunday again, so that `fri-sun` and `5-7` ascend. */
const WEEKDAY: Field = {
  name: 'day of the week',
  min: 0,
  max: 7,
  names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
}

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/** Contract: throws `usage` and names the invalid field. */
export function parseCronLine(line: string): CronLine {
  const text = line.trim().toLowerCase()
  const fields = (NICKNAMES.get(text) ?? text).split(/\s+/)
  try {
    if (text.startsWith('@') && !NICKNAMES.has(text)) throw new Error(`${text} is not supported`)
    if (fields.length !== 5 && fields.length !== 6)
      throw new Error(`it has ${countFields(fields)} fields; expected five or six`)
    const [second = '', minute = '', hour = '', date = '', month = '', weekday = ''] =
      fields.length === 5 ? ['0', ...fields] : fields
    return {
      seconds: parseField(SECOND, second),
      minutes: parseField(MINUTE, minute),
      hours: parseField(HOUR, hour),
      months: new Set(parseField(MONTH, month)),
      includesDay: dayRule(date, weekday),
    }
  } catch (thrown) {
    throw invalidCronLine(line, thrown instanceof Error ? thrown.message : String(thrown))
  }
}

const countFields = (fields: readonly string[]): number => fields.filter((field) => field !== '').length

export function invalidCronLine(line: string, why: string): TirelessError {
  return new TirelessError('usage', {
    what: `this cron line is invalid: ${why}`,
    got: JSON.stringify(line),
    expected:
      'five fields (minute hour day month weekday), six with seconds first, or @hourly @daily @weekly @monthly @yearly',
    fix: 'write "30 9 * * 1-5", for example',
  })
}

/**
 * Combines day of month and day of week: if one is `*`, the other decides; otherwise one match is enough, unless the
 * weekday starts with `+`: then both must match.
 */
function dayRule(date: string, weekday: string): DayRule {
  const needsBoth = weekday.startsWith('+')
  const weekdays = needsBoth ? weekday.slice(1) : weekday
  const byDate = anyOf(date.split(',').map(dateRule))
  const byWeekday = anyOf(weekdays.split(',').map(weekdayRule))
  if (needsBoth || isEvery(date) || isEvery(weekdays)) return (day) => byDate(day) && byWeekday(day)
  return (day) => byDate(day) || byWeekday(day)
}

const isEvery = (part: string): boolean => part === '*' || part === '?'

const anyOf =
  (rules: readonly DayRule[]): DayRule =>
  (day) =>
    rules.some((rule) => rule(day))

/** Parses a day of month: `L` (last day), `LW` (last workday), `15W` (workday nearest the 15th), values and ranges. */
function dateRule(part: string): DayRule {
  if (part === 'l') return ({ date, daysInMonth }) => date === daysInMonth
  if (part === 'lw') return (day) => day.date === workdayNearest(day.daysInMonth, day)
  if (part.endsWith('w')) {
    const wanted = parseValue(DAY, part.slice(0, -1))
    return (day) => day.date === workdayNearest(wanted, day)
  }
  const dates = new Set(parsePart(DAY, part))
  return ({ date }) => dates.has(date)
}

/** The day from Monday to Friday nearest to a date of the same month; undefined if the month has no such date. */
function workdayNearest(date: number, { weekday, date: today, daysInMonth }: CalendarDay): number | undefined {
  if (date > daysInMonth) return undefined
  // 35 keeps the sum positive and, as a multiple of seven, does not change the weekday.
  const weekdayOfDate = (weekday + date - today + 35) % 7
  if (weekdayOfDate === 6) return date === 1 ? 3 : date - 1
  if (weekdayOfDate === 0) return date === daysInMonth ? date - 2 : date + 1
  return date
}

/**
 * Parses a day of week: values and ranges; after them `#2` selects the second such day of the month, `L` or `#L` the
 * last.
 */
function weekdayRule(part: string): DayRule {
  const [, days = '', nth] = /^(.+?)(?:#?(l)|#([1-5]))?$/.exec(part)?.filter((found) => found !== undefined) ?? []
  const weekdays = new Set(parsePart(WEEKDAY, days).map((weekday) => weekday % 7))
  return ({ date, weekday, daysInMonth }) => {
    if (!weekdays.has(weekday)) return false
    if (nth === undefined) return true
    return nth === 'l' ? date + 7 > daysInMonth : Math.ceil(date / 7) === Number(nth)
  }
}

function parseField(field: Field, text: string): readonly number[] {
  const values = new Set(text.split(',').flatMap((part) => parsePart(field, part)))
  return [...values].sort((a, b) => a - b)
}

/** Parses one part of a field: `*`, `5` or `1-5`; after `*` or a range a step may follow, such as `/2`. */
function parsePart(field: Field, part: string): readonly number[] {
  const [range = '', step, ...more] = part.split('/')
  if (more.length > 0) throw new Error(`${field.name} "${part}" has two steps`)
  const [from, to] = parseRange(field, range)
  if (step === undefined) return listValues(from, to, 1)
  if (!isEvery(range) && !range.includes('-'))
    throw new Error(`${field.name} "${part}" steps from a single value; write "${range}-${field.max}/${step}"`)
  return listValues(from, to, parseStep(field, step))
}

function parseRange(field: Field, range: string): readonly [number, number] {
  // `*` for weekdays ends at 6: 7 would repeat Sunday, and with a step it would select a wrong day.
  if (isEvery(range)) return [field.min, field === WEEKDAY ? 6 : field.max]
  const [first = '', last, ...more] = range.split('-')
  if (more.length > 0) throw new Error(`${field.name} "${range}" is not a range`)
  const from = parseValue(field, first)
  if (last === undefined) return [from, from]
  const to = field === WEEKDAY && last === 'sun' ? 7 : parseValue(field, last)
  if (from > to) throw new Error(`${field.name} "${range}" does not ascend`)
  return [from, to]
}

function parseStep(field: Field, text: string): number {
  const step = /^\d+$/.test(text) ? Number(text) : 0
  if (step >= 1 && step <= field.max) return step
  throw new Error(`${field.name} step "${text}" is not from 1 to ${field.max}`)
}

function parseValue(field: Field, text: string): number {
  const nameIndex = field.names?.indexOf(text) ?? -1
  if (nameIndex >= 0) return field.min + nameIndex
  if (!/^\d+$/.test(text)) throw new Error(`"${text}" is not a ${field.name}`)
  const value = Number(text)
  if (value >= field.min && value <= field.max) return value
  throw new Error(`${field.name} ${text} is not from ${field.min} to ${field.max}`)
}

function listValues(from: number, to: number, step: number): readonly number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step)
}
