import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseDuration, parseInstant } from './duration.ts'
import { MAX_DURATION_MS, MAX_INSTANT_MS } from './limits.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('durations', () => {
  for (const [text, expected] of [
    ['500ms', 500],
    [' 1.5 s ', 1500],
    ['36500d', MAX_DURATION_MS],
    ['36501d', undefined],
    ['99999999999h', undefined],
    [`${'9'.repeat(400)}d`, undefined],
    ['-1h', undefined],
    ['1e3s', undefined],
    ['１０m', undefined],
    ['', undefined],
  ] as const)
    test(`${JSON.stringify(text.slice(0, 20))} is ${expected}`, () => assert.equal(parseDuration(text), expected))
})

describe('instants', () => {
  for (const [text, expected] of [
    ['10m', NOW + 600_000],
    ['2030-01-31T09:00:00Z', Date.UTC(2030, 0, 31, 9)],
    ['2030-01-31T09:00:00.5+08:00', Date.UTC(2030, 0, 31, 1, 0, 0, 500)],
    ['2030-01-31', Date.UTC(2030, 0, 31)],
    ['1970-01-01T00:00:00Z', 0],
    ['9999-12-31T23:59:59.999Z', MAX_INSTANT_MS],
    ['9999-12-31T23:59:59-12:00', undefined],
    ['1969-12-31T23:59:59Z', undefined],
    ['+275760-09-13T00:00:00Z', undefined],
    ['-000001-01-01T00:00:00Z', undefined],
    ['2026-02-30', undefined],
    ['2026-13-01', undefined],
    ['2026-01-01T23:59:60Z', undefined],
    ['2026-01-01T25:00:00Z', undefined],
    ['foo 1', undefined],
    ['1', undefined],
    ['99999999999h', undefined],
  ] as const)
    test(`${JSON.stringify(text)} is ${expected}`, () => assert.equal(parseInstant(text, NOW), expected))
})
