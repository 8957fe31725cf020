/** The English table: which words say when. Rows are tried in order; the first that fits wins. Pure. */

import { ENGLISH_ASIDES } from './english-asides.ts'
import { ENGLISH_DAYS } from './english-days.ts'
import { ANY_TIME, ENGLISH_TIMES, readEnglishTime } from './english-times.ts'
import {
  alternatives,
  ENGLISH_AMOUNT,
  ENGLISH_PART,
  ENGLISH_UNIT,
  EVERY,
  SHORT_DAY,
  unclearText,
  WEEKDAY,
  words,
} from './english-words.ts'
import { ENGLISH_NUMBER as N, readAmount } from './numerals.ts'
import {
  type CalendarPeriod,
  type IntervalUnit,
  type PartOfDay,
  type TimeToken,
  type TokenRule,
  UNIT_LENGTH_MS,
  wholeInterval,
} from './tokens.ts'

const PARTS: Readonly<Record<string, PartOfDay>> = {
  ...{ morning: 'morning', noon: 'noon', midday: 'noon', lunchtime: 'noon' },
  ...{ afternoon: 'afternoon', evening: 'evening', night: 'night' },
}

function partToken(said: readonly (string | undefined)[], how: { repeats?: boolean; weak?: boolean } = {}): TimeToken {
  const parts = said.flatMap((word) => PARTS[(word ?? '').toLowerCase().replace(/s$/, '')] ?? [])
  return { kind: 'part', parts, ...how }
}

/** Undefined: months, years and nights have no fixed length. */
function unitName(unit: string): IntervalUnit | undefined {
  const word = unit.toLowerCase()
  if (/^(?:mo|y|n)/.test(word)) return undefined
  return ({ s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' } as const)[word.charAt(0)]
}

function readInterval(match: RegExpExecArray): TimeToken {
  const { amount = '1', unit = '', half } = match.groups ?? {}
  const name = unitName(unit)
  const count = readAmount(amount)
  if (name !== undefined && count !== undefined) return wholeInterval(count + (half === undefined ? 0 : 0.5), name)
  return { kind: 'unclear', why: `"${match[0]}" is no interval that a schedule can have` }
}

function readDelay(match: RegExpExecArray): TimeToken | undefined {
  const { amount = '1', unit = '', half } = match.groups ?? {}
  const name = unitName(unit)
  const count = readAmount(amount)
  if (name === undefined || count === undefined) return undefined
  return { kind: 'delay', ms: (count + (half === undefined ? 0 : 0.5)) * UNIT_LENGTH_MS[name] }
}

function readWindow([, from = '', to = '']: RegExpExecArray): TimeToken | undefined {
  const [start, end] = [readEnglishTime(from), readEnglishTime(to)]
  return start && end && { kind: 'window', from: start, to: end }
}

const SKIPPED = alternatives(
  ...[WEEKDAY, SHORT_DAY, 'week', 'month', 'year', 'hour', 'minute', 'weekday', 'morning', 'evening', 'night'],
  'afternoon',
)

const INTERVALS: readonly TokenRule[] = [
  words(
    `${EVERY} (?:other|second|third|fourth|2nd|3rd|4th) ${SKIPPED}`,
    unclearText((text) => `"${text}" has no schedule; name an interval such as "every 2 hours", or the days`),
  ),
  words(`${EVERY} (?:other|second|2nd) day`, () => ({ kind: 'interval', amount: 2, unit: 'day' })),
  words(`${EVERY} (?:third|3rd) day`, () => ({ kind: 'interval', amount: 3, unit: 'day' })),
  words(
    `(?:${EVERY}|once (?:every|in)) (?<amount>${ENGLISH_AMOUNT}) ?(?<unit>${ENGLISH_UNIT})(?<half> and a half)?`,
    readInterval,
  ),
  words(`${EVERY} hour and a half`, () => ({ kind: 'interval', amount: 90, unit: 'minute' })),
  words(
    `(?:${EVERY}|once an) hour,? (?:at|on) (?:the )?(?:quarter|half|${N})`,
    unclearText((text) => `"${text}": minutes of every hour have no words here; use --schedule "15 * * * *"`),
  ),
  words(`${EVERY} quarter(?:(?: of an)? |-)hour`, () => ({ kind: 'interval', amount: 15, unit: 'minute' })),
  words(`${EVERY} half-hour`, () => ({ kind: 'interval', amount: 30, unit: 'minute' })),
  words(
    `(?:in|after) (?<amount>${ENGLISH_AMOUNT}) (?<unit>${ENGLISH_UNIT})(?<half> and a half)?(?: from now| time)?`,
    readDelay,
  ),
  words(`(?<amount>${ENGLISH_AMOUNT}) (?<unit>${ENGLISH_UNIT})(?<half> and a half)? from now`, readDelay),
  words(`(?:from|between) (${ANY_TIME})\\s*(?:to|and|-|–|until|till|through)\\s*(${ANY_TIME})`, readWindow),
  words(`(${ANY_TIME})\\s*(?:-|–)\\s*(${ANY_TIME})`, readWindow),
]

const period =
  (value: CalendarPeriod, weak = false): TokenRule['read'] =>
  () => ({ kind: 'period', period: value, weak })

const once = (unit: string): string => `${EVERY} ${unit}|once (?:an?|per|every|each) ${unit}|per ${unit}`
const MORE_PARTS = `(?:(?: and|,| &)(?: every| each)? (${ENGLISH_PART}))?`

const PERIODS: readonly TokenRule[] = [
  words(`${EVERY} (${ENGLISH_PART})${MORE_PARTS}${MORE_PARTS}`, ([, ...parts]) => partToken(parts, { repeats: true })),
  words(`(?:in|during) the (${ENGLISH_PART})s?|at (night|lunchtime)`, ([, ...parts]) => partToken(parts)),
  words(`${once('day')}|each and every day`, period('day')),
  words('daily', period('day', true)),
  words(`${once('hour')}|on the hour`, period('hour')),
  words('hourly', period('hour', true)),
  words(once('minute'), period('minute')),
  words(once('week'), period('week')),
  words('weekly', period('week', true)),
  words(`(?:of |in )?${EVERY} month|${once('month')}|of the month`, period('month')),
  words('monthly', period('month', true)),
  words(once('quarter'), period('quarter')),
  words('quarterly', period('quarter', true)),
  words(once('year'), period('year')),
  words('yearly|annually', period('year', true)),
  words('nightly', () => partToken(['night'], { repeats: true, weak: true })),
  words(`${ENGLISH_PART}s?`, ([text]) => partToken([text], { weak: !/s$/i.test(text) })),
  words(
    alternatives(
      `${EVERY} (?:${N} )?(?:${ENGLISH_UNIT}|times?)`,
      "o['’]?clock",
      '[ap]\\.m\\.',
      `${N} times (?:a|per) \\w+`,
    ),
    unclearText((text) => `"${text}" is not understood`),
  ),
]

/** "tonight" is a day and a part of it; written apart before the table is read. */
export function splitEnglish(sentence: string): string {
  return sentence.replace(/\btonight\b(?!['’]s)/gi, 'today night').replace(/\bevery ?day\b/gi, 'every day')
}

export const ENGLISH: readonly TokenRule[] = [
  ...[...ENGLISH_ASIDES, ...INTERVALS, ...ENGLISH_DAYS],
  ...[...ENGLISH_TIMES, ...PERIODS],
]
