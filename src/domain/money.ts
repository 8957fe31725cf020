/**
 * Money: the most that a call can cost, what it did cost, and the caps per day and month. Amounts are whole millionths
 * of a dollar: a price in dollars per million tokens is the same number of millionths per token.
 */

import type { ErrorCode } from './error.ts'
import type { Usage } from './journal-record.ts'

/** US dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Price of input read from the provider's cache; default: `input`. */
  readonly cached?: number | undefined
  /** Price of input written to the provider's cache; default: `input`. */
  readonly cache_write?: number | undefined
  /** The largest number of tokens in one answer. */
  readonly max_output: number
}

export const MICROS_PER_USD = 1_000_000

/** Upper bound for the tokens that the provider adds to a request: tool instructions, separators. */
const ADDED_TOKENS = 2_000

/** Upper bound for the cost of a request of that many bytes: a token is at least one byte. */
export function maxCost({ input, output, cached = 0, cache_write = 0, max_output }: Price, bytes: number): number {
  const highestRate = Math.max(input, cached, cache_write)
  return highestRate + output === 0 ? 0 : Math.ceil((bytes + ADDED_TOKENS) * highestRate + max_output * output)
}

export function costOf({ input, output, cached = input, cache_write = input }: Price, usage: Usage): number {
  const { input_tokens, output_tokens, cached_tokens, written_tokens = 0 } = usage
  const plain = Math.max(0, input_tokens - cached_tokens - written_tokens)
  return Math.ceil(plain * input + cached_tokens * cached + written_tokens * cache_write + output_tokens * output)
}

/**
 * Errors that come before any answer, so that the provider charges nothing; or before the request was sent at all.
 * After any other error the charge is unknown.
 */
const NOT_CHARGED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'model_auth',
  'model_unknown',
  'model_unsent',
  'model_limited',
  'model_unavailable',
])

export const isFreeOfCharge = (code: ErrorCode): boolean => NOT_CHARGED.has(code)

/** What a cap limits: all work of a day, the work of one agent or one kernel in a day, or all work of a month. */
export type CapScope = 'day' | 'agent' | 'kernel' | 'month'
export type CapUnit = 'usd' | 'calls' | 'tokens'

export interface Cap {
  /** The configuration key that sets this cap. */
  readonly name: string
  readonly scope: CapScope
  readonly unit: CapUnit
  /** In millionths of a dollar if the unit is `usd`. */
  readonly limit: number
}

/**
 * Spending of one agent on one model in one day. `reserved`: held for calls in progress, and for calls that a crash
 * left without an answer.
 */
export interface Spend {
  readonly day: string
  readonly kernel_id: string
  readonly agent_id: string
  readonly model: string
  readonly usd: number
  readonly reserved: number
  readonly calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
}

export const SPEND_GROUPS = ['agent', 'model', 'day'] as const
export type SpendGroup = (typeof SPEND_GROUPS)[number]

/** Spending of one day, of an agent or on a model (`key`; empty: of the whole day). */
export interface SpendSum extends Omit<Spend, 'kernel_id' | 'agent_id' | 'model'> {
  readonly key: string
}

/** The price whose pattern (with `*`) matches the model; if several match, that of the longest pattern. */
export function priceFor<P>(model: string, prices: Readonly<Record<string, P>>): P | undefined {
  const fitting = Object.keys(prices).filter((pattern) => matchesPattern(pattern, model))
  const [best] = fitting.toSorted((a, b) => b.replaceAll('*', '').length - a.replaceAll('*', '').length)
  return best === undefined ? undefined : prices[best]
}

function matchesPattern(pattern: string, model: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return pattern === model
  const last = rest.pop() ?? ''
  if (!model.startsWith(first) || model.length < first.length + last.length || !model.endsWith(last)) return false
  let from = first.length
  for (const piece of rest) {
    const at = model.indexOf(piece, from)
    if (at < 0) return false
    from = at + piece.length
  }
  return from <= model.length - last.length
}

/** Formats an amount for people; below 10 cents with three decimals. */
export const formatDollars = (usd: number): string => `$${usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2)}`

interface Forecast {
  /** Dollars; null if there is not enough data. */
  readonly day_usd: number | null
  readonly month_usd: number | null
  /** The number of full days on which the forecast is based. */
  readonly days: number
}

/**
 * Expected cost of a day: the average of earlier days, or today's pace if there are none. `part`: the elapsed part of
 * today, 0 to 1.
 */
export function forecastCost(today: number, before: readonly number[], part: number): Forecast {
  const days = before.length
  const average = before.reduce((sum, usd) => sum + usd, 0) / days
  const pace = part >= 1 / 24 ? today / part : null
  const day = days === 0 ? pace : Math.max(average, today)
  return { day_usd: day && day / MICROS_PER_USD, month_usd: day && (day * 30) / MICROS_PER_USD, days }
}

interface Pace {
  /** What is left under the limit. */
  readonly left: number
  readonly per_ms: number
  readonly now: number
  /** When the limit starts anew. */
  readonly until: number
}

/** Contract: the instant at which a limit is reached at this pace; null: not before it starts anew. */
export function reachedAt({ left, per_ms, now, until }: Pace): number | null {
  if (left <= 0) return now
  const at = per_ms > 0 ? now + left / per_ms : until
  return at < until ? at : null
}
