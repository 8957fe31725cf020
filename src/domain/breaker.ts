/**
 * Breaker: which model of a chain is asked, from what became of the calls before. Pure: a model's standing is a fold of its outcomes, and
 * outcomes are in the journal. A provider that refuses the key is left alone at once, one that fails again and again for a while.
 */

import type { ErrorCode } from './error.ts'

/** `code`: null where the call was answered. */
export interface CallOutcome {
  readonly model: string
  readonly code: ErrorCode | null
  readonly at: number
  /** What the provider asked for. */
  readonly retryAfterMs?: number | undefined
}

/** Of a model, or of a whole provider where it is the key that is refused. */
export interface Standing {
  /** In a row. */
  readonly failures: number
  readonly code: ErrorCode | null
  /** Left out until then. */
  readonly until: number
}

const GOOD: Standing = { failures: 0, code: null, until: 0 }

/** So many failures in a row, and a model is left out. */
const MOST_FAILURES = 3
const FIRST_REST_MS = 30_000
const LONGEST_REST_MS = 600_000
/** A provider that asks for more is asked once a day: the number may be wrong. */
const LONGEST_ASKED_REST_MS = 86_400_000

/** What another provider may not have: of everything else the request itself is the cause. */
const NOT_ELSEWHERE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'model_auth',
  'model_unknown',
  'model_limited',
  'model_unavailable',
  'model_timeout',
  'model_cut',
  'model_garbled',
  'model_empty',
])

export const mayBeBetterElsewhere = (code: ErrorCode): boolean => NOT_ELSEWHERE.has(code)

export function afterOutcome(before: Standing = GOOD, { code, at, retryAfterMs = 0 }: CallOutcome): Standing {
  if (code === null) return GOOD
  if (!NOT_ELSEWHERE.has(code)) return before
  const failures = before.failures + 1
  return { failures, code, until: at + restAfter(code, failures, retryAfterMs) }
}

function restAfter(code: ErrorCode, failures: number, retryAfterMs: number): number {
  if (code === 'model_auth' || code === 'model_unknown') return LONGEST_REST_MS
  if (code === 'model_limited') return Math.min(Math.max(FIRST_REST_MS, retryAfterMs), LONGEST_ASKED_REST_MS)
  const over = failures - MOST_FAILURES
  return over < 0 ? 0 : Math.min(FIRST_REST_MS * 2 ** over, LONGEST_REST_MS)
}

export const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf('/')))

/** Whose standing an outcome changes: a key is the provider's, everything else the model's. */
export const subjectsOf = ({ model, code }: CallOutcome): readonly string[] =>
  code === 'model_auth' ? [providerOf(model)] : code === null ? [model, providerOf(model)] : [model]

/** Why a model is left out now, if it is. */
export function leftOut(standings: ReadonlyMap<string, Standing>, model: string, now: number): ErrorCode | null {
  const standing = [providerOf(model), model]
    .map((subject) => standings.get(subject))
    .find((one) => (one?.until ?? 0) > now)
  return standing?.code ?? null
}

/**
 * Of a chain, the one to ask: whoever failed least in this turn, of those that are not left out; the first of them, as they stand in the
 * chain. Where all are left out, one whose trouble may have passed. Undefined where every key is refused: then nobody is asked.
 */
export function toAsk(
  chain: readonly string[],
  failed: readonly string[],
  whyLeftOut: (model: string) => ErrorCode | null,
): string | undefined {
  const failures = (model: string): number => failed.filter((one) => one === model).length
  const hopeful = chain.filter((model) => whyLeftOut(model) === null)
  const rest = chain.filter((model) => whyLeftOut(model) !== 'model_auth')
  return (hopeful.length > 0 ? hopeful : rest).toSorted((a, b) => failures(a) - failures(b))[0]
}
