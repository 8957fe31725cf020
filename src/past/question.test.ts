/** The kind of each question, and its period; the blind ones were written before the rules. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BLIND_QUESTIONS } from '../../test/support/blind-questions.ts'
import { loadZone } from '../kernel/schedule/time-zone.ts'
import { type QuestionKind, readQuestion } from './question.ts'

const BERLIN = loadZone('Europe/Berlin')
const NOW = Date.parse('2026-11-12T14:00:00Z')

const QUESTIONS: readonly (readonly [question: string, kind: QuestionKind | undefined])[] = [
  ['What did you do today?', 'did'],
  ['And yesterday?', 'did'],
  ['上周呢', 'did'],
  ['What did it cost?', 'cost'],
  ['How much did last week cost?', 'cost'],
  ['What waits for me?', 'waits'],
  ['Do I have to decide anything?', 'waits'],
  ['Why did you write to the newsletter list?', 'why'],
  ['What changed in prices.csv?', 'changed'],
  ['Did you edit notes/plan.md yesterday?', 'changed'],
  ['What failed last week?', 'failed'],
  ['What will you do tomorrow?', 'next'],
  ['What did you plan last week?', 'did'],
  ['你好', undefined],
  ['Hello', undefined],
  ['How is the weather on Mars?', undefined],
  ['Who was the first president yesterday?', undefined],
  ['花了多少', 'cost'],
  ['明天做什么', 'next'],
  ['有什么要问我的吗', 'waits'],
]

const dayOf = (instant: number): string => new Date(instant + BERLIN.offsetAt(instant)).toISOString().slice(0, 10)

describe('questions about the past', () => {
  for (const [question, kind] of QUESTIONS)
    test(`${question} → ${kind}`, () => {
      assert.equal(readQuestion(question, NOW, BERLIN).kind, kind)
    })

  for (const { question, kind, days } of BLIND_QUESTIONS)
    test(`${question} → ${kind}${days ? `, ${days.join(' to ')}` : ''}`, () => {
      const { kind: found, period } = readQuestion(question, NOW, BERLIN)
      assert.equal(found, kind)
      if (days === undefined) return
      assert.ok(period.kind === 'period', JSON.stringify(period))
      assert.deepEqual([dayOf(period.period.from), dayOf(period.period.to - 1)], days)
    })
})
