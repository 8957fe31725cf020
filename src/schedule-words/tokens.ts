/** The parts of a sentence that say when: what the tables of both languages produce, and the assembler reads. */

/** `after_dark`: 晚上, which is evening and night in one. */
export type PartOfDay = 'dawn' | 'morning' | 'noon' | 'afternoon' | 'evening' | 'night' | 'after_dark'

/** A time of day as it was said. */
export interface SaidTime {
  readonly hour: number
  readonly minute: number
  readonly half?: 'am' | 'pm' | undefined
  /** Whether the text can only mean this hour: "17:30", "09:00", "noon". */
  readonly exact?: boolean
}

export type CalendarPeriod = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

export const UNIT_LENGTH_MS = {
  ...{ second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 },
} as const

export type IntervalUnit = keyof typeof UNIT_LENGTH_MS

export type TimeToken =
  | { readonly kind: 'interval'; readonly amount: number; readonly unit: IntervalUnit }
  /** `weak`: an adjective such as "weekly" in "the weekly report", which counts only if nothing else says when. */
  | { readonly kind: 'period'; readonly period: CalendarPeriod; readonly weak?: boolean }
  | { readonly kind: 'time'; readonly times: readonly SaidTime[] }
  /** `repeats`: "every morning". `weak`: "morning" in "the morning report", which counts only if nothing else does. */
  | { readonly kind: 'part'; readonly parts: readonly PartOfDay[]; readonly repeats?: boolean; readonly weak?: boolean }
  /** `repeats`: "every Monday", "Mondays", "Monday to Friday"; a single "Monday" does not say it. 0 is Sunday. */
  | {
      readonly kind: 'weekdays'
      readonly days: readonly number[]
      readonly repeats: boolean
      /** A list such as "Monday and Tuesday", which repeats if a time of day is said with it. */
      readonly listed?: boolean
    }
  /** Weekday fields of a cron line that select days of a month: `1#1`, `5L`. */
  | { readonly kind: 'weekdays_of_month'; readonly fields: readonly string[] }
  /** Dates of a month, as a cron line has them: `1`, `15`, `L`, `LW`. */
  | { readonly kind: 'dates_of_month'; readonly dates: readonly string[]; readonly repeats: boolean }
  | {
      readonly kind: 'date_of_year'
      readonly month: number
      readonly date: number
      readonly year: number | null
      readonly yearly?: boolean
    }
  | { readonly kind: 'relative_day'; readonly days: number }
  /** `weeks`: 0 is the coming one, 1 that of the next week. */
  | { readonly kind: 'relative_weekday'; readonly weekday: number; readonly weeks: 0 | 1 }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'window'; readonly from: SaidTime; readonly to: SaidTime }
  | { readonly kind: 'except' }
  | { readonly kind: 'count'; readonly count: number; readonly per: 'day' | 'week' | 'other' }
  /** Has no schedule here; `harmless_beside` a time of day, or beside any word that says when. */
  | { readonly kind: 'unclear'; readonly why: string; readonly harmless_beside?: 'time' | 'anything' | undefined }
  /** Mentions a time that belongs to the task: "the last 24 hours". */
  | { readonly kind: 'aside' }

/** `start` and `end`: where the token stands in the sentence. */
export type InSentence<Token> = Token & { readonly start: number; readonly end: number; readonly text: string }
/** `joined`: only an "and" stands between it and the token before. */
export type FoundToken = InSentence<TimeToken> & { readonly joined?: boolean }

/** One row of a language's table. The expression must be sticky; undefined: the text is no such token after all. */
export interface TokenRule<Token = TimeToken> {
  readonly pattern: RegExp
  readonly read: (match: RegExpExecArray) => Token | undefined
}

/** Contract: the first rule that fits at a position wins; what no rule fits is skipped, character by character. */
export function findTokens<Token>(sentence: string, rules: readonly TokenRule<Token>[]): readonly InSentence<Token>[] {
  const found: InSentence<Token>[] = []
  for (let at = 0; at < sentence.length; ) {
    const token = tokenAt(sentence, at, rules)
    if (token) found.push(token)
    at = token ? token.end : at + 1
  }
  return found
}

function tokenAt<Token>(
  sentence: string,
  at: number,
  rules: readonly TokenRule<Token>[],
): InSentence<Token> | undefined {
  for (const { pattern, read } of rules) {
    pattern.lastIndex = at
    const match = pattern.exec(sentence)
    if (!match || match[0] === '') continue
    const token = read(match)
    if (token) return { ...token, start: at, end: at + match[0].length, text: match[0].trim() }
  }
  return undefined
}

/** Half hours become minutes. */
export function wholeInterval(amount: number, unit: IntervalUnit): TimeToken {
  if (unit === 'second' && amount < 60) return { kind: 'unclear', why: 'the interval is shorter than a minute' }
  if (Number.isInteger(amount)) return { kind: 'interval', amount, unit }
  const minutes = unit === 'hour' ? amount * 60 : Number.NaN
  if (Number.isInteger(minutes)) return { kind: 'interval', amount: minutes, unit: 'minute' }
  return { kind: 'unclear', why: 'the interval is no whole number of minutes' }
}
