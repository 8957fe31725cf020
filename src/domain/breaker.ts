/**
 * Circuit breaker: picks a model of a fallback chain by the outcomes of earlier calls. Pure: its state is computed from
 * outcomes, which are in the journal. A refused key excludes the whole provider at once; repeated failures exclude a
 * model for a while.
 */

import type { ErrorCode } from './error.ts'

/** Outcome of a model call. `code`: null if the call got an answer. */
export interface CallOutcome {
  readonly model: string
  readonly code: ErrorCode | null
  readonly at: number
  /** The provider's Retry-After. */
  readonly retryAfterMs?: number | undefined
}

/** State of a model; or of a whole provider, if the provider refused the key. */
export interface BreakerState {
  /** Consecutive failures. */
  readonly failures: number
  readonly code: ErrorCode | null
  /** The model is excluded until this instant (epoch ms). */
  readonly until: number
}

const HEALTHY: BreakerState = { failures: 0, code: null, until: 0 }

/** A model is excluded after this many consecutive failures. */
const MAX_FAILURES = 3
const FIRST_EXCLUSION_MS = 30_000
const MAX_EXCLUSION_MS = 600_000
/** Upper bound for Retry-After: the provider may name a wrong time, so it is asked again at least once a day. */
const MAX_RETRY_AFTER_MS = 86_400_000

/**
 * Failures that do not depend on the request, so that another provider may succeed. All other codes are caused by the
 * request itself.
 */
const PROVIDER_FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'model_auth',
  'model_unknown',
  'model_unsent',
  'model_limited',
  'model_unavailable',
  'model_timeout',
  'model_cut',
  'model_garbled',
  'model_empty',
])

export const isWorthFallback = (code: ErrorCode): boolean => PROVIDER_FAILURES.has(code)

export function nextBreakerState(
  before: BreakerState = HEALTHY,
  { code, at, retryAfterMs = 0 }: CallOutcome,
): BreakerState {
  if (code === null) return HEALTHY
  if (!PROVIDER_FAILURES.has(code)) return before
  const failures = before.failures + 1
  return { failures, code, until: at + exclusionMs(code, failures, retryAfterMs) }
}

function exclusionMs(code: ErrorCode, failures: number, retryAfterMs: number): number {
  if (code === 'model_auth' || code === 'model_unknown' || code === 'model_unsent') return MAX_EXCLUSION_MS
  if (code === 'model_limited') return Math.min(Math.max(FIRST_EXCLUSION_MS, retryAfterMs), MAX_RETRY_AFTER_MS)
  const failuresOverLimit = failures - MAX_FAILURES
  return failuresOverLimit < 0 ? 0 : Math.min(FIRST_EXCLUSION_MS * 2 ** failuresOverLimit, MAX_EXCLUSION_MS)
}

export const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf('/')))

/** A refused key counts against the provider, every other failure against the model. */
export const breakerKeysOf = ({ model, code }: CallOutcome): readonly string[] =>
  code === 'model_auth' ? [providerOf(model)] : code === null ? [model, providerOf(model)] : [model]

/** The failure that excludes the model now; null if the model is not excluded. */
export function exclusionReason(
  states: ReadonlyMap<string, BreakerState>,
  model: string,
  now: number,
): ErrorCode | null {
  const excluding = [providerOf(model), model]
    .map((subject) => states.get(subject))
    .find((one) => (one?.until ?? 0) > now)
  return excluding?.code ?? null
}

/**
 * Picks the model of the chain that failed least in this turn, among those not excluded; of equal models, the first in
 * the chain. If all models are excluded, picks among those that may have recovered. Undefined if every key is refused.
 */
export function pickModel(
  chain: readonly string[],
  failed: readonly string[],
  whyExcluded: (model: string) => ErrorCode | null,
): string | undefined {
  const failures = (model: string): number => failed.filter((one) => one === model).length
  const available = chain.filter((model) => whyExcluded(model) === null)
  const recoverable = chain.filter((model) => whyExcluded(model) !== 'model_auth')
  return (available.length > 0 ? available : recoverable).toSorted((a, b) => failures(a) - failures(b))[0]
}
