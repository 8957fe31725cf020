/** Instants as people say them: "in 12 min", "yesterday 09:00", in local time. Machines get ISO instants (--json). */

import { systemClock } from '../../adapters/system/clock.ts'
import type { Language } from '../../domain/language.ts'
import { terminalLanguage } from './language.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const TEXTS = {
  en: {
    now: 'now',
    soon: (minutes: number) => `in ${minutes} min`,
    ago: (minutes: number) => `${minutes} min ago`,
    days: { '-1': 'yesterday', '0': 'today', '1': 'tomorrow' },
    weekdays: ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'],
    date: (month: number, day: number) =>
      `${['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'][month - 1]} ${day}`,
  },
  zh: {
    now: '现在',
    soon: (minutes: number) => `${minutes} 分钟后`,
    ago: (minutes: number) => `${minutes} 分钟前`,
    days: { '-1': '昨天', '0': '今天', '1': '明天' },
    weekdays: ['周日', '周一', '周二', '周三', '周四', '周五', '周六'],
    date: (month: number, day: number) => `${month}月${day}日`,
  },
} as const

const INSTANTS = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z(?!\S)/g
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Contract: the text, or, if it is an ISO instant, how people say it. */
export const sayIfInstant = (text: string): string => (INSTANT.test(text) ? sayInstant(text) : text)

/** Contract: a text in which each ISO instant that stands alone is said as people say it. */
export const sayInstantsIn = (text: string): string => text.replaceAll(INSTANTS, (instant) => sayInstant(instant))

export function sayInstant(
  instant: string,
  now: number = systemClock.now(),
  language: Language = terminalLanguage(),
): string {
  const at = Date.parse(instant)
  const texts = TEXTS[language]
  const minutes = Math.round(Math.abs(at - now) / MINUTE_MS)
  if (minutes === 0) return texts.now
  if (minutes < 60) return at > now ? texts.soon(minutes) : texts.ago(minutes)
  const then = new Date(at)
  const time = `${padded(then.getHours())}:${padded(then.getMinutes())}`
  const days = Math.round((noonOf(at) - noonOf(now)) / DAY_MS)
  if (days === -1 || days === 0 || days === 1) return `${texts.days[days]} ${time}`
  if (Math.abs(days) < 7) return `${texts.weekdays[then.getDay()]} ${time}`
  const [year, month, day] = [then.getFullYear(), then.getMonth() + 1, then.getDate()]
  if (year === new Date(now).getFullYear()) return `${texts.date(month, day)} ${time}`
  return `${year}-${padded(month)}-${padded(day)} ${time}`
}

const padded = (number: number): string => String(number).padStart(2, '0')

/** Noon of the local day, so that days with a change of the clock count as whole ones. */
function noonOf(at: number): number {
  const day = new Date(at)
  return new Date(day.getFullYear(), day.getMonth(), day.getDate(), 12).getTime()
}
