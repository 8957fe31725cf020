import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stretchesOf as offsetStretches, type Stretch } from '../../../test/cron/oracle.ts'
import { iso } from '../../ports/clock.ts'
import { parseSchedule } from './schedule.ts'

const ZONES =
  `UTC Europe/London Europe/Dublin Europe/Berlin Europe/Chisinau Europe/Moscow Europe/Istanbul Atlantic/Azores
  Africa/Cairo Africa/Casablanca Africa/Johannesburg Africa/Lagos Asia/Beirut Asia/Gaza Asia/Jerusalem Asia/Tehran
  Asia/Kolkata Asia/Kathmandu Asia/Almaty Asia/Shanghai Asia/Tokyo Australia/Sydney Australia/Adelaide
  Australia/Eucla Australia/Lord_Howe Pacific/Auckland Pacific/Chatham Pacific/Kiritimati Pacific/Honolulu
  America/New_York America/Los_Angeles America/Phoenix America/Adak America/St_Johns America/Havana
  America/Santiago America/Asuncion America/Sao_Paulo America/Nuuk Antarctica/Troll`
    .trim()
    .split(/\s+/)

const MINUTE = 60_000
const DAY = 1440
const FROM = Date.UTC(2024, 0, 1) / MINUTE
const TO = Date.UTC(2028, 0, 1) / MINUTE

/** Minutes, as in all that follows. All beats and transitions are at multiples of it, as asserted below. */
const STEP = 5

/** The offsets of a zone in minutes, from the oracle. */
function stretchesOf(timeZone: string): Stretch[] {
  const periods = offsetStretches(timeZone, (FROM - 2 * DAY) * 60, TO * 60)
  const inMinutes = periods.map(({ start, offset }) => ({ start: start / 60, offset: offset / 60 }))
  for (const { start, offset } of inMinutes) assert.ok(start % STEP === 0 && offset % STEP === 0)
  return inMinutes
}

/** Visits every step of the years with the wall time that the clock shows. */
function visitSteps(stretches: readonly Stretch[], visit: (minute: number, wall: number) => void): void {
  for (const [i, { start, offset }] of stretches.entries()) {
    const end = Math.min(stretches[i + 1]?.start ?? TO, TO)
    for (let minute = start; minute < end; minute += STEP) visit(minute, minute + offset)
  }
}

type Due = (minuteOfDay: number) => boolean

/** A line with fixed hours is due once, when the clock first shows that time or a later one. */
function dueByWallClock(stretches: readonly Stretch[], due: Due): number[] {
  const periods: number[] = []
  let highest = Number.NaN
  visitSteps(stretches, (minute, wall) => {
    let reached = false
    for (let passed = (highest || wall - STEP) + STEP; passed <= wall; passed += STEP) reached ||= due(passed % DAY)
    if (reached && minute > FROM) periods.push(minute * MINUTE)
    if (!(wall < highest)) highest = wall
  })
  return periods
}

/** A line for every hour is due whenever the clock shows its minute. */
function dueByElapsedTime(stretches: readonly Stretch[], due: Due): number[] {
  const periods: number[] = []
  visitSteps(stretches, (minute, wall) => {
    if (due(wall % DAY) && minute > FROM) periods.push(minute * MINUTE)
  })
  return periods
}

const CLOSE = 1.5 * DAY * MINUTE

/**
 * Compares every beat with the next one: around transitions all of them, and from all other instants too; elsewhere one
 * in `stride`.
 */
function assertSchedule(
  line: string,
  zone: string,
  stretches: readonly Stretch[],
  expected: number[],
  stride = 1,
): void {
  const schedule = parseSchedule(line, zone)
  const assertNext = (from: number, expectedNext: number | undefined): void => {
    const next = schedule.next(from)
    if (next !== expectedNext)
      assert.fail(
        `${line} in ${zone} after ${iso(from)}: ${next && iso(next)}, not ${expectedNext && iso(expectedNext)}`,
      )
  }
  assertNext(FROM * MINUTE, expected[0])
  const changes = stretches.slice(1).map(({ start }) => start * MINUTE)
  const assertNextOf = (i: number): void => assertNext(expected[i] ?? 0, expected[i + 1])
  for (let i = 0; i < expected.length - 1; i += stride) assertNextOf(i)
  for (const change of changes) {
    const last = Math.min(firstIndexAfter(expected, change + CLOSE), expected.length - 1)
    for (let i = firstIndexAfter(expected, change - CLOSE); i < last; i += 1) assertNextOf(i)
    for (let from = change - 3 * 60 * MINUTE; from < change + 3 * 60 * MINUTE; from += STEP * MINUTE)
      assertNext(from, expected[firstIndexAfter(expected, from)])
  }
}

function firstIndexAfter(sorted: readonly number[], instant: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) > instant) high = middle
    else low = middle + 1
  }
  return low
}

test('E1: in forty zones, 2024 to 2027, two lines are due by the documented rule, none doubled, none lost', () => {
  assert.equal(new Set(ZONES).size, 40)
  let changes = 0
  for (const zone of ZONES) {
    const stretches = stretchesOf(zone)
    changes += stretches.length - 1
    const daily = dueByWallClock(stretches, (minute) => minute === 150)
    assert.equal(daily.length, 1461, zone)
    assertSchedule('30 2 * * *', zone, stretches, daily)
    const often = dueByElapsedTime(stretches, (minute) => minute % 10 === 0)
    // 97 is coprime to 144, so that each day another time is compared.
    assertSchedule('*/10 * * * *', zone, stretches, often, 97)
  }
  assert.ok(changes > 150, `${changes} transitions`)
})

test('E1: fixed hours follow the wall clock, also at midnight; an hourly line follows elapsed time', () => {
  for (const zone of ['Europe/Berlin', 'America/Nuuk', 'Africa/Cairo', 'Australia/Lord_Howe', 'Antarctica/Troll']) {
    const stretches = stretchesOf(zone)
    const assertFixedHours = (line: string, due: Due): void =>
      assertSchedule(line, zone, stretches, dueByWallClock(stretches, due), 97)
    assertFixedHours('0,30 0-3 * * *', (minute) => minute % 30 === 0 && minute < 240)
    assertFixedHours('*/10 2 * * *', (minute) => minute % 10 === 0 && Math.floor(minute / 60) === 2)
    assertFixedHours('@daily', (minute) => minute === 0)
    assertFixedHours('30 23 * * *', (minute) => minute === 23 * 60 + 30)
    const hourly = dueByElapsedTime(stretches, (minute) => minute % 60 === 30)
    assertSchedule('30 * * * *', zone, stretches, hourly, 97)
    assertSchedule('30 0-23 * * *', zone, stretches, hourly, 97)
  }
})

test('E1: examples of the rule', () => {
  const days = (line: string, zone: string, from: string, count: number): string[] => {
    const schedule = parseSchedule(line, zone)
    const periods: string[] = []
    for (let at = Date.parse(from); periods.length < count; ) {
      at = schedule.next(at) ?? assert.fail('no beat is due')
      periods.push(iso(at).slice(0, 16))
    }
    return periods
  }
  // 29 March 2026, Berlin: 02:00 becomes 03:00. The skipped time is due at the jump.
  assert.deepEqual(days('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', 3), [
    '2026-03-28T01:30',
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ])
  // 25 October 2026: 02:00 to 03:00 comes twice. A fixed time is due the first time only; every ten minutes, in both.
  assert.deepEqual(days('30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00Z', 2), [
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ])
  assert.equal(days('*/10 * * * *', 'Europe/Berlin', '2026-10-24T23:59:59Z', 12).at(-1), '2026-10-25T01:50')
  // 28 March 2026, Nuuk: 23:00 becomes midnight of the next day.
  assert.deepEqual(days('30 23 * * *', 'America/Nuuk', '2026-03-28T12:00Z', 2), [
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ])
})
