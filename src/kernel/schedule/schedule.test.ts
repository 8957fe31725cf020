import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import { iso } from '../../ports/clock.ts'
import { parseSchedule } from './schedule.ts'

const NOON = Date.parse('2026-01-15T12:00:00Z')

function after(spec: ScheduleSpec, from: number, count: number, zone = 'UTC', anchor?: number): string[] {
  const schedule = parseSchedule(spec, zone, anchor)
  const found: string[] = []
  for (let at = schedule.next(from); at !== undefined && found.length < count; at = schedule.next(at))
    found.push(iso(at))
  return found
}

const next = (spec: ScheduleSpec, zone?: string): string | undefined => after(spec, NOON, 1, zone)[0]

describe('cron lines', () => {
  test('E1: five fields, six with seconds, nicknames, names and lists', () => {
    assert.equal(next('*/10 * * * *'), '2026-01-15T12:10:00.000Z')
    assert.equal(next('*/15 * * * * *'), '2026-01-15T12:00:15.000Z')
    assert.equal(next('@hourly'), '2026-01-15T13:00:00.000Z')
    assert.equal(next('@daily'), '2026-01-16T00:00:00.000Z')
    assert.equal(next('@weekly'), '2026-01-18T00:00:00.000Z')
    assert.equal(next('@monthly'), '2026-02-01T00:00:00.000Z')
    assert.equal(next('@yearly'), '2027-01-01T00:00:00.000Z')
    assert.equal(next('30 9 * * mon-fri'), '2026-01-16T09:30:00.000Z')
    assert.equal(next('0 9 ? FEB 1#2'), '2026-02-09T09:00:00.000Z')
    assert.equal(next('0 0 L * *'), '2026-01-31T00:00:00.000Z')
    assert.equal(next('0 0 29 2 *'), '2028-02-29T00:00:00.000Z')
  })

  test('E1: of several lines with ; between them, the first that is due counts', () => {
    assert.deepEqual(after('0 9 * * *; 30 17 * * *', NOON, 3), [
      ...['2026-01-15T17:30:00.000Z', '2026-01-16T09:00:00.000Z', '2026-01-16T17:30:00.000Z'],
    ])
    assert.throws(() => parseSchedule('0 9 * * *; 60 * * * *', 'UTC'), /minute 60 is not from 0 to 59/)
  })

  test('E1: cron lines follow the wall clock of their zone', () => {
    assert.equal(next('0 9 * * *', 'Asia/Shanghai'), '2026-01-16T01:00:00.000Z')
    assert.equal(next('0 9 * * *', 'America/Los_Angeles'), '2026-01-15T17:00:00.000Z')
    assert.equal(next('0 * * * *', 'Asia/Kathmandu'), '2026-01-15T12:15:00.000Z')
  })

  test('next is strictly after the given instant, to the millisecond', () => {
    const schedule = parseSchedule('0 12 * * *', 'UTC')
    assert.equal(schedule.next(NOON - 1), NOON)
    assert.equal(schedule.next(NOON), NOON + 86_400_000)
    assert.equal(schedule.next(NOON + 1), NOON + 86_400_000)
    const everySecond = parseSchedule('* * * * * *', 'Europe/Berlin')
    assert.deepEqual(
      [everySecond.next(NOON - 1), everySecond.next(NOON), everySecond.next(NOON + 1)],
      [NOON, NOON + 1000, NOON + 1000],
    )
  })

  test('an invalid schedule is refused, with what is wrong, got and expected', () => {
    const invalid: readonly (readonly [ScheduleSpec, RegExp])[] = [
      [
        '60 * * * *',
        /this cron line is invalid: minute 60 is not from 0 to 59; got "60 \* \* \* \*"; expected five fields/,
      ],
      ['0 0 30 2 *', /no month has that day/],
      ['5/10 * * * *', /minute "5\/10" steps from a single value; write "5-59\/10"; .*do this: write/],
      ['0 0 * * * * 2027', /it has 7 fields; expected five or six/],
      ['@reboot', /@reboot is not supported/],
      ['', /it has 0 fields/],
      ['constructor', /it has 1 fields/],
      ['* * * * fri-mon', /day of the week "fri-mon" does not ascend/],
      ['* * 15w-20 * *', /"15w" is not a day of the month/],
      ['* * * * 1#6', /"1#6" is not a day of the week/],
      ['*/0 * * * *', /minute step "0" is not from 1 to 59/],
      ['1,,2 * * * *', /"" is not a minute/],
      ['* * * jan-sun *', /"sun" is not a month/],
      ['* * 1.5 * *', /"1.5" is not a day of the month/],
      ['* 1-2-3 * * *', /hour "1-2-3" is not a range/],
      [{ every: 0 }, /invalid interval; got 0 ms; expected whole milliseconds, 1 or more/],
      [{ every: Number.NaN }, /invalid interval/],
      [{ at: 'tomorrow' }, /invalid date and time; got "tomorrow"; expected a date in the years 1970 to 9999 such as/],
      [{ at: '2026-02-28T25:00' }, /invalid date and time/],
      [{ at: '2026-02-31T10:00' }, /invalid date and time/],
      [{ at: '2026-02-31T10:00:00Z' }, /invalid date and time/],
      [{ at: '2026-01-31T09:00:00+99:00' }, /invalid date and time/],
    ]
    for (const [spec, message] of invalid)
      assert.throws(() => parseSchedule(spec, 'UTC'), { code: 'usage', message }, JSON.stringify(spec))
    assert.throws(() => parseSchedule('@daily', 'Europe/Nowhere'), {
      code: 'usage',
      message: /unknown time zone; got Europe\/Nowhere/,
    })
  })
})

describe('intervals', () => {
  test('E1: counted from the epoch or an anchor, not from the time of the call', () => {
    assert.deepEqual(after({ every: 600_000 }, NOON + 1, 2), ['2026-01-15T12:10:00.000Z', '2026-01-15T12:20:00.000Z'])
    assert.deepEqual(after({ every: 600_000 }, NOON + 599_999, 1), ['2026-01-15T12:10:00.000Z'])
    const anchor = NOON - 61_000
    assert.deepEqual(after({ every: 60_000 }, NOON, 2, 'UTC', anchor), [
      '2026-01-15T12:00:59.000Z',
      '2026-01-15T12:01:59.000Z',
    ])
    assert.deepEqual(after({ every: 60_000 }, anchor - 30_000, 1, 'UTC', anchor), [iso(anchor)])
  })

  test('E1: an interval has not drifted after a million beats', () => {
    const schedule = parseSchedule({ every: 7 }, 'UTC')
    let at = NOON - (NOON % 7)
    const first = at
    for (let i = 0; i < 1_000_000; i += 1) at = schedule.next(at) ?? assert.fail()
    assert.equal(at, first + 7_000_000)
  })
})

describe('single instants', () => {
  test('E1: due once, with an offset or on the wall clock of the schedule', () => {
    assert.deepEqual(after({ at: '2026-01-31T09:00:00+08:00' }, NOON, 2), ['2026-01-31T01:00:00.000Z'])
    assert.deepEqual(after({ at: '2026-01-31T09:00' }, NOON, 2, 'Asia/Shanghai'), ['2026-01-31T01:00:00.000Z'])
    assert.deepEqual(after({ at: '2026-01-31T09:00:30.5' }, NOON, 2, 'UTC'), ['2026-01-31T09:00:30.500Z'])
    // A time that the clock skips is due at the jump.
    assert.deepEqual(after({ at: '2026-03-29T02:30:00' }, NOON, 1, 'Europe/Berlin'), ['2026-03-29T01:00:00.000Z'])
    assert.deepEqual(after({ at: '2026-01-15T12:00:00Z' }, NOON, 1), [])
  })
})
