/** The schedule keeps the words that say when; the task keeps all others. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SENTENCES } from '../../test/support/schedule-sentences.ts'
import { readSchedule } from './schedule-words.ts'
import { withoutSchedule } from './without-schedule.ts'

const reader = {
  today: { year: 2026, month: 11, date: 16, hour: 14, minute: 30 },
  now: Date.parse('2026-11-16T06:30:00Z'),
}

const TASKS: readonly (readonly [sentence: string, task: string])[] = [
  ['Every day at 8:15, create hello.md', 'Create hello.md'],
  ['create hello.md every day at 8:15.', 'create hello.md.'],
  ['每天早上8点15分，创建文件 hello.md', '创建文件 hello.md'],
  ['每天早上8点整理 ~/x 文件夹', '整理 ~/x 文件夹'],
  ['write the report on Fridays', 'write the report'],
  ['log in every morning', 'log in'],
  ['quarter of nine every weekday morning, rank the tickets', 'rank the tickets'],
  ['summarise the weekly report every Monday at 9:00', 'summarise the weekly report'],
  // Other words say when, too, or the words belong to the task.
  ['Every weekday write x at 9:00', 'Every weekday write x at 9:00'],
  ["Every Monday's notes go to x.md", "Every Monday's notes go to x.md"],
  ['每周五的工作总结', '每周五的工作总结'],
  ['create n.md with "every day at 8"', 'create n.md with "every day at 8"'],
  ['every weekday morning', 'every weekday morning'],
  ['tidy up', 'tidy up'],
]

describe('the words of a sentence that say when', () => {
  for (const [sentence, task] of TASKS)
    test(`${sentence} → ${task}`, () => assert.equal(withoutSchedule(sentence, reader), task))

  test('only words of the schedule are left out, and twice leaves out no more', () => {
    for (const [sentence] of SENTENCES) {
      const task = withoutSchedule(sentence, reader)
      assert.ok(sentence.toLowerCase().includes(task.toLowerCase().replace(/[.。]$/, '')), sentence)
      if (task !== sentence.trim()) assert.notEqual(readSchedule(sentence, reader).kind, 'unclear', sentence)
      assert.equal(withoutSchedule(task, reader), task, sentence)
    }
  })
})
