/** Each sentence is understood as people mean it, or refused. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SENTENCES } from '../../test/support/schedule-sentences.ts'
import { readSchedule } from './schedule-words.ts'

const reader = {
  today: { year: 2026, month: 11, date: 16, hour: 14, minute: 30 },
  now: Date.parse('2026-11-16T06:30:00Z'),
}

describe('sentences that say when', () => {
  for (const [sentence, meaning] of SENTENCES)
    test(`${sentence} → ${JSON.stringify(meaning)}`, () => {
      const reading = readSchedule(sentence, reader)
      const found = reading.kind === 'schedule' ? reading.schedule : reading.kind === 'no_time' ? 'no time' : 'unclear'
      assert.deepEqual(found, meaning, reading.kind === 'unclear' ? reading.why.en : undefined)
    })
})
