/** English words about time that say nothing of a schedule: they belong to the task, or cannot be understood. Pure. */

import { ANY_TIME, CLEAR_TIME } from './english-times.ts'
import {
  ANY_DAY,
  alternatives,
  aside,
  ENGLISH_PART,
  ENGLISH_UNIT,
  EVERY,
  MONTH,
  unclearText,
  WEEKDAY,
  words,
} from './english-words.ts'
import { ENGLISH_ORDINAL, ENGLISH_NUMBER as N, readNumber } from './numerals.ts'
import type { TimeToken, TokenRule } from './tokens.ts'

/** Words after a time that do not make it the name of a thing. */
const NOT_A_NAME = '(?:on|every|each|at|in|and|or|daily|today|tomorrow|tonight|sharp|please|to)\\\\b'
const COMPARED = alternatives(
  ...['older', 'newer', 'longer', 'shorter', 'more', 'less', 'later', 'earlier', 'fewer', 'at least', 'at most'],
  ...['over', 'under', 'within', 'for', 'about', 'up to'],
)
const SHIFTS = '(?:work|lunch|school|dinner|breakfast)'

/** Times that the task is about. */
const MENTIONS: readonly TokenRule[] = [
  words('["“][^"”]*["”]|`[^`]*`', aside),
  words(
    '(?:(?:the|my|of|in|from|over|for) )*(?:last|past|previous|recent|preceding) (?:few |couple of )?' +
      `(?:${N} )?${alternatives(ENGLISH_UNIT, ENGLISH_PART, 'weekend', 'quarter', WEEKDAY)}` +
      `(?! (?:of|in) (?:the|each|every)|,? (?:and |& )?(?:on )?(?:the )?${ENGLISH_ORDINAL})`,
    aside,
  ),
  words(`(?:since )?(?:yesterday|the day before)(?:['’]s)?(?: ${alternatives(ENGLISH_PART, ANY_TIME)})?`, aside),
  words(`${alternatives('today', 'tomorrow', 'tonight', WEEKDAY, 'this week', 'this month', 'next week')}['’]s`, aside),
  words(`(?:the|my|our|this|that|his|her|their) ${CLEAR_TIME}(?= (?!${NOT_A_NAME})[a-z])`, aside),
  words('(?:for |of |in |during )?(?:this|the current) (?:week|month|year|quarter)', aside),
  words(`${COMPARED}(?: than)? (?:${N}|half an?|an?) ${ENGLISH_UNIT}(?: (?:old|ago|each))?`, aside),
  words(`${N}[- ]${ENGLISH_UNIT} (?:old|ago|long|earlier)|${N}-(?:second|minute|hour|day|week|month|year)`, aside),
  words(`${N} (?:second|minute|hour|day|week|month|year)(?= [a-z])`, aside),
  words('day[- ]to[- ]day|day by day|these days|some ?day|one day|good morning|days? off|due dates?', aside),
]

const HOLIDAY = alternatives(
  ...['christmas(?: eve| day)?', 'easter', 'thanksgiving', 'halloween', "new year['’]?s?(?: eve| day)?", 'ramadan'],
  ...['diwali', 'hanukkah', "valentine['’]?s(?: day)?", '(?:full|new) moon'],
)

/** How often or when, in words that no clock knows. */
const VAGUE: readonly TokenRule[] = [
  words(
    `(?:on|every|each|at|until|till|by|before|after) ${HOLIDAY}`,
    unclearText((text) => `"${text}" has no date here; write the date`),
  ),
  words(
    alternatives(`${WEEKDAY} week`, `a week (?:on |from )?${alternatives(WEEKDAY, 'tomorrow', 'today')}`, 'midweek'),
    unclearText((text) => `"${text}" is not understood; write the date`),
  ),
  words(
    `(?:${ENGLISH_ORDINAL}|next|${N}|days?)[- ](?:to|from|before|but)[- ](?:the )?(?:very )?(?:last|end)`,
    unclearText((text) => `"${text}" is not understood; write the date`),
  ),
  words(
    "(?:on|every|for) (?:my|our|his|her|their|[a-z]+['’]s) (?:\\w+['’]s )?(?:birthday|anniversary)|" +
      "when(?:ever)? (?:I|you|we)(?: (?:am|are)|['’](?:m|re)) free|when(?:ever)? (?:I|you|we) (?:have|find|get) time",
    unclearText((text) => `"${text}" has no date here; write the date`),
  ),
  words(
    `(?:${N}|an?|half an) ${ENGLISH_UNIT} (?:before(?:hand)?|ahead|in advance|prior|early|earlier)`,
    unclearText((text) => `"${text}": write the time itself`),
  ),
  words(
    `(?:(?:in|during|every|from) )?${MONTH} (?:through|to|until|till|-|–) ${MONTH}|` +
      `(?:during|every|each) ${MONTH}(?! \\d)`,
    unclearText((text) => `"${text}": months of the year have no schedule in words; use --schedule with a cron line`),
  ),
  words(
    '(?:cancel|delete|remove|stop|turn off|drop) (?:the|my|that|this|all)\\b.{0,60}?' +
      '(?:reminders?|alarms?|agents?|schedules?)',
    unclearText((text) => `"${text}" asks to remove something; use tireless agent list, then agent disable or delete`),
  ),
  words(
    alternatives('24/7', 'around the clock', 'all (?:day|night)(?: long)?', '(?:during|throughout) the (?:day|night)'),
    unclearText((text) => `"${text}" names no times; write for example "every hour from 9:00 to 17:00"`),
  ),
  words(
    alternatives(
      ...['regular(?:ly)?', 'periodically', 'often', 'frequently', 'constantly', 'continuously', 'occasionally'],
      ...['sometimes', '(?:every )?now and (?:then|again)', 'from time to time', 'repeatedly', 'every so often'],
      ...['every (?:few|couple of) (?:\\w+)', 'once in a while', '(?:a few|several|many) times an? (?:\\w+)'],
    ),
    unclearText((text) => `"${text}" does not say how often; write for example "every 2 hours"`),
  ),
  words(
    alternatives(
      'bi-?weekly',
      'bi-?monthly',
      'semi-?\\w+ly',
      'fortnightly',
      `${EVERY} fortnight`,
      '(?:quarter|half)-?hourly',
    ),
    unclearText((text) => `"${text}" can be understood in two ways, or has no schedule; name the days`),
  ),
  words(
    alternatives(
      '(?:during|within|in) (?:business|working|office|opening) hours',
      'end of (?:the )?week',
      'start of (?:(?:the|each|every) )?week',
    ),
    unclearText((text) => `"${text}" is no time that the clock knows; write the hours and days`),
  ),
  words(
    alternatives(
      ...['dawn', 'dusk', 'sunrise', 'sunset', 'bedtime', 'dinner ?time', 'tea ?time', 'breakfast(?: time)?'],
      '(?:on|every|during) (?:public )?holidays?',
      ...['end of (?:the )?day', 'eod', 'cob', 'close of business', `(?:after|before|during) (?:my |the )?${SHIFTS}`],
      '(?:my |the )?(?:lunch|coffee|tea) (?:break|hour)',
    ),
    unclearText((text) => `"${text}" is no time that the clock knows; write the hour`, 'time'),
  ),
  words(
    '(?:start(?:ing|s)?|begin(?:ning|s)?|as of|effective) (?:from |on |at |in )?' +
      alternatives('today', 'tomorrow', 'tonight', 'next', ANY_DAY, MONTH, ANY_TIME),
    unclearText((text) => `"${text}": a schedule cannot start later; leave it out`),
  ),
  words(
    `(?:until|till|up to) ${alternatives('today', 'tomorrow', 'tonight', 'next', 'the', WEEKDAY, MONTH)}`,
    unclearText((text) => `"${text}": a schedule has no end; leave it out`),
  ),
]

const COUNTS: readonly TokenRule[] = [
  words(
    `(?:twice|thrice|${N} times) (?:an?|per|every|each) ${ENGLISH_UNIT}|(?:twice|thrice) (?:daily|weekly)`,
    readCount,
  ),
]

function readCount([text]: RegExpExecArray): TimeToken {
  const count = /^thrice/i.test(text) ? 3 : /^twice/i.test(text) ? 2 : (readNumber(text.split(' ')[0] ?? '') ?? 0)
  return { kind: 'count', count, per: /da(?:y|ily)/i.test(text) ? 'day' : /week/i.test(text) ? 'week' : 'other' }
}

/** "the daily standup": a word that says how often, but as the name of a thing. */
const NAMES: readonly TokenRule[] = [
  words(
    `(?:the|my|our|your|their|his|her|its|this|that|about|of) (?:daily|hourly|weekly|monthly|yearly|nightly|quarterly)`,
    unclearText(
      (text) => `"${text} …" may say when to run, or what the task is about; write "every …" if it says when`,
      'anything',
    ),
  ),
]

export const ENGLISH_ASIDES: readonly TokenRule[] = [...MENTIONS, ...VAGUE, ...COUNTS, ...NAMES]
