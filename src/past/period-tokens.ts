/** The parts of a question that say of which time it asks: what the tables of both languages produce. */

import { words } from '../schedule-words/english-words.ts'
import type { TokenRule } from '../schedule-words/tokens.ts'
import type { WallRange } from './wall-clock.ts'

/** Why a period is not understood, in both languages. */
export interface Misunderstanding {
  readonly en: string
  readonly zh: string
}

export type PeriodToken =
  /** `at`: the range, seen from the day on which the question is asked; undefined: there is no such date. */
  | {
      readonly kind: 'range'
      readonly at: (today: number) => WallRange | undefined
      /** Of a date without its month: it belongs to the month of the date before it, as in 11月2日到4日. */
      readonly date?: number
    }
  /** The time up to now. */
  | { readonly kind: 'span'; readonly ms: number }
  /** Hours of a day; beyond 24: of the next one. */
  | { readonly kind: 'part'; readonly from: number; readonly to: number }
  /** All time; counts only if nothing else does. */
  | { readonly kind: 'all' }
  /** "recently": the last seven days; counts only if nothing else does. */
  | { readonly kind: 'recent' }
  | { readonly kind: 'future' }
  | { readonly kind: 'unclear'; readonly why: Misunderstanding }

export type PeriodRule = TokenRule<PeriodToken>

/** A rule whose text starts and ends at word boundaries. */
export const englishRule = (source: string, read: PeriodRule['read']): PeriodRule => words(source, read)

/** Before a word that is a period only there: "on Sat", "in May". It is not part of the token. */
export const AFTER_PREPOSITION =
  '(?<=\\b(?:on|since|from|to|until|till|before|after|and|between|by|in|for|during|of|through|year) (?:the )?)'

export const rangeOf =
  (at: (today: number) => WallRange | undefined): (() => PeriodToken) =>
  () => ({ kind: 'range', at })

export type DayPart = 'dawn' | 'morning' | 'noon' | 'afternoon' | 'evening' | 'night'

export const DAY_PARTS: Readonly<Record<DayPart, { readonly from: number; readonly to: number }>> = {
  dawn: { from: 0, to: 6 },
  morning: { from: 5, to: 12 },
  noon: { from: 11, to: 14 },
  afternoon: { from: 12, to: 18 },
  evening: { from: 18, to: 24 },
  night: { from: 18, to: 30 },
}

export const partToken = (part: DayPart): PeriodToken => ({ kind: 'part', ...DAY_PARTS[part] })

export const inexact = (text: string): PeriodToken => ({
  kind: 'unclear',
  why: {
    en: `"${text.trim()}" is no exact period; say, for example, "the last three days" or "on 3 November"`,
    zh: `“${text.trim()}”不是确切的时间；请说例如“最近三天”或“11月3日”`,
  },
})
