/**
 * Reads in a question, in English or Chinese, of which time it asks, as an exact interval in the owner's time zone.
 * What has no exact meaning is said to be unclear, never guessed. Pure.
 */

import { findTokens, type InSentence } from '../schedule-words/tokens.ts'
import { CHINESE_PERIODS } from './period-chinese.ts'
import { ENGLISH_PERIODS } from './period-english.ts'
import { correctSpelling } from './period-spelling.ts'
import type { Misunderstanding, PeriodToken } from './period-tokens.ts'
import {
  DAY_MS,
  dateOf,
  daysFrom,
  HOUR_MS,
  instantsOf,
  startOfDay,
  type WallClock,
  type WallRange,
  wallAt,
} from './wall-clock.ts'

/** Instants; `to` is not included. `said`: the words for it in the question. */
export interface Period {
  readonly from: number
  readonly to: number
  readonly said: string
}

export type PeriodReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'future'; readonly said: string }
  | { readonly kind: 'unclear'; readonly why: Misunderstanding }
  | { readonly kind: 'period'; readonly period: Period }

/** Longer texts are not searched: each character is tried against every row of both tables. */
const MAX_QUESTION = 2000
const RULES = [...ENGLISH_PERIODS, ...CHINESE_PERIODS]

type Token = InSentence<PeriodToken>
/** A range of the question, with its place in the text. */
interface SaidRange extends WallRange {
  readonly start: number
  readonly end: number
  readonly date?: number | undefined
}

export function readPeriod(question: string, now: number, clock: WallClock): PeriodReading {
  const text = correctSpelling(withoutNames(question.slice(0, MAX_QUESTION)))
  const found = findTokens(text, RULES)
  const unclear = found.find((token) => token.kind === 'unclear')
  if (unclear?.kind === 'unclear') return { kind: 'unclear', why: unclear.why }
  const today = startOfDay(wallAt(clock, now))
  const ranges: SaidRange[] = []
  for (const token of found) {
    if (token.kind !== 'range') continue
    const range = token.at(today)
    if (!range) return noSuchDate(token.text)
    ranges.push({ ...narrowToPart(range, token, found, text), date: token.date })
  }
  const span = found.find((token) => token.kind === 'span')
  if (span?.kind === 'span' && ranges.length === 0)
    return { kind: 'period', period: { from: now - span.ms, to: now + 1, said: span.text } }
  if (ranges.length > 0) return joinRanges(ranges, { text, now, clock })
  return readVague(found, today, now, clock)
}

function readVague(found: readonly Token[], today: number, now: number, clock: WallClock): PeriodReading {
  const of = (kind: PeriodToken['kind']): Token | undefined => found.find((token) => token.kind === kind)
  const [future, recent, all] = [of('future'), of('recent'), of('all')]
  if (future) return { kind: 'future', said: future.text }
  if (recent) return { kind: 'period', period: { ...instantsOf(clock, daysFrom(today, -6, 7)), said: recent.text } }
  return all ? { kind: 'period', period: { from: 0, to: now + 1, said: all.text } } : { kind: 'none' }
}

const noSuchDate = (text: string): PeriodReading => ({
  kind: 'unclear',
  why: { en: `there is no such date: "${text}"`, zh: `没有这个日期：“${text}”` },
})

/** Paths and addresses are no periods: `today.md`, `reports/2026-11-03.md`. */
function withoutNames(question: string): string {
  const blank = (name: string): string => ' '.repeat(name.length)
  return question
    .normalize('NFKC')
    .replaceAll('’', "'")
    .replace(/\bhttps?:\/\/\S+/gi, blank)
    .replace(/(?:[\w.-]*\/)+[\w.-]*[a-z][\w.-]*/gi, blank)
    .replace(/[\w-]+\.[a-z]\w{0,7}\b/gi, blank)
    .replace(/\s/g, ' ')
}

const TOUCHES = /^[ ,的]*(?:in the |during the |at )?$/i
const PART_OF = /^ (?:of |on )(?:the )?$/i

/** "Monday morning", "the morning of 3 November", 昨天下午. */
function narrowToPart(range: WallRange, token: Token, found: readonly Token[], text: string): SaidRange {
  const { start, end } = token
  const isDay = range.to - range.from === DAY_MS
  const after = found.find((other) => other.kind === 'part' && other.start >= end)
  const before = found.findLast((other) => other.kind === 'part' && other.end <= start)
  if (isDay && after?.kind === 'part' && TOUCHES.test(text.slice(end, after.start)))
    return { ...hoursOf(range, after), start, end: after.end }
  if (isDay && before?.kind === 'part' && PART_OF.test(text.slice(before.end, start)))
    return { ...hoursOf(range, before), start: before.start, end }
  return { ...range, start, end }
}

const hoursOf = ({ from }: WallRange, part: { readonly from: number; readonly to: number }): WallRange => ({
  from: from + part.from * HOUR_MS,
  to: from + part.to * HOUR_MS,
})

interface Asked {
  readonly text: string
  readonly now: number
  readonly clock: WallClock
}

const TO = /^\s*(?:to|-|–|—|~|until|till|through|thru|up to|到|至)\s*(?:the |on )?$/i
const AND = /^\s*(?:and|,|、|和|与|及|以及|&)\s*(?:on |the |也|还有)?$/i
const BETWEEN = /\bbetween (?:the )?$/i
const SINCE = /(?:\bsince|\bstarting|自从|自)\s*(?:the |on )?$/i
const SINCE_AFTER =
  /^\s*(?:以来|开始|起(?!来)|至今|到现在|到今天|到目前|onwards?\b|until (?:now|today)|up to now|to date|till now)/i
const UNTIL = /\b(?:until|till|(?<!\b(?:you|been|it|we|they) )up to|by)\s*(?:the )?$/i
const BEFORE = /\bbefore\s*(?:the )?$/i
const BEFORE_AFTER = /^\s*(?:之前|以前)/
const AFTER = /\bafter\s*(?:the )?$/i
const AFTER_AFTER = /^\s*(?:之后|以后)/

function joinRanges(ranges: readonly SaidRange[], asked: Asked): PeriodReading {
  const { text, now, clock } = asked
  const [first, second, third] = ranges
  if (!first) return { kind: 'none' }
  if (second && (third || !joins(first, second, text))) {
    const isSame = ranges.every(({ from, to }) => from === first.from && to === first.to)
    if (!isSame) return severalPeriods(ranges, text)
  }
  const whole = second ? spanning(first, second) : bounded(first, asked)
  const end = Math.max(...ranges.map((range) => range.end))
  const said = text.slice(first.start, end).trim()
  const period = { ...instantsOf(clock, whole), said }
  if (period.from > now) return { kind: 'future', said }
  return { kind: 'period', period: whole.to === Number.POSITIVE_INFINITY ? { ...period, to: now + 1 } : period }
}

function joins(first: SaidRange, second: SaidRange, text: string): boolean {
  const gap = text.slice(first.end, second.start)
  if (TO.test(gap)) return true
  if (!AND.test(gap)) return false
  const touch = first.to === second.from || second.to === first.from
  return touch || BETWEEN.test(text.slice(0, first.start))
}

/** "Wednesday to Friday" asked on a Thursday: the Wednesday before that Friday. */
function spanning(first: SaidRange, second: SaidRange): WallRange {
  const month = new Date(first.from)
  const last =
    second.date === undefined || first.date !== undefined
      ? second
      : (dateOf(month.getUTCFullYear(), month.getUTCMonth() + 1, second.date) ?? second)
  if (last.to > first.from) return { from: Math.min(first.from, last.from), to: Math.max(first.to, last.to) }
  if (last.to + DAY_MS > first.from) return { from: last.from, to: first.to }
  return { from: first.from - 7 * DAY_MS, to: last.to }
}

/** One range, with a word such as "since" before it or 以来 after it. */
function bounded({ from, to, start, end }: SaidRange, { text, now, clock }: Asked): WallRange {
  const [before, after] = [text.slice(0, start), text.slice(end)]
  const wallNow = wallAt(clock, now) + 1
  if (SINCE.test(before) || SINCE_AFTER.test(after)) return { from, to: Math.max(wallNow, from) }
  if (AFTER.test(before) || AFTER_AFTER.test(after)) return { from: to, to: Math.max(wallNow, to) }
  if (BEFORE.test(before) || BEFORE_AFTER.test(after)) return { from: 0, to: from }
  return UNTIL.test(before) ? { from: 0, to } : { from, to }
}

function severalPeriods(ranges: readonly SaidRange[], text: string): PeriodReading {
  const said = ranges.map(({ start, end }) => text.slice(start, end).trim())
  return {
    kind: 'unclear',
    why: {
      en: `the question names several periods (${said.join('; ')}); ask about one at a time`,
      zh: `问题里有几段时间（${said.join('；')}）；请一次问一段`,
    },
  }
}
