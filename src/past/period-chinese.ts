/** Chinese words for periods of the past. Pure. */

import { CHINESE_DAY, rule as matchWords } from '../schedule-words/chinese-words.ts'
import { CHINESE_NUMBER as N, readNumber } from '../schedule-words/numerals.ts'
import { latestWeekend, monthsBack } from './period-english.ts'
import {
  DAY_PARTS,
  type DayPart,
  inexact,
  type PeriodRule,
  type PeriodToken,
  partToken,
  rangeOf,
} from './period-tokens.ts'
import {
  DAY_MS,
  dateOf,
  daysFrom,
  HOUR_MS,
  latestDate,
  latestDateOfMonth,
  latestMonth,
  latestWeekday,
  monthsFrom,
  quarterFrom,
  type WallRange,
  weekFrom,
  yearFrom,
  yearOf,
} from './wall-clock.ts'

const rule = (source: string, read: PeriodRule['read']): PeriodRule => matchWords(source, read)

const weekdayIn = (day: string): number => '日一二三四五六'.indexOf(day.replace('天', '日'))
const numberIn = (text: string | undefined): number =>
  text === undefined ? Number.NaN : (readNumber(text) ?? Number.NaN)

const WEEK = '(?:周|星期|礼拜)'
/** 上周一 is a day, 上周一共 a week. */
const DAY = `(?!一[共直定样般切些])(${CHINESE_DAY})`
const YEAR = '(?:(\\d{4})年|(今年|去年|前年))?\\s*'
const PARTS: Readonly<Record<string, DayPart>> = {
  ...{ 凌晨: 'dawn', 清晨: 'morning', 早上: 'morning', 早晨: 'morning', 上午: 'morning', 一早: 'morning' },
  ...{ 一大早: 'morning', 大清早: 'morning', 中午: 'noon', 下午: 'afternoon', 午后: 'afternoon', 傍晚: 'evening' },
  ...{ 晚上: 'night', 夜里: 'night', 夜间: 'night', 半夜: 'night', 深夜: 'night', 晚间: 'night' },
}
const PART = Object.keys(PARTS)
  .toSorted((a, b) => b.length - a.length)
  .join('|')

/** The year that was said; undefined: none was. */
function yearSaid(digits: string | undefined, word: string | undefined, today: number): number | undefined {
  if (digits !== undefined) return Number(digits)
  if (word === undefined) return undefined
  return new Date(today).getUTCFullYear() - ['今年', '去年', '前年'].indexOf(word)
}

const DATES: readonly PeriodRule[] = [
  rule(`${YEAR}(${N})月(?:初|底|末|中旬|上旬|下旬|中(?!国))`, ([text]) => inexact(text)),
  rule('月初|月底|月末|年初|年底|年末|上旬|中旬|下旬|周初', ([text]) => inexact(text)),
  rule(`${YEAR}(${N})月\\s*(${N})[日号]?(?![个\\d])`, ([, digits, word, month, date]) => ({
    kind: 'range',
    at(today) {
      const year = yearSaid(digits, word, today)
      const [m, d] = [numberIn(month), numberIn(date)]
      return year === undefined ? latestDate(today, m, d) : dateOf(year, m, d)
    },
  })),
  rule(`${YEAR}(${N})月(?:份|里)?(?!\\s*${N}?\\s*[日号])`, ([, digits, word, month]) => ({
    kind: 'range',
    at(today) {
      const [year, m] = [yearSaid(digits, word, today), numberIn(month)]
      if (!(m >= 1 && m <= 12)) return undefined
      return year === undefined ? latestMonth(today, m) : monthsFrom(Date.UTC(year, m - 1, 1), 0)
    },
  })),
  rule('(\\d{4})\\s*年(?:全年|里)?', ([, year]) => ({ kind: 'range', at: () => yearOf(Number(year)) })),
  rule(`(?:本月|这个月)(${N})[日号]`, ([, date]) => ({
    kind: 'range',
    at: (today) => dayOfMonth(today, 0, numberIn(date)),
  })),
  rule(`(?:上个?月)(${N})[日号]`, ([, date]) => ({
    kind: 'range',
    at: (today) => dayOfMonth(today, -1, numberIn(date)),
  })),
  rule(`(${N})[日号](?!线|码)`, ([, date]) => ({
    kind: 'range',
    at: (today) => latestDateOfMonth(today, numberIn(date)),
    date: numberIn(date),
  })),
]

function dayOfMonth(today: number, offset: number, date: number): WallRange | undefined {
  const month = new Date(monthsFrom(today, offset).from)
  return dateOf(month.getUTCFullYear(), month.getUTCMonth() + 1, date)
}

const dayPart = (offset: number, part: DayPart): PeriodToken => ({
  kind: 'range',
  at(today) {
    const { from } = daysFrom(today, offset)
    return { from: from + DAY_PARTS[part].from * HOUR_MS, to: from + DAY_PARTS[part].to * HOUR_MS }
  },
})

const DAYS: readonly PeriodRule[] = [
  rule(
    '大前[天日]',
    rangeOf((today) => daysFrom(today, -3)),
  ),
  rule(
    '前[天日]',
    rangeOf((today) => daysFrom(today, -2)),
  ),
  rule('今早|今晨', () => dayPart(0, 'morning')),
  rule('昨早|昨晨', () => dayPart(-1, 'morning')),
  rule('今晚|今夜', () => dayPart(0, 'night')),
  rule('昨晚|昨夜', () => dayPart(-1, 'night')),
  rule('前晚', () => dayPart(-2, 'night')),
  rule(
    '今[天日儿]|当天',
    rangeOf((today) => daysFrom(today, 0)),
  ),
  rule(
    '昨[天日儿]',
    rangeOf((today) => daysFrom(today, -1)),
  ),
  rule('明[天日早晚]|后天|明年|下个?(?:周|星期|礼拜|月|季度)', () => ({ kind: 'future' })),
  rule(PART, ([text]) => partToken(PARTS[text] ?? 'morning')),
]

const WEEKS: readonly PeriodRule[] = [
  rule(`上上个?${WEEK}${DAY}`, ([, day = '']) => weekdayOfWeek(day, -2)),
  rule(`上个?${WEEK}${DAY}`, ([, day = '']) => weekdayOfWeek(day, -1)),
  rule(`(?:本|这个?)${WEEK}${DAY}`, ([, day = '']) => weekdayOfWeek(day, 0)),
  rule(
    '上个?周末',
    rangeOf((today) => daysFrom(weekFrom(today, -1).from, 5, 2)),
  ),
  rule(
    '(?:这个?|本)周末',
    rangeOf((today) => daysFrom(weekFrom(today, 0).from, 5, 2)),
  ),
  rule('周末', rangeOf(latestWeekend)),
  rule(`${WEEK}${DAY}`, ([, day = '']) => {
    const weekday = weekdayIn(day)
    return { kind: 'range', at: (today) => latestWeekday(today, weekday) }
  }),
  rule(
    `上上个?${WEEK}`,
    rangeOf((today) => weekFrom(today, -2)),
  ),
  rule(
    `上个?${WEEK}|上一${WEEK}|上一个(?:星期|礼拜)`,
    rangeOf((today) => weekFrom(today, -1)),
  ),
  rule(
    `(?:本|这个?|这一)${WEEK}|本个?星期`,
    rangeOf((today) => weekFrom(today, 0)),
  ),
  rule(
    '上上个?月',
    rangeOf((today) => monthsFrom(today, -2)),
  ),
  rule(
    '上个?月',
    rangeOf((today) => monthsFrom(today, -1)),
  ),
  rule(
    '本月|这个?月|当月',
    rangeOf((today) => monthsFrom(today, 0)),
  ),
  rule(
    '上个?季度',
    rangeOf((today) => quarterFrom(today, -1)),
  ),
  rule(
    '本季度?|这个?季度',
    rangeOf((today) => quarterFrom(today, 0)),
  ),
  rule(
    '今年|本年',
    rangeOf((today) => yearFrom(today, 0)),
  ),
  rule(
    '去年',
    rangeOf((today) => yearFrom(today, -1)),
  ),
  rule(
    '前年',
    rangeOf((today) => yearFrom(today, -2)),
  ),
]

function weekdayOfWeek(day: string, week: number): PeriodToken {
  const weekday = weekdayIn(day)
  return { kind: 'range', at: (today) => daysFrom(weekFrom(today, week).from, (weekday + 6) % 7) }
}

const LAST = '(?:最近这?|近|过去(?:的)?|这|前|之前)'
const UNIT = '(分钟|个?小时|个?钟头|天|日|个?星期|个?礼拜|周|个月|年)'

const lastOf = (amount: number, unit: string): PeriodToken | undefined => {
  if (!Number.isInteger(amount) || amount < 1) return undefined
  if (unit === '分钟') return { kind: 'span', ms: amount * 60_000 }
  if (/小时|钟头/.test(unit)) return { kind: 'span', ms: amount * HOUR_MS }
  if (/星期|礼拜|周/.test(unit)) return { kind: 'range', at: (today) => daysFrom(today, 1 - amount * 7, amount * 7) }
  if (/月|年/.test(unit)) {
    const months = unit === '年' ? amount * 12 : amount
    return { kind: 'range', at: (today) => ({ from: monthsBack(today, months), to: today + DAY_MS }) }
  }
  return { kind: 'range', at: (today) => daysFrom(today, 1 - amount, amount) }
}

const ago = (amount: number, unit: string): PeriodToken | undefined => {
  if (!Number.isInteger(amount) || amount < 1) return undefined
  if (/天|日/.test(unit)) return { kind: 'range', at: (today) => daysFrom(today, -amount) }
  if (/星期|礼拜|周/.test(unit)) return { kind: 'range', at: (today) => weekFrom(today, -amount) }
  if (/月/.test(unit)) return { kind: 'range', at: (today) => monthsFrom(today, -amount) }
  return unit === '年' ? { kind: 'range', at: (today) => yearFrom(today, -amount) } : undefined
}

const SPANS: readonly PeriodRule[] = [
  rule(
    `(?:${LAST}|过)?[几数](?:个)?(?:分钟|小时|天|日|周|星期|礼拜|月|年)(?:以?前)?|前些天|前阵子|这阵子|刚才|刚刚|不久前`,
    ([text]) => inexact(text),
  ),
  rule(`${LAST}半(?:个)?(?:小时|钟头)`, () => ({ kind: 'span', ms: HOUR_MS / 2 })),
  rule(`${LAST}半年`, () => lastOf(6, '个月')),
  rule(`${LAST}半个月`, () => lastOf(15, '天')),
  rule(
    `(${N})\\s*${UNIT}(?:以前|之前|前)`,
    ([text, amount, unit = '']) => ago(numberIn(amount), unit) ?? inexact(text),
  ),
  rule(`${LAST}\\s*(${N})\\s*${UNIT}(?:内|里|以来|来)?`, ([, amount, unit = '']) => lastOf(numberIn(amount), unit)),
  rule(`(${N})\\s*${UNIT}(?:之?内|以内|以来|来)`, ([, amount, unit = '']) => lastOf(numberIn(amount), unit)),
]

const VAGUE: readonly PeriodRule[] = [
  rule('最近|近来|近期', () => ({ kind: 'recent' })),
  rule('有史以来|一直以来|迄今|至今|到目前为止|目前为止|总共|一共|累计|历史上|从头到尾', () => ({ kind: 'all' })),
]

/** Longer readings first: the first rule that fits at a position wins. */
export const CHINESE_PERIODS: readonly PeriodRule[] = [...SPANS, ...DATES, ...WEEKS, ...DAYS, ...VAGUE]
