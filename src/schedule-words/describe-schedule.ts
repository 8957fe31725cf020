/** Says a schedule in words, English or Chinese: "Monday to Friday at 09:00", 每周一至周五 09:00. Pure. */

import type { Language } from '../domain/language.ts'
import type { ScheduleSpec } from '../domain/schedule.ts'
import { writeTimeOfDay } from './calendar-time.ts'

/** Above this number, times are told as a span. */
const MAX_TIMES = 6

interface Phrases {
  readonly join: (items: readonly string[]) => string
  readonly days: readonly string[]
  readonly months: readonly string[]
  readonly daily: string
  readonly weekly: (days: string) => string
  readonly nth: (n: string, day: string) => string
  readonly dates: (dates: readonly string[]) => string
  readonly yearly: (dates: readonly (readonly [month: string, date: string])[]) => string
  readonly dayRange: (from: string, to: string) => string
  readonly at: (days: string, times: string) => string
  readonly span: (days: string, count: number, from: string, to: string) => string
  readonly every: (amount: number, unit: 'minute' | 'hour', days: string | undefined) => string
  readonly interval: (ms: number) => string
  readonly once: (at: string) => string
  readonly cron: (line: string) => string
}

const ORDINAL_WORDS = ['', 'first', 'second', 'third', 'fourth', 'fifth']

function ordinal(date: string): string {
  const n = Number(date)
  const suffix =
    n % 10 === 1 && n !== 11 ? 'st' : n % 10 === 2 && n !== 12 ? 'nd' : n % 10 === 3 && n !== 13 ? 'rd' : 'th'
  return `the ${n}${suffix}`
}

function joinEnglish(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

const ENGLISH_DATES: Readonly<Record<string, string>> = {
  L: 'the last day',
  LW: 'the last workday',
  '1W': 'the first workday',
}
const CHINESE_DATES: Readonly<Record<string, string>> = { L: '最后一天', LW: '最后一个工作日', '1W': '第一个工作日' }

const ENGLISH: Phrases = {
  join: joinEnglish,
  days: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
  months: [
    ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November'],
    'December',
  ],
  daily: 'every day',
  weekly: (days) => (days.includes(' to ') ? days : `every ${days}`),
  nth: (n, day) => `on the ${n === 'L' ? 'last' : ORDINAL_WORDS[Number(n)]} ${day} of every month`,
  dates: (dates) => `on ${joinEnglish(dates.map((date) => ENGLISH_DATES[date] ?? ordinal(date)))} of every month`,
  yearly: (dates) => `every year on ${joinEnglish(dates.map(([month, date]) => `${month} ${date}`))}`,
  dayRange: (from, to) => `${from} to ${to}`,
  at: (days, times) => `${days} at ${times}`,
  span: (days, count, from, to) => `${days}, ${count} times from ${from} to ${to}`,
  every: (amount, unit, days) =>
    `every ${amount === 1 ? unit : `${amount} ${unit}s`}${days === undefined ? '' : `, ${days}`}`,
  interval: (ms) => `every ${lengthOf(ms, { day: 'day', hour: 'hour', minute: 'minute', second: 'second' }, 's')}`,
  once: (at) => `once, at ${at}`,
  cron: (line) => `by the cron line ${line}`,
}

const CHINESE: Phrases = {
  join: (items) => items.join('、'),
  days: ['周日', '周一', '周二', '周三', '周四', '周五', '周六'],
  months: Array.from({ length: 12 }, (_, i) => `${i + 1}月`),
  daily: '每天',
  weekly: (days) => `每${days}`,
  nth: (n, day) => `每月${n === 'L' ? '最后一个' : `第${'〇一二三四五'.charAt(Number(n))}个`}${day}`,
  dates: (dates) =>
    `每月${dates.map((date, i) => CHINESE_DATES[date] ?? `${i === 0 ? ' ' : ''}${date} 号`).join('、')}`,
  yearly: (dates) => `每年${dates.map(([month, date]) => `${month}${date}日`).join('、')}`,
  dayRange: (from, to) => `${from}至${to}`,
  at: (days, times) => `${days} ${times}`,
  span: (days, count, from, to) => `${days} ${from} 至 ${to}，共 ${count} 次`,
  every: (amount, unit, days) => {
    const length =
      unit === 'hour' ? `${amount === 1 ? '' : ` ${amount} `}小时` : `${amount === 1 ? '' : ` ${amount} `}分钟`
    return `${days === undefined ? '' : `${days}，`}每${length}`
  },
  interval: (ms) => `每 ${lengthOf(ms, { day: '天', hour: '小时', minute: '分钟', second: '秒' }, '')}`,
  once: (at) => `一次：${at}`,
  cron: (line) => `按 cron 行 ${line}`,
}

const PHRASES: Readonly<Record<Language, Phrases>> = { en: ENGLISH, zh: CHINESE }

const LENGTHS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

function lengthOf(ms: number, names: Readonly<Record<(typeof LENGTHS)[number][0], string>>, plural: string): string {
  const [unit, size] = LENGTHS.find(([, one]) => ms >= one && ms % one === 0) ?? LENGTHS[3]
  const amount = ms / size
  return amount === 1 && plural !== '' ? names[unit] : `${amount} ${names[unit]}${plural}`
}

/** Several cron lines are told one after the other; a line of a form that has no words is shown as it is. */
export function describeSchedule(spec: ScheduleSpec, language: Language): string {
  const phrases = PHRASES[language]
  if (typeof spec === 'object')
    return 'every' in spec ? phrases.interval(spec.every) : phrases.once(spec.at.replace(/(?<=\d)T(?=\d)/, ' '))
  const lines = spec.split(';').map((line) => describeLine(line.trim(), phrases))
  return lines.join(language === 'zh' ? '；' : '; ')
}

const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MONTH_NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const NICKNAMES: Readonly<Record<string, string>> = {
  ...{ '@hourly': '0 * * * *', '@daily': '0 0 * * *', '@midnight': '0 0 * * *', '@weekly': '0 0 * * 0' },
  ...{ '@monthly': '0 0 1 * *', '@yearly': '0 0 1 1 *', '@annually': '0 0 1 1 *' },
}

/** Contract: the field with numbers in place of names; the first name stands for `base`. */
const withNumbers = (field: string, names: readonly string[], base: number): string =>
  field.replaceAll(/[a-z]{3}/gi, (name) => {
    const index = names.indexOf(name.toLowerCase())
    return index < 0 ? name : String(index + base)
  })

function describeLine(line: string, phrases: Phrases): string {
  const fields = (NICKNAMES[line.toLowerCase()] ?? line).split(/\s+/)
  const [minute = '', hour = '', date = '', namedMonth = '', namedDay = '', ...more] = fields
  const [month, weekday] = [withNumbers(namedMonth, MONTH_NAMES, 1), withNumbers(namedDay, DAY_NAMES, 0)]
  const days = more.length > 0 ? undefined : describeDays([date, month, weekday], phrases)
  if (days === undefined) return phrases.cron(line)
  const step = /^\*(?:\/(\d+))?$/
  const onDays = days === phrases.daily ? undefined : days
  if (step.test(minute) && hour === '*') return phrases.every(Number(step.exec(minute)?.[1] ?? 1), 'minute', onDays)
  if (minute === '0' && step.test(hour)) return phrases.every(Number(step.exec(hour)?.[1] ?? 1), 'hour', onDays)
  const [minutes, hours] = [listValues(minute), listValues(hour)]
  if (!minutes || !hours) return phrases.cron(line)
  const times = hours.flatMap((one) => minutes.map((at) => writeTimeOfDay({ hour: one, minute: at }))).sort()
  const [first = '', last = ''] = [times[0], times.at(-1)]
  return times.length > MAX_TIMES
    ? phrases.span(days, times.length, first, last)
    : phrases.at(days, phrases.join(times))
}

/** Undefined: the fields have no words here. */
function describeDays([date = '', month = '', weekday = '']: readonly string[], phrases: Phrases): string | undefined {
  if (date === '*' && month === '*') return weekday === '*' ? phrases.daily : describeWeekdays(weekday, phrases)
  if (weekday !== '*') return undefined
  const dates = date.split(',')
  const isDate = (one: string): boolean => /^\d+$/.test(one)
  if (month === '*') return dates.every((one) => isDate(one) || one in ENGLISH_DATES) ? phrases.dates(dates) : undefined
  const months = listValues(month)
  if (!months || !dates.every(isDate)) return undefined
  return phrases.yearly(months.flatMap((one) => dates.map((day) => [phrases.months[one - 1] ?? '', day] as const)))
}

function describeWeekdays(field: string, phrases: Phrases): string | undefined {
  const [, day, nth] = /^([0-7])#?([1-5L])$/.exec(field) ?? []
  const name = (index: number): string => phrases.days[index % 7] ?? ''
  if (day !== undefined && nth !== undefined) return phrases.nth(nth, name(Number(day)))
  const range = /^([0-7])-([0-7])$/.exec(field)
  if (range) return phrases.weekly(phrases.dayRange(name(Number(range[1])), name(Number(range[2]))))
  // The week begins on Monday.
  const days = listValues(field)?.toSorted((a, b) => ((a + 6) % 7) - ((b + 6) % 7))
  return days && phrases.weekly(phrases.join(days.map(name)))
}

/** Undefined: the field has other parts than numbers and ranges. */
function listValues(field: string): readonly number[] | undefined {
  const parts = field.split(',').map((part) => /^(\d+)(?:-(\d+))?$/.exec(part))
  if (parts.includes(null)) return undefined
  return parts.flatMap((part) => {
    const [from, to] = [Number(part?.[1]), Number(part?.[2] ?? part?.[1])]
    return Array.from({ length: to - from + 1 }, (_, i) => from + i)
  })
}
