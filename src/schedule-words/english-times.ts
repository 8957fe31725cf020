/** Times of day in English: "half past seven", "9:30pm", "noon", "nine thirty", "1530". Pure. */

import { alternatives, unclearText, words } from './english-words.ts'
import { ENGLISH_NUMBER, readNumber } from './numerals.ts'
import type { SaidTime, TimeToken, TokenRule } from './tokens.ts'

const N = ENGLISH_NUMBER
const HALF = '\\s*(?:[ap]\\.?\\s?m\\b\\.?)'
/** Texts that are times wherever they stand. */
const CLEAR = [
  `(?:half|(?:a )?quarter|${N} minutes?) (?:past|to|of|after|before) (?:midnight|noon|(?:${N})(?:${HALF})?)`,
  `${N} (?:past|to) (?:midnight|noon|${N}(?:${HALF}|(?= in the)))`,
  `\\d{1,2}[:.]\\d\\d${HALF}`,
  `(?<!\\d[.:])\\d{1,2}:\\d\\d(?![:.]\\d)`,
  `(?:${N})(?: (?:thirty|fifteen|forty-five|forty five|twenty|ten|oh five))?${HALF}`,
  `(?:${N}) o['’]?clock(?:${HALF})?`,
  '(?:12 )?(?:noon(?:ish)?|midday|midnight)',
  `${N}(?= in the (?:morning|afternoon|evening))`,
  `${N}(?= (?:sharp|on the dot))`,
  '\\d{4}(?= (?:hours|hrs))',
].join('|')
/** Texts that are times only after "at". */
const BARE = [
  ...[`${N} (?:past|to) ${N}`, '\\d{1,2}\\.\\d\\d', '\\d{1,2}h(?:\\d\\d)?'],
  ...[`${N} (?:thirty|fifteen|forty-five|forty five|twenty|oh five)`, N],
].join('|')
const NEXT = '\\s*(?:,\\s*(?:and\\s+)?|\\band\\s+|&\\s*|/\\s*)(?:at\\s+)?'

const AT = '(?:at|@)\\s*(?:about |around )?'
export const CLEAR_TIME = `(?:${CLEAR})`
export const ANY_TIME = `(?:${CLEAR}|${BARE})`

/** Contract: undefined if the text is no time of day. */
export function readEnglishTime(said: string): SaidTime | undefined {
  const text = said
    .trim()
    .toLowerCase()
    .replace(/^12 (?=noon|mid)/, '')
  if (/^(?:noon(?:ish)?|midday)$/.test(text)) return { hour: 12, minute: 0, exact: true }
  if (text === 'midnight') return { hour: 0, minute: 0, exact: true }
  const half = /([ap])\.?\s?m\.?$/.exec(text)?.[1]
  const clock = text.replace(/\s*[ap]\.?\s?m\.?$/, '').replace(/\s*o['’]?clock$/, '')
  const time = readOffset(clock) ?? readDigits(clock) ?? readWords(clock)
  if (!time || time.hour > 24 || time.minute > 59) return undefined
  return half === undefined ? time : { ...time, half: half === 'a' ? 'am' : 'pm', exact: false }
}

const OFFSET = new RegExp(`^(half|(?:a )?quarter|${N})(?: minutes?)? (past|to|of|after|before) (.+)$`)

/** "half past seven", "ten to nine". */
function readOffset(text: string): SaidTime | undefined {
  const [, amount = '', side, base = ''] = OFFSET.exec(text) ?? []
  if (side === undefined) return undefined
  const from = readEnglishTime(base)
  const minutes = amount === 'half' ? 30 : amount.endsWith('quarter') ? 15 : readNumber(amount)
  if (!from || minutes === undefined || minutes < 1 || minutes > 59) return undefined
  if (side === 'past' || side === 'after') return { ...from, minute: minutes }
  // An hour before 1 is 12: "ten to one" is 12:50 on the same half of the day.
  const hour = from.hour === 1 && !from.exact ? 12 : (from.hour + 23) % 24
  return { ...from, hour, minute: 60 - minutes }
}

function readDigits(text: string): SaidTime | undefined {
  const [, hour = '', minute = '0', four] = /^(\d{1,2})(?:[:.h](\d\d)?)?$|^(\d{4})$/.exec(text) ?? []
  if (four !== undefined) return { hour: Number(four.slice(0, 2)), minute: Number(four.slice(2)), exact: true }
  if (hour === '') return undefined
  return { hour: Number(hour), minute: Number(minute), exact: /^0\d/.test(hour) || Number(hour) > 12 || hour === '0' }
}

/** "nine", "nine thirty". */
function readWords(text: string): SaidTime | undefined {
  const whole = readNumber(text)
  if (whole !== undefined && whole <= 24) return { hour: whole, minute: 0, exact: whole > 12 }
  const [, first = '', rest = ''] = /^([a-z]+) (.+)$/.exec(text) ?? []
  const hour = readNumber(first)
  const minute = readNumber(rest.replace(/^oh /, ''))
  return hour === undefined || minute === undefined || hour > 12 ? undefined : { hour, minute }
}

function readList(text: string): readonly SaidTime[] | undefined {
  const times = [...text.matchAll(new RegExp(ANY_TIME, 'giu'))].map(([one]) => readEnglishTime(one))
  return times.includes(undefined) ? undefined : (times as SaidTime[])
}

const EXACTLY = '(?: (?:sharp|on the dot|hours|hrs))?'

function oneTime(text: string): TimeToken | undefined {
  const time = readEnglishTime(text)
  return time && { kind: 'time', times: [time] }
}

const timeToken: TokenRule['read'] = ([text]) => {
  const times = readList(text.replace(/^(?:at|@)\s*(?:about |around )?/i, ''))
  return times && { kind: 'time', times }
}

const ZONES = ['utc', 'gmt', '[ecmp][sd]t', 'cet', 'cest', 'bst', 'jst', 'ist', '[a-z]+ time']
const ZONE = `${alternatives(...ZONES)}(?:\\s*[+-]\\d+)?`

export const ENGLISH_TIMES: readonly TokenRule[] = [
  words(`(?:${AT})?${ANY_TIME}\\s+(${ZONE})`, ([, zone = '']) => ({
    kind: 'unclear',
    why: `times are read in the kernel's time zone, so leave "${zone}" out and convert the time`,
  })),
  words(
    `(?:before|after|by|until|till|not later than) (?:${CLEAR}|${N}(?= ?(?:$|[.,;])))`,
    unclearText((text) => `"${text}" is no moment; write "at" and a time`),
  ),
  words(
    `(?:five|ten|twenty|twenty[- ]five|[125]0|5) (?:past|to) ${N}`,
    unclearText((text) => `"${text}" may be a time; write it as 09:00`),
  ),
  words(`look(?:s|ing)? at ${N}`, () => ({ kind: 'aside' })),
  words(`${AT}(?:the )?(?:least|most|once|first|last|all)`, () => ({ kind: 'aside' })),
  words(
    `${AT}${N} (?!thirty|fifteen|forty|twenty)(?:%|percent|[a-z]+(?<![su])s)`,
    unclearText((text) => `"${text}" may be a time or a number of things; write the time as 09:00`),
  ),
  words(`${AT}${ANY_TIME}(?:${NEXT}${ANY_TIME})*${EXACTLY}`, timeToken),
  words(`on the dot of (${N})`, ([, text = '']) => oneTime(text)),
  words(`(?:around |about )?${CLEAR_TIME}(?:${NEXT}${ANY_TIME})*${EXACTLY}`, timeToken),
  words(`(?:around|about) (${ANY_TIME})(?=\\s*(?:$|[.,;!?]))`, ([, text = '']) => oneTime(text)),
]
