/** Instants and periods as people say them, in the owner's time zone. Pure. */

import type { Language } from '../domain/language.ts'
import type { Period } from './period.ts'
import { DAY_MS, startOfDay, type WallClock, wallAt, weekdayOfWall, writeDay, writeTime } from './wall-clock.ts'

/** How a text is written: in which language, and by which clock. */
export interface Voice {
  readonly language: Language
  readonly clock: WallClock
  readonly now: number
  /** The reader is on the page, which has places and buttons instead of commands. */
  readonly onPage?: boolean
}

const WEEKDAYS = {
  en: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
  zh: ['星期日', '星期一', '星期二', '星期三', '星期四', '星期五', '星期六'],
} as const
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

function sayDay(wall: number, language: Language): string {
  const [year, month = 1, date] = writeDay(wall).split('-').map(Number)
  const weekday = WEEKDAYS[language][weekdayOfWall(wall)]
  return language === 'zh'
    ? `${year}年${month}月${date}日${weekday}`
    : `${weekday} ${date} ${MONTHS[month - 1]} ${year}`
}

/** "Thursday 12 November 2026, 09:05". */
export function sayInstantIn(instant: number, { language, clock }: Pick<Voice, 'language' | 'clock'>): string {
  const wall = wallAt(clock, instant)
  return `${sayDay(wall, language)}${language === 'zh' ? ' ' : ', '}${writeTime(wall)}`
}

/** "09:05" if the period is one day, else with the date. */
export function sayMoment(instant: number, { clock }: Pick<Voice, 'clock'>, isOneDay: boolean): string {
  const wall = wallAt(clock, instant)
  return isOneDay ? writeTime(wall) : `${writeDay(wall)} ${writeTime(wall)}`
}

export function isOneDay({ from, to }: Pick<Period, 'from' | 'to'>, clock: WallClock): boolean {
  return startOfDay(wallAt(clock, from)) === startOfDay(wallAt(clock, to - 1))
}

/** "last week (Monday 2 November 2026 to Sunday 8 November 2026)". */
export function sayPeriod(period: Period, voice: Voice): string {
  const dates = sayDates(period, voice)
  if (period.said === '' || dates.startsWith(period.said)) return dates
  return voice.language === 'zh' ? `${period.said}（${dates}）` : `${capitalized(period.said)} (${dates})`
}

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

function sayDates({ from, to }: Period, { language, clock, now }: Voice): string {
  const isChinese = language === 'zh'
  const [start, end] = [wallAt(clock, from), wallAt(clock, to)]
  const isUpToNow = to > now && to <= now + 1
  if (from === 0 && isUpToNow) return isChinese ? '到现在为止的全部时间' : 'all time up to now'
  const startsDay = startOfDay(start) === start
  const first = startsDay ? sayDay(start, language) : `${sayDay(start, language)} ${writeTime(start)}`
  if (from === 0) return isChinese ? `${sayDay(end - 1, language)}为止` : `up to ${sayDay(end - 1, language)}`
  if (startsDay && end === start + DAY_MS) return first
  const isSameDay = startOfDay(start) === startOfDay(end - 1)
  const time = isUpToNow ? writeTime(wallAt(clock, now)) : writeTime(end)
  if (isSameDay) return isChinese ? `${first}至${time}` : `${first} to ${time}`
  const last = startOfDay(end) === end ? sayDay(end - 1, language) : `${sayDay(end - 1, language)} ${time}`
  return isChinese ? `${first}至${last}` : `${first} to ${last}`
}
