import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, dayFormatter } from './day.ts'

test("without a zone the day is that of the machine's time zone, at every hour of a year", () => {
  const own = dayFormatter(new Intl.DateTimeFormat().resolvedOptions().timeZone)
  const begin = Date.parse('2027-12-30T00:00:00Z')
  for (let hour = 0; hour < 400 * 24; hour += 1) {
    const now = begin + hour * 3_600_000
    assert.equal(dayFormatter(null)(now), own(now))
  }
})

test('days follow the given time zone', () => {
  const now = Date.parse('2030-03-01T02:00:00Z')
  assert.equal(dayFormatter('America/New_York')(now), '2030-02-28')
  assert.equal(dayFormatter('Asia/Shanghai')(now), '2030-03-01')
  assert.equal(addDays('2030-02-28', 1), '2030-03-01')
})
