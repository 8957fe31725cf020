/** Amounts and days of the place Costs, in words. */

import { count, type Language, money } from '../format.ts'
import type { Measure } from './plot-data.ts'

export const formatAmount = (measure: Measure, amount: number, language: Language): string =>
  measure === 'usd' ? money(amount, language) : count(Math.round(amount), language)

const LOCALES = { en: 'en-GB', zh: 'zh-CN' } as const

/** Contract: a day such as `2030-01-31` for people, with its weekday if there is room. */
export function formatDay(day: string, language: Language, isLong = false): string {
  const weekday = isLong ? ({ weekday: 'short' } as const) : {}
  const format = { ...weekday, day: 'numeric', month: 'short', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat(LOCALES[language], format).format(Date.parse(`${day}T00:00:00Z`))
}
