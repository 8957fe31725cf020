/**
 * Money: what a call may cost at most, what it did cost, and what a day allows. Amounts are whole millionths of a dollar, because a price in
 * dollars per million tokens is just that per token.
 */

import type { ErrorCode } from './error.ts'
import type { Usage } from './record.ts'

/** US dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Of input that the provider has kept from before; default: input. */
  readonly cached?: number | undefined
  /** Of input that it is asked to keep; default: input. */
  readonly cache_write?: number | undefined
  /** Tokens that one answer can have. */
  readonly max_output: number
}

export const MICROS = 1_000_000

/** What a provider adds to a request by itself: how tools are called, what stands between messages. */
const ADDED_TOKENS = 2_000

/** No request of that many bytes costs more: a token is a byte at least. */
export function mostCost({ input, output, cached = 0, cache_write = 0, max_output }: Price, bytes: number): number {
  const dearest = Math.max(input, cached, cache_write)
  return dearest + output === 0 ? 0 : Math.ceil((bytes + ADDED_TOKENS) * dearest + max_output * output)
}

export function costOf({ input, output, cached = input, cache_write = input }: Price, usage: Usage): number {
  const { input_tokens, output_tokens, cached_tokens, written_tokens = 0 } = usage
  const plain = Math.max(0, input_tokens - cached_tokens - written_tokens)
  return Math.ceil(plain * input + cached_tokens * cached + written_tokens * cache_write + output_tokens * output)
}

/** Refused before there was an answer to pay for. Of everything else nobody knows. */
const FREE_OF_CHARGE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'model_auth',
  'model_unknown',
  'model_limited',
  'model_unavailable',
])

export const isFreeOfCharge = (code: ErrorCode): boolean => FREE_OF_CHARGE.has(code)

/** Of all work of a day, of one agent's or one kernel's, or of all work of a month. */
export type CapScope = 'day' | 'agent' | 'kernel' | 'month'
export type CapUnit = 'usd' | 'calls' | 'tokens'

export interface Cap {
  /** The key of the configuration that sets it. */
  readonly name: string
  readonly scope: CapScope
  readonly unit: CapUnit
  /** Millionths of a dollar, where it is money. */
  readonly limit: number
}

/** What was spent on one model for one agent on one day. `reserved`: calls under way, and those that a crash left without an answer. */
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

/** A price for everything that a name with `*` covers; of several the one that says most. */
export function priceFor<P>(model: string, prices: Readonly<Record<string, P>>): P | undefined {
  const fitting = Object.keys(prices).filter((pattern) => covers(pattern, model))
  const [best] = fitting.toSorted((a, b) => b.replaceAll('*', '').length - a.replaceAll('*', '').length)
  return best === undefined ? undefined : prices[best]
}

function covers(pattern: string, model: string): boolean {
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

/** For people: small sums to a tenth of a cent. */
export const dollars = (usd: number): string => `$${usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2)}`

export interface Forecast {
  /** Dollars, where there is anything to go by. */
  readonly day_usd: number | null
  readonly month_usd: number | null
  /** Full days that it goes by. */
  readonly days: number
}

/** What a day will cost: today's pace where today is all there is, else what a day cost of late. `part`: of today that is over. */
export function forecast(today: number, before: readonly number[], part: number): Forecast {
  const days = before.length
  const average = before.reduce((sum, usd) => sum + usd, 0) / days
  const pace = part >= 1 / 24 ? today / part : null
  const day = days === 0 ? pace : Math.max(average, today)
  return { day_usd: day && day / MICROS, month_usd: day && (day * 30) / MICROS, days }
}
