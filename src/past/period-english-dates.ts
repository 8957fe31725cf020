/** English dates, months and years. Pure. */

import { ANY_DAY, alternatives, ENGLISH_TO, MONTH } from '../schedule-words/english-words.ts'
import { ENGLISH_ORDINAL as ORDINAL, readOrdinal } from '../schedule-words/numerals.ts'
import { AFTER_PREPOSITION, inexact, type PeriodRule, type PeriodToken, englishRule as words } from './period-tokens.ts'
import { dateOf, latestDate, latestDateOfMonth, latestMonth, monthsFrom, type WallRange, yearOf } from './wall-clock.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const monthIn = (text: string): number => MONTHS.indexOf(text.toLowerCase().slice(0, 3)) + 1
const dateIn = (text: string): number => readOrdinal(text) ?? Number(text)
const yearIn = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

const DATE = `(?:${ORDINAL}|\\d{1,2})`
const YEAR = '(?:,? (\\d{4}))?'

const onDate = (month: string, date: string, year: string | undefined): PeriodToken => {
  const [m, d, y] = [monthIn(month), dateIn(date), yearIn(year)]
  return { kind: 'range', at: (today) => (y === undefined ? latestDate(today, m, d) : dateOf(y, m, d)) }
}

/** "2 to 4 November". */
const betweenDates = (month: string, first: string, last: string, year: string | undefined): PeriodToken => ({
  kind: 'range',
  at(today) {
    const y = yearIn(year)
    const on = (date: string): WallRange | undefined =>
      y === undefined ? latestDate(today, monthIn(month), dateIn(date)) : dateOf(y, monthIn(month), dateIn(date))
    const [from, to] = [on(first), on(last)]
    return from && to && { from: from.from, to: to.to }
  },
})

const isoDate = ([, year, month, date]: RegExpExecArray): PeriodToken => ({
  kind: 'range',
  at: () => dateOf(Number(year), Number(month), Number(date)),
})

/** 11/3 is a day of November or of March. */
const slashed = ([text, a, b, year]: RegExpExecArray): PeriodToken => {
  const [first, second, y] = [Number(a), Number(b), yearIn(year)]
  if (first <= 12 && second <= 12 && first !== second) return inexact(text)
  const [month, date] = first > 12 ? [second, first] : [first, second]
  return { kind: 'range', at: (today) => (y === undefined ? latestDate(today, month, date) : dateOf(y, month, date)) }
}

const SOME_OF =
  '(?:early|mid|late|(?:the )?(?:beginning|start|middle|end|(?:first|second) half|(?:first|last) week) of)'

export const ENGLISH_DATES: readonly PeriodRule[] = [
  words('(\\d{4})-(\\d{1,2})-(\\d{1,2})', isoDate),
  words('(\\d{4})\\/(\\d{1,2})\\/(\\d{1,2})', isoDate),
  words('(\\d{1,2})\\/(\\d{1,2})(?:\\/(\\d{4}))?', slashed),
  words(`(${MONTH}) (${DATE})${ENGLISH_TO}(${DATE})${YEAR}`, ([, month = '', first = '', last = '', year]) =>
    betweenDates(month, first, last, year),
  ),
  words(`(${DATE})${ENGLISH_TO}(${DATE})(?: of)? (${MONTH})${YEAR}`, ([, first = '', last = '', month = '', year]) =>
    betweenDates(month, first, last, year),
  ),
  words(`(?:${ANY_DAY},? )?(?:the )?(${DATE})(?: of)? (${MONTH})${YEAR}`, ([, date = '', month = '', year]) =>
    onDate(month, date, year),
  ),
  words(`(?:${ANY_DAY},? )?(${MONTH}) (?:the )?(${DATE})${YEAR}`, ([, month = '', date = '', year]) =>
    onDate(month, date, year),
  ),
  words(`${AFTER_PREPOSITION}(?:the )?(${ORDINAL})`, ([, date = '']) => ({
    kind: 'range',
    at: (today) => latestDateOfMonth(today, dateIn(date)),
    date: dateIn(date),
  })),
  words(`${SOME_OF}[ -](?:the )?${alternatives(MONTH, '(?:this |last |the )?(?:week|month|year)')}`, ([text]) =>
    inexact(text),
  ),
]

export const ENGLISH_MONTHS: readonly PeriodRule[] = [
  words(`(${MONTH}) (?:of )?((?:19|20)\\d{2})`, ([, month = '', year]) => ({
    kind: 'range',
    at: () => monthsFrom(Date.UTC(Number(year), monthIn(month) - 1, 1), 0),
  })),
  words(`(?:last|this) (${MONTH})`, readMonth),
  words(`${AFTER_PREPOSITION}(${MONTH})`, readMonth),
  words('(january|february|april|june|july|august|september|october|november|december)', readMonth),
  words(`${AFTER_PREPOSITION}((?:19|20)\\d{2})`, ([, year]) => ({
    kind: 'range',
    at: () => yearOf(Number(year)),
  })),
]

function readMonth([text, month = '']: RegExpExecArray): PeriodToken {
  const isLast = /^last/i.test(text)
  return {
    kind: 'range',
    at(today) {
      const found = latestMonth(today, monthIn(month))
      return isLast && found.to > today ? monthsFrom(found.from, -12) : found
    },
  }
}
