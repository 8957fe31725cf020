/** "Tomorrow" and "in n days" count days of the calendar, in the zone of the browser. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relativeTime } from '../../web/src/format.ts'

/** Node reads the zone anew each time it is set. */
function inZone(zone: string): void {
  process.env.TZ = zone
}

const THURSDAY = [2026, 10, 19, 3, 0] as const

test('Now: from 24 hours on, days of the calendar are counted, in every zone and both languages', () => {
  const cases: readonly [Parameters<typeof Date.UTC>, string, string][] = [
    [[2026, 10, 20, 7, 30], 'tomorrow', '明天'],
    [[2026, 10, 20, 17, 0], 'tomorrow', '明天'],
    [[2026, 10, 21, 7, 30], 'in 2 days', '后天'],
    [[2026, 10, 22, 0, 10], 'in 3 days', '3天后'],
    [[2026, 10, 17, 23, 0], '2 days ago', '前天'],
    [[2026, 10, 18, 2, 30], 'yesterday', '昨天'],
    [[2026, 10, 20, 2, 0], 'in 23 hours', '23小时后'],
    [[2026, 10, 19, 17, 0], 'in 14 hours', '14小时后'],
    [[2026, 10, 18, 22, 0], '5 hours ago', '5小时前'],
  ]
  for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Shanghai', 'America/Los_Angeles', 'Pacific/Kiritimati']) {
    inZone(zone)
    const now = new Date(...THURSDAY).getTime()
    for (const [when, en, zh] of cases) {
      const at = new Date(...(when as [number, number])).getTime()
      assert.deepEqual([relativeTime(at, now, 'en'), relativeTime(at, now, 'zh')], [en, zh], `${when} in ${zone}`)
    }
  }
})

test('Now: a day of 23 or 25 hours is one day', () => {
  inZone('Europe/Berlin')
  const clockGoesBack = [new Date(2026, 9, 25, 0, 10), new Date(2026, 9, 25, 23, 50)] as const
  assert.equal(relativeTime(clockGoesBack[1].getTime(), clockGoesBack[0].getTime(), 'en'), 'in 25 hours')
  const clockGoesForward = [new Date(2026, 2, 28, 12, 0), new Date(2026, 2, 30, 12, 0)] as const
  assert.equal(relativeTime(clockGoesForward[1].getTime(), clockGoesForward[0].getTime(), 'en'), 'in 2 days')
})
