/** The span of a crew, and values between marks. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mark } from './protocol.ts'
import { commonSpan, growthIn } from './queue-process.ts'

const mark = (at: number, done: number): Mark => ({ at, done, cpuMs: 2 * done })

test('the span begins when the last process has finished a job, and ends when the first one stops', () => {
  const early = [mark(0, 0), mark(50, 10), mark(100, 20), mark(150, 30)]
  const late = [mark(10, 0), mark(60, 0), mark(110, 5), mark(200, 50)]
  assert.deepEqual(commonSpan([early, late]), { from: 110, until: 150 })
  assert.throws(() => commonSpan([early, [mark(0, 0), mark(300, 0)]]), /never worked at the same time/)
})

test('between two marks a value grows evenly', () => {
  const marks = [mark(0, 0), mark(100, 10), mark(200, 30)]
  assert.equal(growthIn(marks, { from: 50, until: 150 }, 'done'), 15)
  assert.equal(growthIn(marks, { from: 100, until: 200 }, 'cpuMs'), 40)
  assert.equal(growthIn(marks, { from: 100, until: 900 }, 'done'), 20)
})
