/** Schedules in words, as people are told what was understood. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ScheduleSpec } from '../domain/schedule.ts'
import { describeSchedule } from './describe-schedule.ts'

const ROWS: readonly (readonly [spec: ScheduleSpec, english: string, chinese: string])[] = [
  ['0 9 * * *', 'every day at 09:00', '每天 09:00'],
  ['30 8,20 * * 1-5', 'Monday to Friday at 08:30 and 20:30', '每周一至周五 08:30、20:30'],
  ['0 7 * * 0,6', 'every Saturday and Sunday at 07:00', '每周六、周日 07:00'],
  ['0 10 * * 1#1', 'on the first Monday of every month at 10:00', '每月第一个周一 10:00'],
  ['0 16 * * 5L', 'on the last Friday of every month at 16:00', '每月最后一个周五 16:00'],
  ['0 17 LW * *', 'on the last workday of every month at 17:00', '每月最后一个工作日 17:00'],
  ['0 9 1,22 * *', 'on the 1st and the 22nd of every month at 09:00', '每月 1 号、22 号 09:00'],
  ['0 10 15,L * *', 'on the 15th and the last day of every month at 10:00', '每月 15 号、最后一天 10:00'],
  ['0 9 1 3 *', 'every year on March 1 at 09:00', '每年3月1日 09:00'],
  ['0 9-17 * * 1-5', 'Monday to Friday, 9 times from 09:00 to 17:00', '每周一至周五 09:00 至 17:00，共 9 次'],
  ['*/15 * * * 1-5', 'every 15 minutes, Monday to Friday', '每周一至周五，每 15 分钟'],
  ['0 * * * *', 'every hour', '每小时'],
  [
    '0 8 * * 1-5; 30 10 * * 6',
    'Monday to Friday at 08:00; every Saturday at 10:30',
    '每周一至周五 08:00；每周六 10:30',
  ],
  [{ every: 5_400_000 }, 'every 90 minutes', '每 90 分钟'],
  [{ every: 3_600_000 }, 'every hour', '每 1 小时'],
  [{ at: '2026-11-17T15:00' }, 'once, at 2026-11-17 15:00', '一次：2026-11-17 15:00'],
  ['0 9 13 * +5', 'by the cron line 0 9 13 * +5', '按 cron 行 0 9 13 * +5'],
  ['@daily', 'every day at 00:00', '每天 00:00'],
  ['@reboot', 'by the cron line @reboot', '按 cron 行 @reboot'],
  ['30 9 * * mon-fri', 'Monday to Friday at 09:30', '每周一至周五 09:30'],
  ['0 7 * * SAT,SUN', 'every Saturday and Sunday at 07:00', '每周六、周日 07:00'],
  ['0 16 * * friL', 'on the last Friday of every month at 16:00', '每月最后一个周五 16:00'],
  ['0 9 1 mar *', 'every year on March 1 at 09:00', '每年3月1日 09:00'],
]

describe('schedules in words', () => {
  for (const [spec, english, chinese] of ROWS)
    test(`${JSON.stringify(spec)} is "${english}"`, () => {
      assert.equal(describeSchedule(spec, 'en'), english)
      assert.equal(describeSchedule(spec, 'zh'), chinese)
    })
})
