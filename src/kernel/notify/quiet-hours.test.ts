import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { quietHoursEnd } from './quiet-hours.ts'

const at = (text: string): number => Date.parse(text)

describe('E12: quiet hours', () => {
  for (const [hours, zone, now, until] of [
    ['22:00-07:00', 'UTC', '2026-01-01T21:59:59Z', undefined],
    ['22:00-07:00', 'UTC', '2026-01-01T22:00:00Z', '2026-01-02T07:00:00Z'],
    ['22:00-07:00', 'UTC', '2026-01-02T06:59:59Z', '2026-01-02T07:00:00Z'],
    ['22:00-07:00', 'UTC', '2026-01-02T07:00:00Z', undefined],
    ['12:30-14:00', 'UTC', '2026-01-02T12:29:00Z', undefined],
    ['12:30-14:00', 'UTC', '2026-01-02T13:59:59Z', '2026-01-02T14:00:00Z'],
    ['22:00-07:00', 'Asia/Shanghai', '2026-01-01T14:00:00Z', '2026-01-01T23:00:00Z'],
    ['22:00-07:00', 'Asia/Shanghai', '2026-01-01T23:00:00Z', undefined],
    // The night of a forward transition is an hour shorter, and quiet hours may end in the skipped hour.
    ['22:00-07:00', 'Europe/Berlin', '2026-03-28T21:00:00Z', '2026-03-29T05:00:00Z'],
    ['22:00-02:30', 'Europe/Berlin', '2026-03-28T21:00:00Z', '2026-03-29T01:00:00Z'],
    ['22:00-22:00', 'UTC', '2026-01-01T22:00:00Z', undefined],
    [null, 'UTC', '2026-01-01T22:00:00Z', undefined],
  ] as const)
    test(`${hours} in ${zone}, at ${now}: ${until ?? 'not now'}`, () => {
      assert.equal(quietHoursEnd(hours, zone, at(now)), until === undefined ? undefined : at(until))
    })

  test('if the clock is set back across their end, the end is not in the past', () => {
    const now = at('2026-10-25T01:10:00Z')
    const end = quietHoursEnd('22:00-02:30', 'Europe/Berlin', now)
    assert.ok(end !== undefined && end >= now)
  })
})
