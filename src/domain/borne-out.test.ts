import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  afterCommit,
  BELIEVED_AFTER_MS,
  borneOutTime,
  budgetTime,
  type ClockRecord,
  cutoffAfterDays,
  firstClockRecord,
  isInDoubt,
  readClockRecord,
} from './borne-out.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOON = Date.parse('2030-03-10T12:00:00Z')
const start = firstClockRecord(undefined, NOON)

test('O7: a clock 36 hours ahead is believed, one 400 days ahead only after a day of running with commits', () => {
  assert.equal(borneOutTime(start, { elapsed: 0, wall: NOON + 36 * HOUR }), NOON + 36 * HOUR)
  const jumped = { elapsed: HOUR, wall: NOON + 400 * DAY }
  assert.equal(borneOutTime(start, jumped), NOON + HOUR)
  let record: ClockRecord = start
  for (let hours = 0; hours < 24; hours += 1) {
    record = afterCommit(record, { elapsed: HOUR, wall: NOON + 400 * DAY + hours * HOUR })
    assert.equal(borneOutTime(record, { elapsed: 0, wall: NOON + 400 * DAY + hours * HOUR }), NOON + (hours + 1) * HOUR)
  }
  const wall = NOON + 401 * DAY
  record = afterCommit(record, { elapsed: BELIEVED_AFTER_MS, wall })
  assert.deepEqual({ at: record.at, doubt: record.doubt }, { at: wall, doubt: null })
})

test('O7: borne-out time is never later than the wall clock, and follows it back', () => {
  const back = { elapsed: HOUR, wall: NOON - 400 * DAY }
  assert.equal(borneOutTime(start, back), back.wall)
  const record = afterCommit(start, back)
  // The right time is known from before, so the clock may return to it without doubt.
  assert.equal(isInDoubt(record, { elapsed: 0, wall: NOON + 2 * HOUR }), false)
  assert.equal(isInDoubt(record, { elapsed: 0, wall: NOON + 50 * DAY }), true)
})

test('O7: records are older than ninety days only after commits on ninety days', () => {
  let record: ClockRecord = start
  for (let day = 0; day < 89; day += 1) record = afterCommit(record, { elapsed: 0, wall: NOON + day * DAY })
  assert.equal(cutoffAfterDays(record, 90, NOON + 88 * DAY), undefined)
  record = afterCommit(record, { elapsed: 0, wall: NOON + 89 * DAY })
  assert.equal(cutoffAfterDays(record, 90, NOON + 89 * DAY), NOON - DAY)
  assert.deepEqual(record.days.length, 1)
  // Off for a month: the days without commits do not count.
  record = afterCommit(record, { elapsed: 0, wall: NOON + 120 * DAY })
  assert.equal(isInDoubt(record, { elapsed: 0, wall: NOON + 120 * DAY }), true)
})

test('O7: random jumps make nothing older than the time that has really passed', () => {
  const jump = fc.oneof(fc.integer({ min: -400, max: 400 }), fc.constant(0))
  const steps = fc.array(fc.record({ jump, ran: fc.double({ min: 0, max: 60_000, noNaN: true }) }), { maxLength: 200 })
  fc.assert(
    fc.property(steps, (all) => {
      let [record, real]: [ClockRecord, number] = [start, NOON]
      for (const { jump: days, ran } of all) {
        real += ran
        // Whole days of at least two: a smaller leap ahead is believed.
        const wall = Math.round(real) + (Math.abs(days) < 2 ? 0 : days * DAY)
        record = afterCommit(record, { elapsed: ran, wall })
        assert.ok(record.at <= real + 1, `${record.at - real} ms ahead of the real time`)
      }
      assert.deepEqual(readClockRecord(JSON.parse(JSON.stringify(record))), record)
    }),
  )
})

test('I11: a jump of the clock opens one new day of a cap at most', () => {
  const day = (record: ClockRecord, wall: number, elapsed = 0): string =>
    new Date(budgetTime(record, { elapsed, wall })).toISOString().slice(0, 10)
  const first = day(start, NOON + 10 * DAY)
  assert.equal(first, '2030-03-20')
  const record = afterCommit(start, { elapsed: 0, wall: NOON + 10 * DAY })
  assert.equal(day(record, NOON + 11 * DAY), first)
  assert.equal(day(record, NOON + 300 * DAY), first)
  assert.equal(day(record, NOON), '2030-03-10')
})
