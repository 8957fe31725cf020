import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Approval } from '../../domain/approval.ts'
import { type Expectation, matchExpectation } from './expectations.ts'

const approval = (id: string): Expectation => ({ kind: 'approval', approval: { id } as Approval, until: 1 })
const question = (session_id: string, until: number): Expectation => ({
  ...{ kind: 'question', session_id, question: '?', until },
})

const named = (text: string, ...expected: readonly Expectation[]): string => {
  const match = matchExpectation(text, expected)
  switch (match.kind) {
    case 'none':
      return 'none'
    case 'approval':
      return `${match.answer} ${match.approval.id}`
    case 'question':
      return match.session_id
    case 'unclear':
      return `one of ${match.candidates.length}`
  }
}

test('case 76: no expectation, one, several: an approval wins, else the soonest, else the person is asked', () => {
  const cases: readonly [string, string, readonly Expectation[]][] = [
    ['none', 'yes', []],
    ['none', 'write a poem', [approval('a')]],
    ['allowed a', 'Yes!', [approval('a')]],
    ['allowed a', '可以。', [approval('a'), question('s', 1)]],
    ['denied a', 'no', [question('s', 1), approval('a')]],
    ['denied a', '不行', [approval('a')]],
    ['one of 2', 'ok', [approval('a'), approval('b')]],
    ['s', 'the second draft', [question('s', 5)]],
    ['s', 'the second draft', [approval('a'), question('s', 5)]],
    ['soon', 'yes', [question('late', 9), question('soon', 5)]],
    ['one of 2', 'the second draft', [question('late', 9), question('x', 5), question('y', 5)]],
  ]
  for (const [expected, text, expectations] of cases) assert.equal(named(text, ...expectations), expected, text)
})
