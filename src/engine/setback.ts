/**
 * When a step cannot be completed: wait and go on with the same turn, or end the run. One table for every trouble a provider can
 * make is in docs/faults.md; the ruling itself is a pure function here.
 * Must not know: the store's failures. Those are not a run's to judge, and pass through.
 */

import { createHash } from 'node:crypto'
import type { Next } from '../domain/decision.ts'
import { asTirelessError, type ErrorCode, type TirelessError } from '../domain/error.ts'
import { Suspended } from './suspended.ts'

const MAX_ATTEMPTS = 3
/** An empty answer is asked for once more only: a provider that says nothing twice has nothing to say. */
const MAX_EMPTY_ATTEMPTS = 2
const FIRST_BACKOFF_MS = 500
const BACKOFF_FACTOR = 4
const LONGEST_BACKOFF_MS = 3_600_000

export type Setback = Extract<Next, { kind: 'park' | 'end' }> | { readonly kind: 'release' }

export interface Trouble {
  readonly thrown: unknown
  /** Codes of the failed calls of this turn, this one included. */
  readonly failures: readonly ErrorCode[]
  readonly run_id: string
  readonly now: number
}

export function setback({ thrown, failures, run_id, now }: Trouble): Setback {
  if (thrown instanceof Suspended) return { kind: 'park', wait: thrown.wait }
  const error = asTirelessError(thrown)
  if (error.code.startsWith('store_')) throw error
  if (error.code === 'aborted') return { kind: 'release' }
  if (!error.code.startsWith('model_'))
    return { kind: 'end', stop_reason: 'unrecoverable_error', error: `${error.code}: ${error.message}` }
  const allowed = error.code === 'model_empty' ? MAX_EMPTY_ATTEMPTS : MAX_ATTEMPTS
  if (error.retry === 'later' && failures.length < allowed)
    return { kind: 'park', wait: retryWait(error, failures.length, run_id, now) }
  const tries = failures.length > 1 ? ` (after ${failures.length} attempts)` : ''
  return {
    kind: 'end',
    stop_reason: 'unrecoverable_error',
    failure_class: 'provider',
    error: `${error.code}: ${error.message}${tries}`,
  }
}

function retryWait(
  error: TirelessError,
  failed: number,
  run_id: string,
  now: number,
): Extract<Next, { kind: 'park' }>['wait'] {
  const backoff = FIRST_BACKOFF_MS * BACKOFF_FACTOR ** (failed - 1) * jitter(run_id, failed)
  const wait = Math.min(Math.max(backoff, error.retryAfterMs ?? 0), LONGEST_BACKOFF_MS)
  return { kind: 'retry', until: Math.ceil(now + wait), reason: `${error.code}: ${error.message}` }
}

/** 0.8 … 1.2, the same for the same run and attempt, so that a replay waits as the run did. */
function jitter(run_id: string, failed: number): number {
  return 0.8 + (createHash('sha256').update(`${run_id}.${failed}`).digest().readUInt16BE(0) / 0xffff) * 0.4
}
