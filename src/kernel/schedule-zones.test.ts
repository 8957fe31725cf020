import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stretchesOf as offsetStretches, type Stretch } from '../../test/cron/oracle.ts'
import { iso } from '../ports/clock.ts'
import { scheduleOf } from './schedule.ts'

const ZONES =
  `UTC Europe/London Europe/Dublin Europe/Berlin Europe/Chisinau Europe/Moscow Europe/Istanbul Atlantic/Azores
  Africa/Cairo Africa/Casablanca Africa/Johannesburg Africa/Lagos Asia/Beirut Asia/Gaza Asia/Jerusalem Asia/Tehran Asia/Kolkata
  Asia/Kathmandu Asia/Almaty Asia/Shanghai Asia/Tokyo Australia/Sydney Australia/Adelaide Australia/Eucla Australia/Lord_Howe
  Pacific/Auckland Pacific/Chatham Pacific/Kiritimati Pacific/Honolulu America/New_York America/Los_Angeles America/Phoenix America/Adak
  America/St_Johns America/Havana America/Santiago America/Asuncion America/Sao_Paulo America/Nuuk Antarctica/Troll`
    .trim()
    .split(/\s+/)

const MINUTE = 60_000
const DAY = 1440
const FROM = Date.UTC(2024, 0, 1) / MINUTE
const TO = Date.UTC(2028, 0, 1) / MINUTE

/** Everything here, changes of the clock included, happens at whole multiples of this, as is asserted. In minutes, as all that follows. */
const STEP = 5

/** The oracle's own reading of a zone's offset, in minutes. */
function stretchesOf(timeZone: string): Stretch[] {
  const found = offsetStretches(timeZone, (FROM - 2 * DAY) * 60, TO * 60)
  const inMinutes = found.map(({ start, offset }) => ({ start: start / 60, offset: offset / 60 }))
  for (const { start, offset } of inMinutes) assert.ok(start % STEP === 0 && offset % STEP === 0)
  return inMinutes
}

/** The years step by step, and what the wall clock shows. */
function walk(stretches: readonly Stretch[], show: (minute: number, wall: number) => void): void {
  for (const [i, { start, offset }] of stretches.entries()) {
    const end = Math.min(stretches[i + 1]?.start ?? TO, TO)
    for (let minute = start; minute < end; minute += STEP) show(minute, minute + offset)
  }
}

type Due = (minuteOfDay: number) => boolean

/** A line that names hours: due once, when for the first time the clock shows that time or a later one. */
function namedHours(stretches: readonly Stretch[], due: Due): number[] {
  const found: number[] = []
  let highest = Number.NaN
  walk(stretches, (minute, wall) => {
    let reached = false
    for (let passed = (highest || wall - STEP) + STEP; passed <= wall; passed += STEP) reached ||= due(passed % DAY)
    if (reached && minute > FROM) found.push(minute * MINUTE)
    if (!(wall < highest)) highest = wall
  })
  return found
}

/** A line for every hour: due whenever the clock shows it. */
function everyHour(stretches: readonly Stretch[], due: Due): number[] {
  const found: number[] = []
  walk(stretches, (minute, wall) => {
    if (due(wall % DAY) && minute > FROM) found.push(minute * MINUTE)
  })
  return found
}

const CLOSE = 1.5 * DAY * MINUTE

/** From each to its next: all of them around the changes of the clock, where it is also asked from every other instant; elsewhere one in `stride`. */
function assertSame(line: string, zone: string, stretches: readonly Stretch[], expected: number[], stride = 1): void {
  const schedule = scheduleOf(line, zone)
  const assertNext = (from: number, wanted: number | undefined): void => {
    const next = schedule.next(from)
    if (next !== wanted)
      assert.fail(`${line} in ${zone} after ${iso(from)}: ${next && iso(next)}, not ${wanted && iso(wanted)}`)
  }
  assertNext(FROM * MINUTE, expected[0])
  const changes = stretches.slice(1).map(({ start }) => start * MINUTE)
  const assertNextOf = (i: number): void => assertNext(expected[i] ?? 0, expected[i + 1])
  for (let i = 0; i < expected.length - 1; i += stride) assertNextOf(i)
  for (const change of changes) {
    const last = Math.min(placeAfter(expected, change + CLOSE), expected.length - 1)
    for (let i = placeAfter(expected, change - CLOSE); i < last; i += 1) assertNextOf(i)
    for (let from = change - 3 * 60 * MINUTE; from < change + 3 * 60 * MINUTE; from += STEP * MINUTE)
      assertNext(from, expected[placeAfter(expected, from)])
  }
}

function placeAfter(sorted: readonly number[], instant: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) > instant) high = middle
    else low = middle + 1
  }
  return low
}

test('E1: forty zones, 2024 to 2027: `30 2 * * *` and `*/10 * * * *` are due by the documented rule, none doubled, none lost', () => {
  assert.equal(new Set(ZONES).size, 40)
  let changes = 0
  for (const zone of ZONES) {
    const stretches = stretchesOf(zone)
    changes += stretches.length - 1
    const daily = namedHours(stretches, (minute) => minute === 150)
    assert.equal(daily.length, 1461, zone)
    assertSame('30 2 * * *', zone, stretches, daily)
    const often = everyHour(stretches, (minute) => minute % 10 === 0)
    // 97 is prime to 144: another time each day.
    assertSame('*/10 * * * *', zone, stretches, often, 97)
  }
  assert.ok(changes > 150, `the clocks change ${changes} times`)
})

test('E1: lists and ranges of hours, midnight and the last hour of the day keep the wall clock too; an hourly line goes with the time', () => {
  for (const zone of ['Europe/Berlin', 'America/Nuuk', 'Africa/Cairo', 'Australia/Lord_Howe', 'Antarctica/Troll']) {
    const stretches = stretchesOf(zone)
    const named = (line: string, due: Due): void => assertSame(line, zone, stretches, namedHours(stretches, due), 97)
    named('0,30 0-3 * * *', (minute) => minute % 30 === 0 && minute < 240)
    named('*/10 2 * * *', (minute) => minute % 10 === 0 && Math.floor(minute / 60) === 2)
    named('@daily', (minute) => minute === 0)
    named('30 23 * * *', (minute) => minute === 23 * 60 + 30)
    const hourly = everyHour(stretches, (minute) => minute % 60 === 30)
    assertSame('30 * * * *', zone, stretches, hourly, 97)
    assertSame('30 0-23 * * *', zone, stretches, hourly, 97)
  }
})

test('E1: what the rule means, day by day', () => {
  const days = (line: string, zone: string, from: string, count: number): string[] => {
    const schedule = scheduleOf(line, zone)
    const found: string[] = []
    for (let at = Date.parse(from); found.length < count; ) {
      at = schedule.next(at) ?? assert.fail('nothing is due')
      found.push(iso(at).slice(0, 16))
    }
    return found
  }
  // 29 March 2026, Berlin: 02:00 is 03:00. The time that does not exist is due when the clock has jumped.
  assert.deepEqual(days('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', 3), [
    '2026-03-28T01:30',
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ])
  // 25 October 2026: 02:00 to 03:00 comes twice. Due the first time only; every ten minutes, in both.
  assert.deepEqual(days('30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00Z', 2), [
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ])
  assert.equal(days('*/10 * * * *', 'Europe/Berlin', '2026-10-24T23:59:59Z', 12).at(-1), '2026-10-25T01:50')
  // 28 March 2026, Nuuk: 23:00 is midnight, of the next day.
  assert.deepEqual(days('30 23 * * *', 'America/Nuuk', '2026-03-28T12:00Z', 2), [
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ])
})
