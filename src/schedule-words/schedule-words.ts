/**
 * Reads in a sentence when something is to be done, in English or Chinese, or says what is unclear. It never guesses
 * between two readings: what people would have to be asked about is refused. Pure.
 */

import { CHINESE, splitChinese } from './chinese.ts'
import { findDoubt } from './doubts.ts'
import { ENGLISH, splitEnglish } from './english.ts'
import { assembleOnce, namesOneMoment } from './once.ts'
import { type ScheduleReading, type SentenceContext, unclear } from './reading.ts'
import { REASONS, sameText } from './reasons.ts'
import { assembleRepeating } from './repeating.ts'
import { type FoundToken, findTokens } from './tokens.ts'

/** English first: its rows stop at word boundaries, and Chinese ones would take "7:45" out of "7:45pm". */
const RULES = [...ENGLISH, ...CHINESE]

/** Longer texts are not searched: each character is tried against every row of both tables. */
const MAX_SENTENCE = 4000

/** A cron line in the sentence says it best. */
const CRON_LINE = /(?<![\w*])(?=[\d*,/ -]*\*)[\d*][\d*,/-]*(?: [\d*][\d*,/-]*){4}(?![\w*])/

export function readSchedule(sentence: string, reader: SentenceContext): ScheduleReading {
  if (sentence.length > MAX_SENTENCE) return unclear(REASONS.tooLong(MAX_SENTENCE))
  const text = splitChinese(splitEnglish(normalize(sentence)))
  const [cron] = CRON_LINE.exec(text) ?? []
  if (cron !== undefined) return { kind: 'schedule', schedule: cron.trim() }
  const found = findTokens(text, RULES)
  const problem = found.find((token) => isHarmful(token, found))
  if (problem?.kind === 'unclear') return unclear(sameText(problem.why))
  const tokens = markJoined(
    dropAsides(found, text).filter((token) => !isPastDate(token, reader)),
    text,
  )
  const isOnlyAdjective = (token: FoundToken): boolean => token.kind === 'part' && token.weak === true && !token.repeats
  if (tokens.every(isOnlyAdjective)) return { kind: 'no_time' }
  const doubt = findDoubt(text, found, tokens)
  if (doubt !== undefined) return unclear(doubt)
  const loose = tokens.find(({ end }) => /^,? ?\d{1,2} ?(?:$|[.,;!?])/.test(text.slice(end)))
  if (loose) return unclear(REASONS.looseNumber(loose.text))
  const isReminder = /\bremind(?:er)?\b|提醒/i.test(text)
  return namesOneMoment(tokens, isReminder) ? assembleOnce(tokens, reader) : assembleRepeating(tokens)
}

function isHarmful(token: FoundToken, all: readonly FoundToken[]): boolean {
  if (token.kind !== 'unclear') return false
  if (token.harmless_beside === undefined) return true
  const said = all.filter(({ kind }) => kind !== 'aside' && kind !== 'unclear')
  return !said.some(({ kind }) => kind === 'time' || token.harmless_beside === 'anything')
}

/** A date with a year that has passed belongs to the task. */
const isPastDate = (token: FoundToken, { today }: SentenceContext): boolean =>
  token.kind === 'date_of_year' && token.year !== null && token.year < today.year

/** The sentence without the words that say when. */
export function withoutTimes(sentence: string): string {
  if (sentence.length > MAX_SENTENCE) return sentence
  const text = splitChinese(splitEnglish(normalize(sentence)))
  const tokens = findTokens(text, RULES).filter(({ kind }) => kind !== 'aside')
  return tokens.reduceRight((rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`, text)
}

/**
 * Paths and addresses are taken out, and full-width digits and colons become plain ones; in this order, because a
 * Chinese comma ends a path and a plain one does not.
 */
function normalize(sentence: string): string {
  return sentence
    .replace(/\bhttps?:\/\/[^\s，。；、]+/gi, ' ')
    .replace(/(?<![\w.])(?:~|\.{0,2})\/[^\s，。；、]+/g, ' ')
    .normalize('NFKC')
    .replace(/\s+/g, ' ')
}

const DAY_KINDS = new Set(['weekdays', 'weekdays_of_month', 'dates_of_month', 'date_of_year'])
const isDay = (token: FoundToken | undefined): boolean =>
  token !== undefined && (DAY_KINDS.has(token.kind) || token.kind.startsWith('relative') || token.kind === 'period')

/** Leaves out what belongs to the task: asides, and weak words beside strong ones. */
function dropAsides(found: readonly FoundToken[], text: string): readonly FoundToken[] {
  const said = found
    .filter(({ kind }) => kind !== 'aside' && kind !== 'unclear')
    .map((token, i, all) => readTogether(token, all[i - 1], all[i + 1], text))
  const isWeak = (token: FoundToken): boolean => 'weak' in token && token.weak === true
  const hasTime = said.some((token) => !isWeak(token) && (token.kind === 'time' || token.kind === 'part'))
  const hasDay = said.some((token) => !isWeak(token) && !['time', 'part', 'except', 'window'].includes(token.kind))
  return said.filter((token) => {
    if (!isWeak(token)) return true
    return token.kind === 'part' && !token.repeats ? !hasTime : !hasDay && !(token.kind === 'part' && hasTime)
  })
}

const JOINS = /^,? ?(?:on |at )?$/i
const AND = new RegExp(
  '^[\\s,，、;；]*(?:、|;|；|&|\\+|\\band\\b|\\bplus\\b|\\bas well as\\b|和|及|与|以及|跟|还有|并且?|加上|外加)' +
    '(?:\\s|also|then|again|on|at|in|the|about|around|再|又)*$',
  'i',
)

function markJoined(tokens: readonly FoundToken[], text: string): readonly FoundToken[] {
  return tokens.map((token, i) => {
    const before = tokens[i - 1]
    return before && AND.test(text.slice(before.end, token.start)) ? { ...token, joined: true } : token
  })
}

/** A part of the day beside a day: in "Monday morning" it is no adjective, and "Monday mornings" are every week. */
function readTogether(
  token: FoundToken,
  before: FoundToken | undefined,
  after: FoundToken | undefined,
  text: string,
): FoundToken {
  const touch = (left: FoundToken | undefined, right: FoundToken | undefined): boolean =>
    left !== undefined && right !== undefined && isDay(left) && text.slice(left.end, right.start).trim() === ''
  if (token.kind === 'part' && token.weak === true && !token.repeats && touch(before, token))
    return { ...token, weak: false }
  // "every weekday morning and evening".
  const isNextPart = token.kind === 'part' && token.weak === true && before?.kind === 'part'
  if (isNextPart && AND.test(text.slice(before.end, token.start))) return { ...token, weak: false }
  if (token.kind === 'period' && token.weak === true && after && JOINS.test(text.slice(token.end, after.start)))
    return { ...token, weak: false }
  if (token.kind === 'weekdays' && after?.kind === 'part' && /[a-z]s$/i.test(after.text) && touch(token, after))
    return { ...token, repeats: true }
  return token
}
