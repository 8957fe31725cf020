/**
 * The range of every number that comes from outside. Adapters check a number and report the expected range; the store
 * refuses numbers out of range, because they could be written and never read again.
 */

/** 100 years: today plus a few such durations is still a valid instant. */
export const MAX_DURATION_MS = 36_500 * 86_400_000

/** The last millisecond of the year 9999: ISO dates have four digits for the year. */
export const MAX_INSTANT_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Per request or answer. */
export const MAX_TOKENS = 1_000_000_000

/** US dollars, per limit: sums of millionths stay exact. */
export const MAX_USD = 1_000_000_000

/** US dollars per million tokens. */
export const MAX_PRICE = 1_000_000

/** Texts for messages; they complete "expected …". */
export const EXPECTED_DURATION = 'a duration such as 500ms, 30s, 10m, 2h or 1d, at most 36500d'
export const EXPECTED_INSTANT =
  'an ISO instant in the years 1970 to 9999 such as 2030-01-31T09:00:00Z, ' +
  'or a duration from now such as 10m, at most 36500d'

export const isDuration = (ms: unknown): ms is number => isCount(ms) && ms <= MAX_DURATION_MS

export const isInstant = (ms: unknown): ms is number => isCount(ms) && ms <= MAX_INSTANT_MS

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

export const isTokenCount = (value: unknown): value is number => isCount(value) && value <= MAX_TOKENS

const isPrice = (usd: unknown): usd is number => typeof usd === 'number' && usd >= 0 && usd <= MAX_PRICE

/** The first invalid member of a price, which came from a program; undefined if it is valid. */
export function findPriceProblem(
  price: unknown,
): { readonly member: string; readonly value: unknown; readonly expected: string } | undefined {
  const given = (typeof price === 'object' && price !== null ? price : {}) as Readonly<Record<string, unknown>>
  for (const member of ['input', 'output', 'cached', 'cache_write']) {
    const value = given[member] ?? (member.startsWith('cache') ? 0 : undefined)
    if (!isPrice(value))
      return { member, value: given[member], expected: `US dollars per million tokens, from 0 to ${MAX_PRICE}` }
  }
  const { max_output } = given
  return isTokenCount(max_output)
    ? undefined
    : { member: 'max_output', value: max_output, expected: `a whole number of tokens, at most ${MAX_TOKENS}` }
}
