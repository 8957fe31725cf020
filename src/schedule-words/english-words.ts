/** The vocabulary that the English tables share. Pure. */

import { ENGLISH_NUMBER } from './numerals.ts'
import type { TimeToken, TokenRule } from './tokens.ts'

/** A rule whose text starts and ends at word boundaries. */
export function words<Token>(source: string, read: TokenRule<Token>['read']): TokenRule<Token> {
  return { pattern: new RegExp(`(?<![\\p{L}\\d])(?:${source})(?![\\p{L}\\d])`, 'iyu'), read }
}

/** The source of an expression that fits one of these. */
export const alternatives = (...sources: readonly string[]): string => `(?:${sources.join('|')})`

export const aside: TokenRule['read'] = () => ({ kind: 'aside' })

export function unclearText(why: (text: string) => string, harmless_beside?: 'time' | 'anything'): TokenRule['read'] {
  return ([text]): TimeToken => ({ kind: 'unclear', why: why(text), harmless_beside })
}

export const WEEKDAY = '(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?)'
export const SHORT_DAY = '(?:mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)\\b\\.?'
export const ANY_DAY = alternatives(WEEKDAY, SHORT_DAY)
export const MONTH = `${alternatives(
  ...['jan(?:uary)?', 'feb(?:ruary)?', 'mar(?:ch)?', 'apr(?:il)?', 'may', 'june?', 'july?', 'aug(?:ust)?'],
  ...['sept?(?:ember)?', 'oct(?:ober)?', 'nov(?:ember)?', 'dec(?:ember)?'],
)}\\.?`
export const EVERY = '(?:every|each)(?: single)?'
export const ENGLISH_UNIT = alternatives(
  ...['seconds?', 'secs?', 'minutes?', 'mins?', 'hours?', 'hrs?', 'days?', 'nights?', 'weeks?', 'months?', 'years?'],
  ...['s', 'm', 'h', 'd'],
)
export const ENGLISH_PART = '(?:morning|noon|midday|lunchtime|afternoon|evening|night)'
/** How many of a unit: "two", "half an", "1.5", "two and a half", "an". */
export const ENGLISH_AMOUNT = alternatives(
  'half(?: an?)?',
  '\\d+\\.\\d+',
  `${ENGLISH_NUMBER} and a half`,
  ENGLISH_NUMBER,
  'an?',
)
export const ENGLISH_AND = '\\s*(?:,\\s*(?:and\\s+)?|\\band\\s+|&\\s*|/\\s*)(?:on\\s+|every\\s+|each\\s+)?'
export const ENGLISH_TO = '\\s*(?:\\bto\\b|through|thru|-|–|until|till)\\s*'
