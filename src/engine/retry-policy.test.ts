/** The retry policy as a table: what follows a failure, by its code and by what failed before. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorCode, TirelessError } from '../domain/error.ts'
import { decideRetry, type RetryContext, type StepFailure } from './retry-policy.ts'

const NOW = 1_000_000

interface Row {
  readonly why: string
  readonly code: ErrorCode
  readonly after?: Partial<StepFailure['failed']>
  /** Earlier failures in the same turn. */
  readonly turn?: readonly ErrorCode[]
  readonly asking?: Partial<RetryContext>
  readonly retryAfterMs?: number
  /** `again`: at once. A range: after a wait between these milliseconds. */
  readonly gives: 'feedback' | 'stop' | 'again' | readonly [number, number]
}

const ASKED = { wasModelCall: true }
const BUSY = (times: number): readonly ErrorCode[] => Array.from({ length: times }, () => 'budget_busy')

/** Waits are 0.8 to 1.2 times 500 ms, then four times as long each time. */
const ROWS: readonly Row[] = [
  { why: 'a tool or a phase failed: the model reads why', code: 'tool_failed', gives: 'feedback' },
  { why: 'the model can correct an invalid decision', code: 'decision_invalid', gives: 'feedback' },
  { why: 'third failure in a row', code: 'tool_failed', after: { inARow: 2, inAll: 2 }, gives: 'stop' },
  { why: 'tenth failure of the run', code: 'tool_failed', after: { inARow: 0, inAll: 9 }, gives: 'stop' },
  { why: 'ninth failure of the run', code: 'tool_failed', after: { inARow: 0, inAll: 8 }, gives: 'feedback' },
  { why: 'first empty decision', code: 'decision_empty', gives: 'feedback' },
  {
    why: 'second empty decision in a row',
    code: 'decision_empty',
    after: { inARow: 1, inAll: 1, last: 'decision_empty' },
    gives: 'stop',
  },
  {
    why: 'an empty decision after another failure is a first one',
    code: 'decision_empty',
    after: { inARow: 1, inAll: 1, last: 'tool_failed' },
    gives: 'feedback',
  },

  { why: 'the provider is down: after a backoff', code: 'model_unavailable', asking: ASKED, gives: [400, 600] },
  {
    why: 'the second backoff is four times as long',
    code: 'model_unavailable',
    after: { inARow: 1, inAll: 1 },
    asking: ASKED,
    gives: [1600, 2400],
  },
  {
    why: 'the provider says how long to wait',
    code: 'model_limited',
    asking: ASKED,
    retryAfterMs: 30_000,
    gives: [30_000, 30_000],
  },
  {
    why: 'a provider can ask for an hour at most',
    code: 'model_limited',
    asking: ASKED,
    retryAfterMs: 86_400_000,
    gives: [3_600_000, 3_600_000],
  },
  { why: 'a refused key is refused again', code: 'model_auth', asking: ASKED, gives: 'stop' },
  { why: 'a refused request is refused again', code: 'model_refused', asking: ASKED, gives: 'stop' },
  { why: 'an empty answer is requested once more', code: 'model_empty', asking: ASKED, gives: [400, 600] },
  { why: 'a second empty answer', code: 'model_empty', turn: ['model_empty'], asking: ASKED, gives: 'stop' },

  { why: 'another model is untried', code: 'model_auth', asking: { ...ASKED, fallback: 'now' }, gives: 'again' },
  {
    why: 'failures in a row do not count while a model is untried',
    code: 'model_unavailable',
    after: { inARow: 5, inAll: 5 },
    asking: { ...ASKED, fallback: 'now' },
    gives: 'again',
  },
  {
    why: 'the tenth failure of the run counts even then',
    code: 'model_unavailable',
    after: { inARow: 5, inAll: 9 },
    asking: { ...ASKED, fallback: 'now' },
    gives: 'stop',
  },
  {
    why: 'all models were tried: after a backoff, even after a final error',
    code: 'model_auth',
    asking: { ...ASKED, fallback: 'later' },
    gives: [400, 600],
  },

  { why: 'too long, and no message can wait', code: 'model_oversize', asking: ASKED, gives: 'stop' },
  {
    why: 'too long, but some new messages can wait for the next turn',
    code: 'model_oversize',
    asking: { ...ASKED, canPostponeInput: true },
    gives: 'feedback',
  },

  { why: 'no money is left', code: 'budget_money', asking: ASKED, gives: 'stop' },
  { why: 'no calls are left', code: 'budget_calls', asking: { ...ASKED, fallback: 'now' }, gives: 'stop' },
  { why: 'other runs hold the money', code: 'budget_busy', asking: ASKED, gives: [4000, 6000] },
  {
    why: 'waiting for money is no failure, so failures in a row do not end it',
    code: 'budget_busy',
    after: { inARow: 2, inAll: 2 },
    turn: BUSY(23),
    gives: [4000, 6000],
  },
  { why: 'waited for money 24 times', code: 'budget_busy', turn: BUSY(24), asking: ASKED, gives: 'stop' },
]

for (const { why, code, after, turn = [], asking, retryAfterMs, gives } of ROWS)
  test(`retry policy: ${code}: ${why}`, () => {
    const ruling = decideRetry(
      {
        error: new TirelessError(code, 'it failed', { retryAfterMs }),
        failures: turn,
        failed: { inARow: 0, inAll: 0, ...after },
        limits: { inARow: 3, inAll: 10 },
      },
      { wasModelCall: false, canPostponeInput: false, run_id: 'run', now: NOW, ...asking },
    )
    if (gives === 'feedback' || gives === 'stop') assert.deepEqual(ruling, { kind: gives })
    else if (gives === 'again') assert.deepEqual(ruling, { kind: 'retry', until: null })
    else {
      const wait = ruling.kind === 'retry' ? (ruling.until ?? 0) - NOW : Number.NaN
      const [least, most] = gives
      assert.ok(wait >= least && wait <= most, `waits ${wait} ms, expected ${least} to ${most}`)
    }
  })

test('retry policy: the wait depends only on run and attempt, so a replay waits equally long', () => {
  const failure: StepFailure = {
    error: new TirelessError('model_unavailable', 'down'),
    failures: [],
    failed: { inARow: 0, inAll: 0 },
    limits: { inARow: 3, inAll: 10 },
  }
  const context = { wasModelCall: true, canPostponeInput: false, now: NOW }
  const [first, again, other] = ['a', 'a', 'b'].map((run_id) => decideRetry(failure, { ...context, run_id }))
  assert.deepEqual(first, again)
  assert.notDeepEqual(first, other)
})
