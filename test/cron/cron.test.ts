/**
 * Compares every form of a cron line with the oracle. `CRON_SWEEP=full`: every tenth time zone, with 400 generated
 * lines each.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSchedule, type Schedule } from '../../src/kernel/schedule/schedule.ts'
import { iso } from '../../src/ports/clock.ts'
import { generatedLine, WRITTEN } from './lines.ts'
import { dueTimes, type OracleLine, type Span, type Stretch, stretchesOf } from './oracle.ts'

const DAY = 86_400
const seconds = (...date: [number, number, number]): number => Date.UTC(...date) / 1000
const YEARS: Span = { from: seconds(2024, 0, 1), to: seconds(2031, 0, 1), step: 60 }

const isFull = process.env.CRON_SWEEP === 'full'
const FEW_ZONES = ['Europe/Berlin', 'America/Nuuk', 'Australia/Lord_Howe']
const ZONES = isFull
  ? Intl.supportedValuesOf('timeZone')
      .filter((_, i) => i % 10 === 0)
      .concat(FEW_ZONES)
  : FEW_ZONES
const GENERATED = isFull ? 400 : 12
/** So many times are compared one by one; of longer lists the start, and then only a sample. */
const FOLLOWED = 800

/** Starts two days earlier, so that the latest wall time so far is known. */
const zoneStretches = (zone: string, span: Span): Stretch[] => stretchesOf(zone, span.from - 2 * DAY, span.to)

/** Returns the number of compared occurrences. */
function compare(line: OracleLine, zone: string, stretches: readonly Stretch[], span: Span): number {
  const expected = dueTimes(line, stretches, span)
  const schedule = startOf(line, zone, expected)
  if (schedule === undefined) return 0
  const stride = expected.length > FOLLOWED ? 211 : 1
  let compared = 0
  for (let i = -1; i < expected.length - 1; i += i < FOLLOWED ? 1 : stride) {
    const from = (expected[i] ?? span.from) * 1000
    const wanted = (expected[i + 1] ?? 0) * 1000
    const next: number | undefined = schedule.next(from)
    if (next !== wanted)
      assert.fail(`"${line.text}" in ${zone} after ${iso(from)}: ${next && iso(next)}, not ${iso(wanted)}`)
    compared += 1
  }
  const beyond = schedule.next((expected.at(-1) ?? span.from) * 1000)
  assert.ok(beyond === undefined || beyond >= span.to * 1000, `"${line.text}" in ${zone}: one occurrence too many`)
  return compared
}

/** A generated line may name a day that does not exist; only then it must be refused. */
function startOf(line: OracleLine, zone: string, expected: readonly number[]): Schedule | undefined {
  try {
    return parseSchedule(line.text, zone)
  } catch (thrown) {
    assert.match(String(thrown), /no month has that day/, line.text)
    assert.equal(expected.length, 0, line.text)
    return undefined
  }
}

test('`10 2 1 * 1` is due on 1 March 2025 and 2026, after a Monday in February, in every zone', () => {
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const schedule = parseSchedule('10 2 1 * 1', zone)
    for (const year of [2025, 2026]) {
      const lastMonday = Date.UTC(year, 1, year === 2025 ? 24 : 23, 20)
      const next = schedule.next(lastMonday) ?? 0
      const shown = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(
        next,
      )
      assert.equal(shown, `${year}-03-01 02:10`, zone)
    }
  }
})

test('every form of a cron line agrees with a walk through each minute from 2024 to 2030', (t) => {
  let compared = 0
  const generated = Array.from({ length: GENERATED }, (_, i) => generatedLine(i))
  for (const zone of ZONES) {
    const stretches = zoneStretches(zone, YEARS)
    for (const line of [...WRITTEN, ...generated]) compared += compare(line, zone, stretches, YEARS)
  }
  t.diagnostic(`${compared} occurrences of ${WRITTEN.length + generated.length} lines in ${ZONES.length} zones`)
  assert.ok(compared > 100_000)
})

test('lines with seconds agree around clock changes and at the end of February', (t) => {
  let compared = 0
  for (const zone of ZONES) {
    const changes = zoneStretches(zone, YEARS).slice(1, isFull ? undefined : 3)
    const middles = [...changes.map(({ start }) => start), seconds(2024, 2, 1), seconds(2026, 2, 1)]
    for (const [n, middle] of middles.entries()) {
      const from = Math.floor(middle / DAY) * DAY - DAY
      const span: Span = { from, to: from + 3 * DAY, step: 1 }
      const stretches = zoneStretches(zone, span)
      for (let i = 0; i < (isFull ? 20 : 3); i += 1)
        compared += compare(generatedLine(10_000 + 100 * n + i, true), zone, stretches, span)
    }
  }
  t.diagnostic(`${compared} occurrences`)
  assert.ok(compared > 1_000)
})
