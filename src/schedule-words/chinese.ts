/** The Chinese table: which words say when. Rows are tried in order; the first that fits wins. Pure. */

import { CHINESE_ASIDES } from './chinese-asides.ts'
import {
  CHINESE_AMOUNT,
  CHINESE_AND,
  CHINESE_CLOCK,
  CHINESE_DAY,
  CHINESE_PART,
  CHINESE_PARTS,
  CHINESE_TIMES,
  CHINESE_TO,
  CHINESE_UNIT,
  readChineseTime,
  rule,
  unclearWords,
} from './chinese-words.ts'
import { daysFromTo } from './english-days.ts'
import { CHINESE_NUMBER as N, readAmount, readNumber } from './numerals.ts'
import {
  type CalendarPeriod,
  type IntervalUnit,
  type SaidTime,
  type TimeToken,
  type TokenRule,
  UNIT_LENGTH_MS,
  wholeInterval,
} from './tokens.ts'

const DAY_NUMBERS = '日一二三四五六'
const dayNumber = (day: string): number => (day === '天' ? 0 : DAY_NUMBERS.indexOf(day))

const period =
  (value: CalendarPeriod): TokenRule['read'] =>
  () => ({ kind: 'period', period: value })

/** `factor`: how many of the unit a word stands for. */
const UNITS: readonly (readonly [pattern: RegExp, unit: IntervalUnit, factor: number])[] = [
  [/秒/, 'second', 1],
  [/分钟/, 'minute', 1],
  [/刻钟/, 'minute', 15],
  [/小时|钟头/, 'hour', 1],
  [/天|日/, 'day', 1],
  [/周|星期|礼拜/, 'week', 1],
]

function readInterval(match: RegExpExecArray): TimeToken {
  const { skip = '', amount = '一', unit = '' } = match.groups ?? {}
  const [, name = 'day', factor = 1] = UNITS.find(([pattern]) => pattern.test(unit)) ?? []
  const count = (readAmount(amount) ?? 0) * factor
  if (skip !== '隔' || (name !== 'day' && name !== 'week')) return wholeInterval(count, name)
  // 每隔一天 is every other day; 每隔两天 means two days to some and three to others.
  if (name === 'day' && count === 1) return { kind: 'interval', amount: 2, unit: 'day' }
  return { kind: 'unclear', why: `“${match[0]}”有两种理解，请写成“每三天”这样的说法` }
}

function readDelay({ groups: { amount = '一', unit = '' } = {} }: RegExpExecArray): TimeToken | undefined {
  const [, name = 'day', factor = 1] = UNITS.find(([pattern]) => pattern.test(unit)) ?? []
  const count = readAmount(amount)
  return count === undefined ? undefined : { kind: 'delay', ms: count * factor * UNIT_LENGTH_MS[name] }
}

function readWindow([, fromPart, from = '', toPart = fromPart, to = '']: RegExpExecArray): TimeToken | undefined {
  const [start, end] = [withHalf(from, fromPart), withHalf(to, toPart)]
  return start && end && { kind: 'window', from: start, to: end }
}

function withHalf(clock: string, part: string | undefined): SaidTime | undefined {
  const time = readChineseTime(clock)
  const named = CHINESE_PARTS[part ?? '']
  if (!time || named === undefined || time.hour > 12) return time
  const isMorning = named === 'morning' || named === 'dawn' || (named === 'noon' && time.hour === 11)
  return { ...time, half: isMorning ? 'am' : 'pm', exact: false }
}

const INTERVALS: readonly TokenRule[] = [
  rule('(?:每个?)?(?:隔天|隔日)', () => ({ kind: 'interval', amount: 2, unit: 'day' })),
  rule('每个?半小时?|半个?(?:小时|钟头)一次', () => ({ kind: 'interval', amount: 30, unit: 'minute' })),
  rule(
    '每(?:个|一个?)?(?:小时|钟头)(?:整点)?|每[到个]?整点|整点(?=时|的|就|提|报|检|运)|一个?小时一次',
    period('hour'),
  ),
  rule('每一?分钟|一分钟一次', period('minute')),
  rule('每一?刻钟', () => ({ kind: 'interval', amount: 15, unit: 'minute' })),
  rule(`每(?<skip>隔|过)?\\s*(?<amount>${CHINESE_AMOUNT})\\s*(?<unit>${CHINESE_UNIT})(?:一次)?`, readInterval),
  rule(`(?<amount>${CHINESE_AMOUNT})\\s*(?<unit>${CHINESE_UNIT})(?:一次|一回)`, readInterval),
  rule(`(?:再?过)?(${N})个?小时(?:零|又)?(${N})分钟?(?:之|以)?后`, ([, hours = '', minutes = '']) => ({
    kind: 'delay',
    ms: (readNumber(hours) ?? 0) * UNIT_LENGTH_MS.hour + (readNumber(minutes) ?? 0) * UNIT_LENGTH_MS.minute,
  })),
  rule(`(?:再?过)?(?<amount>${CHINESE_AMOUNT})\\s*(?<unit>${CHINESE_UNIT})(?:之|以)?后`, readDelay),
  rule(`再?过(?<amount>${CHINESE_AMOUNT})\\s*(?<unit>${CHINESE_UNIT})`, readDelay),
  rule(
    `从?(${CHINESE_PART}|早|晚)?(${CHINESE_CLOCK})${CHINESE_TO}(${CHINESE_PART}|早|晚)?(${CHINESE_CLOCK})(?:之间|期间|间)?`,
    readWindow,
  ),
]

/** Days in 周一三五, 周一、周三, 周一到周五. */
function readDays(text: string): readonly number[] {
  const [, from, to] = new RegExp(`周(${CHINESE_DAY})${CHINESE_TO}周?(${CHINESE_DAY})`, 'u').exec(text) ?? []
  if (from !== undefined && to !== undefined) return daysFromTo(dayNumber(from), dayNumber(to))
  return [...text.matchAll(new RegExp(CHINESE_DAY, 'gu'))].map(([day]) => dayNumber(day))
}

const EVERY = '(?:每个?|逢|每逢)'
const OF_MONTH = '每个?月(?:的)?'

const weekdaysOfMonth: TokenRule['read'] = ([, nth, day = '']) => ({
  kind: 'weekdays_of_month',
  fields: [`${dayNumber(day)}${nth === undefined ? 'L' : `#${readNumber(nth)}`}`],
})

const LAST_DAY = '(?:最后一天|月底|月末)'
const DATE = `(?:${N}(?:[号日]|(?=[、和,，]\\s*${N}))|${LAST_DAY}|第一天|最后一个工作日|第一个工作日)`
const MORE_DATES = `(?:${CHINESE_AND}(?:每个?月的?)?${DATE})*`
const ONE_DATE = new RegExp(`最后一个工作日|第一个工作日|第一天|${LAST_DAY}|${N}`, 'gu')

function readDate(text: string): string {
  if (text.endsWith('工作日')) return text.startsWith('第') ? '1W' : 'LW'
  return new RegExp(LAST_DAY, 'u').test(text) ? 'L' : String(readNumber(text.replace(/^第|天$/g, '')) ?? 0)
}

/** Numbers first, then the last day, each once. */
const inOrder = (dates: readonly string[]): readonly string[] =>
  [...new Set(dates)].sort((a, b) => (Number.parseInt(a, 10) || 32) - (Number.parseInt(b, 10) || 32))

const datesOfMonth =
  (repeats: boolean): TokenRule['read'] =>
  ([text]) => {
    const found = text.replace(/每个?月的?(?![底末])/g, ' ').matchAll(ONE_DATE)
    const dates = [...found].map(([one]) => readDate(one))
    if (dates.some((date) => /^\d+$/.test(date) && (Number(date) < 1 || Number(date) > 31)))
      return { kind: 'unclear', why: `“${text}”不是一个月里的日子` }
    return { kind: 'dates_of_month', dates: inOrder(dates), repeats }
  }

const dateOfYear =
  (yearly: boolean): TokenRule['read'] =>
  ([, year, month = '', date = '']) => ({
    ...{ kind: 'date_of_year', month: readNumber(month) ?? 0, date: readNumber(date) ?? 0, yearly },
    year: year === undefined ? null : Number(year),
  })

const relativeWeekday =
  (weeks: 0 | 1): TokenRule['read'] =>
  ([, day = '']) => ({ kind: 'relative_weekday', weekday: dayNumber(day), weeks })

const relativeDay =
  (days: number): TokenRule['read'] =>
  () => ({ kind: 'relative_day', days })

const DAYS: readonly TokenRule[] = [
  rule('除了?|不包括|不含', () => ({ kind: 'except' })),
  rule(`${OF_MONTH}(?:第(${N})个|最后一?个)周(${CHINESE_DAY})`, weekdaysOfMonth),
  rule(
    `(?:${OF_MONTH})?${N}[号日]?${CHINESE_TO}(?:${N}[号日]|${LAST_DAY})`,
    unclearWords((text) => `“${text}”是一段日子，请写出每一天`),
  ),
  rule(`${OF_MONTH}${DATE}${MORE_DATES}`, datesOfMonth(true)),
  rule(`(?:月底|月末)${MORE_DATES}`, datesOfMonth(true)),
  rule(`每年(?:的)?()?(${N})月(${N})[号日]`, dateOfYear(true)),
  rule(`(?:(\\d{4})年)?(${N})月(${N})[号日]`, dateOfYear(false)),
  rule('(\\d{4})-(\\d\\d)-(\\d\\d)T?', dateOfYear(false)),
  rule(`${N}[号日]${MORE_DATES}`, datesOfMonth(false)),
  rule('大后天', relativeDay(3)),
  rule('后天', relativeDay(2)),
  rule('明天|明日', relativeDay(1)),
  rule('今天', relativeDay(0)),
  rule(`(?<!一)下个?周(${CHINESE_DAY})`, relativeWeekday(1)),
  rule(`(?:本|这个?)周(${CHINESE_DAY})`, relativeWeekday(0)),
  rule(
    '下下周|(?<!一)下个?周末?|下个?月|明年|(?:本|这个?)周末|过几天|一会儿?|改天|稍后',
    unclearWords((text) => `“${text}”没有说明是哪一天`),
  ),
  rule(`${EVERY}?(?:工作日|周内|平日)`, () => ({ kind: 'weekdays', days: [1, 2, 3, 4, 5], repeats: true })),
  rule(`${EVERY}?(?:周末|双休日)`, () => ({ kind: 'weekdays', days: [6, 0], repeats: true })),
  rule(`${EVERY}?周${CHINESE_DAY}${CHINESE_TO}周?${CHINESE_DAY}`, ([text]) => ({
    kind: 'weekdays',
    days: readDays(text),
    repeats: true,
  })),
  rule(
    `(${EVERY})?周${CHINESE_DAY}(?:${CHINESE_AND}(?:每个?)?周${CHINESE_DAY}|、?${CHINESE_DAY}(?![点时号日天月周个小分刻十]))*`,
    ([text, every]): TimeToken => {
      const days = readDays(text)
      return { kind: 'weekdays', days, repeats: every !== undefined, listed: days.length > 1 }
    },
  ),
]

const PERIODS: readonly TokenRule[] = [
  rule('每一?天|每日|天天', period('day')),
  rule('每个?周|每一周', period('week')),
  rule('每个?月|每一个?月|按月', period('month')),
  rule('每个?季度?', period('quarter')),
  rule('每年|每一年', period('year')),
  rule(
    `每(?:隔|逢|过|半|${N}|小时|分|秒|晚|早|时|到)|多久|${N}点`,
    unclearWords((text) => `没有看懂“${text}”`),
  ),
]

/** Words that say two things at once are written apart, and other words for the same thing alike. */
export function splitChinese(sentence: string): string {
  return sentence
    .replace(/星期|礼拜/g, '周')
    .replace(/([明今后])儿个?/g, '$1天')
    .replace(/上班日/g, '工作日')
    .replace(/(每个?月)的?([底末])/g, '$1月$2')
    .replace(/最后1天/g, '最后一天')
    .replace(/([点半刻])来钟/g, '$1')
    .replace(/每月头一个/g, '每月第一个')
    .replace(/今晚上?/g, '今天晚上')
    .replace(/明晚上?/g, '明天晚上')
    .replace(/今早上?/g, '今天早上')
    .replace(/明早上?/g, '明天早上')
    .replace(/每晚上?/g, '每天晚上')
    .replace(/每个?早(?:上|晨)?/g, '每天早上')
    .replace(/每个?(?=上午|中午|下午|傍晚|凌晨)/g, '每天')
    .replace(/((?:周[一二三四五六日天末][、和，,]?)+)(?:除外|以外|之外)/g, '除了$1')
}

export const CHINESE: readonly TokenRule[] = [...CHINESE_ASIDES, ...INTERVALS, ...DAYS, ...CHINESE_TIMES, ...PERIODS]
