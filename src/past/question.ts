/** Recognises what a question about the past asks for, in English and Chinese. Pure. */

import { type Language, languageOf } from '../domain/language.ts'
import { type PeriodReading, readPeriod } from './period.ts'
import { correctSpelling } from './period-spelling.ts'
import { CHINESE_KINDS, ENGLISH_KINDS, type KindRule } from './question-rules.ts'
import type { WallClock } from './wall-clock.ts'

export const QUESTION_KINDS = [
  ...(['did', 'cost', 'waits', 'why', 'changed', 'failed', 'next', 'todos', 'agents'] as const),
] as const
export type QuestionKind = (typeof QUESTION_KINDS)[number]

export interface PastQuestion {
  readonly text: string
  readonly language: Language
  /** Undefined: not understood. */
  readonly kind: QuestionKind | undefined
  readonly period: PeriodReading
}

/** A question that is nothing but a period: "And yesterday?", 上周呢. */
const SMALL_WORDS = new RegExp(
  '\\b(?:and|what|about|how|so|then|okay|ok|please|tell|me|the|in|on|of|for|during|from|to|since)\\b' +
    '|呢|那|么|吗|嘛|的|请|说说|讲讲|怎么样|如何|以来|[\\s\\p{P}]',
  'giu',
)

export function readQuestion(text: string, now: number, clock: WallClock): PastQuestion {
  const language = languageOf(text)
  const period = readPeriod(text, now, clock)
  return { text, language, period, kind: kindOf(text, language, period) }
}

function kindOf(text: string, language: Language, period: PeriodReading): QuestionKind | undefined {
  const plain = correctSpelling(text)
    .normalize('NFKC')
    .replaceAll('’', "'")
    .toLowerCase()
    // The words of a file name say nothing: "What changed in costs.csv?"
    .replace(/(?:[\w.-]*\/)*[\w-]+\.[a-z]\w{0,7}\b/g, 'x.md')
  const isPast = period.kind === 'period'
  const fits = ({ kind, pattern, not, isTimeless }: KindRule): boolean =>
    pattern.test(plain) && !(not?.test(plain) ?? false) && !((kind === 'next' || isTimeless === true) && isPast)
  const found = (language === 'zh' ? CHINESE_KINDS : ENGLISH_KINDS).find(fits)?.kind
  if (found !== undefined) return found
  if (period.kind === 'future') return 'next'
  if (period.kind !== 'period') return undefined
  const rest = plain.replace(period.period.said.toLowerCase(), '').replace(SMALL_WORDS, '')
  return rest === '' ? 'did' : undefined
}
