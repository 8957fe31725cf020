/** Days in English: weekdays, dates of a month, dates, "tomorrow". Pure. */

import {
  ANY_DAY,
  alternatives,
  ENGLISH_AND,
  ENGLISH_TO,
  EVERY,
  MONTH,
  SHORT_DAY,
  unclearText,
  WEEKDAY,
  words,
} from './english-words.ts'
import { ENGLISH_NUMBER as N, ENGLISH_ORDINAL as ORDINAL, readNumber, readOrdinal } from './numerals.ts'
import type { TimeToken, TokenRule } from './tokens.ts'

const DAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WORKDAY = '(?:week|work|working |business |work )days?'
const OF_MONTH = '(?: (?:of|in) (?:the|each|every) month)'
const DATE = `(?:the )?(?:${ORDINAL}(?: day)?|last day|last(?=${OF_MONTH}))`
const ORDINALS = `${DATE}(?:${ENGLISH_AND}${DATE})*`

const dayNumber = (name: string): number => DAY_NAMES.findIndex((day) => day.startsWith(name.toLowerCase().slice(0, 3)))
const monthNumber = (name: string): number => MONTHS.indexOf(name.toLowerCase().slice(0, 3)) + 1

/** Days in a list such as "Monday, Wed and Fri" or a range such as "Mon-Fri". */
function readDays(text: string): readonly number[] {
  const range = new RegExp(`(${ANY_DAY})${ENGLISH_TO}(${ANY_DAY})`, 'iu').exec(text)
  if (range) return daysFromTo(dayNumber(range[1] ?? ''), dayNumber(range[2] ?? ''))
  return [...text.matchAll(new RegExp(ANY_DAY, 'giu'))].map(([name]) => dayNumber(name))
}

/** Both included, over the end of the week if need be. */
export function daysFromTo(from: number, to: number): readonly number[] {
  return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, i) => (from + i) % 7)
}

const weekdays =
  (repeats: boolean): TokenRule['read'] =>
  ([text]) => ({ kind: 'weekdays', days: readDays(text), repeats })

const fixedDays =
  (...days: readonly number[]): TokenRule['read'] =>
  () => ({ kind: 'weekdays', days, repeats: true })

const fixedDate =
  (date: string): TokenRule['read'] =>
  () => ({ kind: 'dates_of_month', dates: [date], repeats: true })

function nthWeekday([, nth = '', day = '']: RegExpExecArray): TimeToken {
  const n = /^last$/i.test(nth) ? 'L' : (readOrdinal(nth) ?? 0)
  if (new RegExp(`^${WORKDAY}$`, 'i').test(day))
    return n === 'L' || n === 1
      ? { kind: 'dates_of_month', dates: [n === 'L' ? 'LW' : '1W'], repeats: true }
      : { kind: 'unclear', why: `"the ${nth} ${day} of the month" has no schedule` }
  if (n !== 'L' && n > 5) return { kind: 'unclear', why: `no month has a ${nth} ${day}` }
  return { kind: 'weekdays_of_month', fields: [n === 'L' ? `${dayNumber(day)}L` : `${dayNumber(day)}#${n}`] }
}

/** "the second and fourth Tuesday". */
function severalWeekdays([text, which = '', day = '']: RegExpExecArray): TimeToken {
  const found = [...which.matchAll(new RegExp(`last|${ORDINAL}`, 'giu'))].map(([one]) => readOrdinal(one) ?? 'L')
  if (found.some((n) => n !== 'L' && n > 5)) return { kind: 'unclear', why: `no month has "${text}"` }
  return {
    kind: 'weekdays_of_month',
    fields: found.map((n) => (n === 'L' ? `${dayNumber(day)}L` : `${dayNumber(day)}#${n}`)),
  }
}

const ONE_ORDINAL = new RegExp(`(?<![\\p{L}\\d])(?:last|${ORDINAL})(?![\\p{L}\\d])`, 'giu')

const datesOfMonth =
  (repeats: boolean): TokenRule['read'] =>
  ([text]) => {
    const found = [...text.matchAll(ONE_ORDINAL)].map(([one]) => one.toLowerCase())
    const numbers = found.filter((one) => one !== 'last').map((one) => readOrdinal(one) ?? 0)
    if (numbers.some((date) => date < 1 || date > 31)) return { kind: 'unclear', why: `"${text}" is no day of a month` }
    const dates = [...numbers.sort((a, b) => a - b).map(String), ...(found.includes('last') ? ['L'] : [])]
    return { kind: 'dates_of_month', dates, repeats: repeats || dates.length > 1 }
  }

function dateToken(month: number, date = '', year?: string): TimeToken {
  return { kind: 'date_of_year', month, date: Number(date), year: year === undefined ? null : Number(year) }
}

export const ENGLISH_DAYS: readonly TokenRule[] = [
  words('(?:except|excluding|but not|apart from|other than|bar(?= [A-Z]))(?: for)?(?: on| at)?', () => ({
    kind: 'except',
  })),
  words(
    `(?:on )?(?:the )?((?:last|${ORDINAL})(?:${ENGLISH_AND}(?:the )?(?:last|${ORDINAL}))+) (${WEEKDAY})${OF_MONTH}`,
    severalWeekdays,
  ),
  words(`(?:on )?(?:the )?(last|${ORDINAL}) (${WEEKDAY}|${WORKDAY})${OF_MONTH}`, nthWeekday),
  words(`(?:on )?${EVERY} (last|${ORDINAL}) (${WEEKDAY}|${WORKDAY})${OF_MONTH}`, nthWeekday),
  words(`(?:on |at )?(?:the )?(?:last day|end)${OF_MONTH}|(?:every )?month[- ]end`, fixedDate('L')),
  words(`(?:on |at )?(?:the )?(?:first day|start|beginning)${OF_MONTH}`, fixedDate('1')),
  words(`(?:on )?${ORDINALS}${alternatives(OF_MONTH, ',? (?:every|each) month', ' monthly')}`, datesOfMonth(true)),
  words(`(?:on )?(${MONTH}) (?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?(?!:)`, ([, month = '', date, year]) =>
    dateToken(monthNumber(month), date, year),
  ),
  words(
    `(?:on )?(?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${MONTH})(?:,? (\\d{4}))?`,
    ([, date, month = '', year]) => dateToken(monthNumber(month), date, year),
  ),
  words(
    `on ${ORDINALS}(?! [a-z]+ (?:of|in|line|item|place|page)| (?:to )?last| ${WEEKDAY}| ${WORKDAY})`,
    datesOfMonth(false),
  ),
  words('(?:on )?(\\d{4})-(\\d\\d)-(\\d\\d)(?:T(?=\\d))?', ([, year, month, date]) =>
    dateToken(Number(month), date, year),
  ),
  words(
    '(?:on )?\\d{1,2}/\\d{1,2}(?:/\\d{2,4})?',
    unclearText((text) => `"${text}" can be read as two dates; write it as 2026-12-24`),
  ),
  words(`(?:in )?(${N}|an?) (days?|weeks?) from (today|tomorrow)`, ([, amount = '', unit = '', day = '']) => ({
    kind: 'relative_day',
    days: (readNumber(amount) ?? 0) * (/week/i.test(unit) ? 7 : 1) + (/tomorrow/i.test(day) ? 1 : 0),
  })),
  words('(?:the )?day after tomorrow', () => ({ kind: 'relative_day', days: 2 })),
  words('tomorrow', () => ({ kind: 'relative_day', days: 1 })),
  words('(?:later )?today|this(?= morning| afternoon| evening)', () => ({ kind: 'relative_day', days: 0 })),
  words(`(?:on )?(?:this|the coming|coming|this coming) (${WEEKDAY})`, ([, day = '']) => ({
    ...{ kind: 'relative_weekday', weekday: dayNumber(day), weeks: 0 },
  })),
  words(`(?:on )?next (${WEEKDAY})`, ([, day = '']) => ({
    kind: 'relative_weekday',
    weekday: dayNumber(day),
    weeks: 1,
  })),
  words(
    'next (?:week|month|year|weekend|quarter)|this weekend',
    unclearText((text) => `"${text}" names no day`),
  ),
  words(`(?:${EVERY} |on |all )?${WORKDAY}(?: only)?`, fixedDays(1, 2, 3, 4, 5)),
  words(`(?:${EVERY} |on |at |all )?(?:the )?weekends?(?: only)?`, fixedDays(6, 0)),
  words(`(?:${EVERY} |on |from )?${ANY_DAY}${ENGLISH_TO}${ANY_DAY}`, weekdays(true)),
  words(`${EVERY} ${ANY_DAY}(?:${ENGLISH_AND}${ANY_DAY})*`, weekdays(true)),
  words(`on ${ANY_DAY}(?:${ENGLISH_AND}${ANY_DAY})+`, weekdays(true)),
  words(`${ANY_DAY}(?:${ENGLISH_AND}${ANY_DAY})+`, ([text]) => ({
    ...{ kind: 'weekdays', days: readDays(text), repeats: /days\b/i.test(text), listed: true },
  })),
  words(`(?:on )?${WEEKDAY}`, ([text]) => ({ kind: 'weekdays', days: readDays(text), repeats: /days$/i.test(text) })),
  words(`on ${SHORT_DAY}`, weekdays(false)),
]
