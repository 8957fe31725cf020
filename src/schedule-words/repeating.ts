/** Puts tokens together into a schedule that repeats: cron lines or an interval. Pure. */

import type { TimeOfDay } from './calendar-time.ts'
import { type Group, isGeneral, pairDaysWithTimes, segmentsOf } from './pair-days.ts'
import { type ScheduleReading, unclear } from './reading.ts'
import { REASONS, type Reason } from './reasons.ts'
import { type ResolvedTime, resolveTimes } from './resolve-times.ts'
import type { FoundToken, SaidTime, TimeToken } from './tokens.ts'

const DEFAULT_TIME: ResolvedTime = { hour: 9, minute: 0, past_midnight: false }
const ALL_DAYS = [0, 1, 2, 3, 4, 5, 6]

type Of<K extends TimeToken['kind']> = Extract<FoundToken, { readonly kind: K }>

export function assembleRepeating(tokens: readonly FoundToken[]): ScheduleReading {
  const intervals = tokens.filter((token) => intervalOf(token) !== undefined)
  if (intervals.length > 1) return unclear(REASONS.twoIntervals(intervals.map(({ text }) => text).join(', ')))
  const [interval] = intervals
  const [, other] = segmentsOf(tokens)
  // "every 2 hours and every Monday" are two schedules.
  if (interval && other) return unclear(REASONS.apartFromInterval(interval.text, other[0]?.text ?? ''))
  if (interval) return assembleInterval(tokens, interval)
  if (tokens.some(({ kind }) => kind === 'window')) return unclear(REASONS.windowAlone())
  // The days that a task mentions, such as "what is due today", do not say when it repeats.
  const said = tokens.filter(({ kind }) => kind !== 'relative_day')
  const groups = pairDaysWithTimes(said)
  if (!groups) return unclear(REASONS.unpaired())
  const lines: string[] = []
  for (const group of groups) {
    const found = cronLinesOf(group, said)
    if ('why' in found) return unclear(found.why)
    lines.push(...found.lines)
  }
  return scheduleOf([...new Set(lines)])
}

/** Lines that a person can still read in a file. */
const MAX_LINES = 6

function scheduleOf(lines: readonly string[]): ScheduleReading {
  if (lines.length === 0) return unclear(REASONS.noDays())
  if (lines.length > MAX_LINES) return unclear(REASONS.tooMany())
  return { kind: 'schedule', schedule: lines.join('; ') }
}

interface Interval {
  readonly amount: number
  readonly unit: 'second' | 'minute' | 'hour' | 'day' | 'week'
}

/** Undefined: the token is no interval. A single day or week is a period of the calendar. */
function intervalOf(token: FoundToken): Interval | undefined {
  if (token.kind === 'interval') return token
  if (token.kind !== 'period') return undefined
  return token.period === 'hour' || token.period === 'minute' ? { amount: 1, unit: token.period } : undefined
}

function assembleInterval(tokens: readonly FoundToken[], found: FoundToken): ScheduleReading {
  const interval = intervalOf(found) ?? { amount: 1, unit: 'hour' }
  const { amount, unit } = interval
  if (amount < 1) return unclear(REASONS.noInterval(found.text))
  const others = tokens.filter(
    (token) => token !== found && !(token.kind === 'period' && token.period === 'day') && token.kind !== 'relative_day',
  )
  if (amount === 1 && (unit === 'day' || unit === 'week'))
    return assembleRepeating([
      ...tokens.filter((token) => token !== found),
      { ...found, kind: 'period', period: unit } as FoundToken,
    ])
  const windows = others.filter((token) => token.kind === 'window')
  const days = others.filter((token) => token.kind === 'weekdays' || token.kind === 'except')
  const [rest] = others.filter(({ kind }) => !['window', 'weekdays', 'except'].includes(kind))
  if (rest) return unclear(REASONS.apartFromInterval(found.text, rest.text))
  if (windows.length > 1) return unclear(REASONS.twoWindows())
  const [window] = windows
  const weekdays = days.length === 0 ? undefined : weekdaysOf(days)
  if (days.length > 0 && !weekdays) return unclear(REASONS.unclearDays())
  if (window?.kind === 'window') return assembleWindow(interval, window, weekdays ?? ALL_DAYS)
  if (weekdays) return intervalOnDays(interval, weekdays)
  if (amount === 1 && unit === 'hour') return scheduleOf(['0 * * * *'])
  if (amount === 1 && unit === 'minute') return scheduleOf(['* * * * *'])
  return { kind: 'schedule', schedule: { every: unit === 'week' ? `${amount * 7}d` : `${amount}${unit.charAt(0)}` } }
}

function intervalOnDays({ amount, unit }: Interval, days: readonly number[]): ScheduleReading {
  const on = dayField(days)
  if (unit === 'hour' && 24 % amount === 0) return scheduleOf([`0 ${amount === 1 ? '*' : `*/${amount}`} * * ${on}`])
  if (unit === 'minute' && 60 % amount === 0) return scheduleOf([`${amount === 1 ? '*' : `*/${amount}`} * * * ${on}`])
  return unclear(REASONS.intervalInDay())
}

/** All times of the interval within the window, the end included. */
function assembleWindow({ amount, unit }: Interval, window: Of<'window'>, days: readonly number[]): ScheduleReading {
  const step = unit === 'hour' ? amount * 60 : unit === 'minute' ? amount : undefined
  const span = windowMinutes(window)
  if (step === undefined || !span) return unclear(REASONS.noSpan(window.text))
  const count = Math.floor((span.to - span.from) / step) + 1
  const times = Array.from({ length: count }, (_, i) => span.from + i * step)
  return scheduleOf(
    linesOf(
      times.map((at) => ({ hour: Math.floor(at / 60), minute: at % 60 })),
      '*',
      '*',
      dayField(days),
    ),
  )
}

function windowMinutes({ from, to }: Of<'window'>): { readonly from: number; readonly to: number } | undefined {
  const start = hourOf(from)
  if (start === undefined) return undefined
  const end = hourOf(to) ?? to.hour + 12
  const [first, last] = [start * 60 + from.minute, end * 60 + to.minute]
  // "from 9 to 5" ends in the afternoon; "from 8 to 6" too.
  const until = last <= first && to.half === undefined && to.hour < 12 ? last + 720 : last
  return until > first && until < 24 * 60 ? { from: first, to: until } : undefined
}

/** Undefined: a small hour that may be of the morning or of the afternoon. */
function hourOf({ hour, half, exact }: SaidTime): number | undefined {
  if (half !== undefined) return (hour % 12) + (half === 'pm' ? 12 : 0)
  return exact === true || hour > 5 ? hour : undefined
}

type Lines = { readonly lines: readonly string[] } | { readonly why: Reason }

function cronLinesOf({ days, times: said }: Group, all: readonly FoundToken[]): Lines {
  const resolved = resolveTimes(said)
  if ('why' in resolved) return resolved
  const times = resolved.times.length === 0 ? [DEFAULT_TIME] : resolved.times
  const counts = all.filter((token) => token.kind === 'count')
  const isDaily = counts.some(({ per }) => per === 'day')
  const dayFields = dayFieldsOf(days, isDaily, resolved.times.length > 0)
  if ('why' in dayFields) return dayFields
  const wrong = counts.find(
    ({ count, per }) => count !== (per === 'day' ? resolved.times.length : per === 'week' ? dayFields.weekdays : -1),
  )
  if (wrong) return { why: REASONS.countWithoutTimes(wrong.text) }
  if (!dayFields.daily && times.some(({ past_midnight }) => past_midnight)) return { why: REASONS.midnight() }
  return { lines: dayFields.fields.flatMap(([date, month, weekday]) => linesOf(times, date, month, weekday)) }
}

/** One line for all minutes that have the same hours. */
function linesOf(times: readonly TimeOfDay[], date: string, month: string, weekday: string): readonly string[] {
  const hoursOf = new Map<number, number[]>()
  for (const { hour, minute } of times) hoursOf.set(minute, [...(hoursOf.get(minute) ?? []), hour])
  const minutesOf = new Map<string, number[]>()
  for (const [minute, hours] of hoursOf) {
    const field = listField(hours)
    minutesOf.set(field, [...(minutesOf.get(field) ?? []), minute])
  }
  return [...minutesOf].map(([hours, minutes]) => `${listField(minutes)} ${hours} ${date} ${month} ${weekday}`)
}

/** "9-17" for three and more in a row, otherwise "9,12". */
function listField(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b)
  const [first = 0] = sorted
  const isRun = sorted.length > 2 && sorted.every((value, i) => value === first + i)
  return isRun ? `${first}-${first + sorted.length - 1}` : sorted.join(',')
}

const dayField = (days: readonly number[]): string => (new Set(days).size === 7 ? '*' : listField([...new Set(days)]))

type DayFields =
  | {
      readonly fields: readonly (readonly [date: string, month: string, weekday: string])[]
      readonly daily: boolean
      readonly weekdays: number
    }
  | { readonly why: Reason }

function dayFieldsOf(days: readonly FoundToken[], isDaily: boolean, hasTime: boolean): DayFields {
  const periods = new Set(days.flatMap((token) => (token.kind === 'period' ? [token.period] : [])))
  if (isDaily) periods.add('day')
  const specific = days.filter((token) => !isGeneral(token))
  const refusal = findUnclearDays(specific, periods, hasTime)
  if (refusal !== undefined) return { why: refusal }
  if (specific.length === 0) return fieldsOfPeriods(periods)
  if (specific.some(({ kind }) => kind === 'except')) {
    const weekdays = weekdaysOf(specific)
    return weekdays
      ? { fields: [['*', '*', dayField(weekdays)]], daily: false, weekdays: weekdays.length }
      : { why: REASONS.unclearException() }
  }
  const weekdays = [...new Set(specific.flatMap((token) => (token.kind === 'weekdays' ? token.days : [])))]
  const fields = [
    ...(weekdays.length > 0 ? [['*', '*', dayField(weekdays)] as const] : []),
    ...specific.flatMap((token) => fieldsOfToken(token)),
  ]
  return { fields, daily: weekdays.length === 7, weekdays: weekdays.length }
}

function fieldsOfToken(token: FoundToken): readonly (readonly [string, string, string])[] {
  if (token.kind === 'dates_of_month') return [[token.dates.join(','), '*', '*']]
  if (token.kind === 'weekdays_of_month') return token.fields.map((field) => ['*', '*', field] as const)
  if (token.kind === 'date_of_year') return [[String(token.date), String(token.month), '*']]
  return []
}

function fieldsOfPeriods(periods: ReadonlySet<string>): DayFields {
  const [period, ...more] = periods
  if (more.length > 0) return { why: REASONS.twoPeriods([...periods]) }
  if (period === 'day') return { fields: [['*', '*', '*']], daily: true, weekdays: 7 }
  if (period === 'week') return { fields: [['*', '*', '1']], daily: false, weekdays: 1 }
  if (period === 'month') return { fields: [['1', '*', '*']], daily: false, weekdays: 0 }
  if (period === 'quarter') return { fields: [['1', '1,4,7,10', '*']], daily: false, weekdays: 0 }
  if (period === 'year') return { fields: [['1', '1', '*']], daily: false, weekdays: 0 }
  return { why: REASONS.onceOrRepeating() }
}

function findUnclearDays(
  days: readonly FoundToken[],
  periods: ReadonlySet<string>,
  hasTime: boolean,
): Reason | undefined {
  const except = days.findIndex(({ kind }) => kind === 'except')
  const specific = except < 0 ? days : days.slice(0, except)
  for (const token of specific) {
    if (token.kind === 'weekdays') {
      if (!token.repeats && !periods.has('week') && !(token.listed && hasTime)) return REASONS.weeklyOrOnce(token.text)
      if (periods.has('month') || periods.has('year') || periods.has('quarter'))
        return REASONS.weekdayOfMonth(token.text)
    }
    if (token.kind === 'dates_of_month' && !token.repeats && !periods.has('month'))
      return REASONS.monthlyOrOnce(token.text)
    if (token.kind === 'date_of_year' && !token.yearly && !periods.has('year'))
      return REASONS.onceInRepeating(token.text)
    if (token.kind === 'relative_weekday' || token.kind === 'delay') return REASONS.onceInRepeating(token.text)
    if (token.kind !== 'weekdays' && (periods.has('day') || periods.has('week'))) return REASONS.twoDaySets(token.text)
  }
  if (periods.has('quarter') && specific.length > 0) return REASONS.daysOfQuarter()
  return undefined
}

/** The weekdays that are left after the exception; undefined if the exception names no weekday. */
function weekdaysOf(tokens: readonly FoundToken[]): readonly number[] | undefined {
  const at = tokens.findIndex(({ kind }) => kind === 'except')
  const isNamed = tokens.every((token) => token.kind !== 'weekdays' || token.repeats)
  if (at < 0) return isNamed ? tokens.flatMap(daysOf) : undefined
  // The exception is the weekdays right after the word; other days may come before or after.
  const [out, ...more] = tokens.slice(at + 1)
  if (out?.kind !== 'weekdays') return undefined
  const named = [...tokens.slice(0, at), ...more].flatMap(daysOf)
  const days = (named.length > 0 ? named : ALL_DAYS).filter((day) => !out.days.includes(day))
  return days.length === 0 ? undefined : days
}

const daysOf = (token: FoundToken): readonly number[] => (token.kind === 'weekdays' ? token.days : [])
