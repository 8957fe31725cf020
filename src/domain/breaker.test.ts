import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BreakerState,
  breakerKeysOf,
  type CallOutcome,
  exclusionReason,
  isWorthFallback,
  nextBreakerState,
  pickModel,
} from './breaker.ts'
import { ERROR_CODES, type ErrorCode } from './error.ts'

const S = 1000
const MIN = 60 * S

/** The breaker state after these outcomes of one model, one second apart. */
function stateAfter(...codes: readonly (ErrorCode | null | readonly [ErrorCode, number])[]): BreakerState | undefined {
  return codes.reduce<BreakerState | undefined>((before, outcome, n) => {
    const [code, retryAfterMs] = Array.isArray(outcome) ? outcome : [outcome, undefined]
    return nextBreakerState(before, { model: 'p/m', code, at: n * S, retryAfterMs } as CallOutcome)
  }, undefined)
}

test('E13: three failures in a row exclude a model, longer each time; an answer readmits it', () => {
  const down = 'model_unavailable'
  const rows: readonly (readonly [readonly (ErrorCode | null | readonly [ErrorCode, number])[], number])[] = [
    [[null], 0],
    [[down], 0],
    [[down, down], 0],
    [[down, down, down], 2 * S + 30 * S],
    [[down, 'model_timeout', 'model_cut'], 2 * S + 30 * S],
    [[down, down, down, down], 3 * S + 60 * S],
    [Array.from({ length: 20 }, () => down), 19 * S + 10 * MIN],
    [[down, down, null, down], 0],
    [[down, down, 'model_refused', down], 3 * S + 30 * S],
    [['model_refused', 'model_oversize', 'internal', 'aborted'], 0],
    [['model_limited'], 30 * S],
    [[['model_limited', 5 * MIN]], 5 * MIN],
    [[['model_limited', 24 * 60 * MIN]], 24 * 60 * MIN],
    [[['model_limited', 8.64e15]], 24 * 60 * MIN],
    [[['model_limited', -1]], 30 * S],
    [['model_auth'], 10 * MIN],
    [['model_unknown'], 10 * MIN],
    [['model_auth', null], 0],
  ]
  for (const [codes, until] of rows) {
    const standing = stateAfter(...codes)
    const out = (standing?.until ?? 0) > (codes.length - 1) * S ? standing?.until : 0
    assert.equal(out, until, JSON.stringify(codes))
  }
})

test('a refused key excludes the provider, any other failure the model; an expired exclusion does not count', () => {
  const outcome = (code: ErrorCode | null) => ({ model: 'p/m', code, at: 0 })
  assert.deepEqual(breakerKeysOf(outcome('model_auth')), ['p'])
  assert.deepEqual(breakerKeysOf(outcome('model_cut')), ['p/m'])
  assert.deepEqual(breakerKeysOf(outcome(null)), ['p/m', 'p'])
  const standings = new Map([
    ['p', { failures: 1, code: 'model_auth', until: 10 }],
    ['q/m', { failures: 3, code: 'model_cut', until: 10 }],
  ] as const)
  assert.equal(exclusionReason(standings, 'p/any', 9), 'model_auth')
  assert.equal(exclusionReason(standings, 'p/any', 10), null)
  assert.equal(exclusionReason(standings, 'q/m', 9), 'model_cut')
  assert.equal(exclusionReason(standings, 'q/other', 9), null)
})

test('picks the first model that is not excluded and failed least; none where every key is refused', () => {
  const chain = ['a/1', 'b/1', 'c/1']
  const rows: readonly (readonly [readonly string[], Readonly<Record<string, ErrorCode>>, string | undefined])[] = [
    [[], {}, 'a/1'],
    [['a/1'], {}, 'b/1'],
    [['a/1', 'b/1', 'c/1'], {}, 'a/1'],
    [['a/1', 'b/1', 'c/1', 'a/1'], {}, 'b/1'],
    [[], { 'a/1': 'model_cut' }, 'b/1'],
    [['b/1'], { 'a/1': 'model_cut' }, 'c/1'],
    [[], { 'a/1': 'model_cut', 'b/1': 'model_auth', 'c/1': 'model_limited' }, 'a/1'],
    [['a/1'], { 'a/1': 'model_cut', 'b/1': 'model_auth', 'c/1': 'model_limited' }, 'c/1'],
    [[], { 'a/1': 'model_auth', 'b/1': 'model_auth', 'c/1': 'model_auth' }, undefined],
  ]
  for (const [failed, out, expected] of rows)
    assert.equal(
      pickModel(chain, failed, (model) => out[model] ?? null),
      expected,
      JSON.stringify([failed, out]),
    )
})

test('only failures that another provider may not have lead to a fallback', () => {
  const elsewhere = (Object.keys(ERROR_CODES) as ErrorCode[]).filter(isWorthFallback)
  const expected = ['auth', 'unknown', 'unsent', 'limited', 'unavailable', 'timeout', 'cut', 'garbled', 'empty']
  assert.deepEqual(
    elsewhere,
    expected.map((word) => `model_${word}`),
  )
})
