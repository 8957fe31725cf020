/** What an answer names has to be in the results of its tools. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findUnknownNames, namesIn } from './cited-names.ts'

const RESULT = `Today: 2 runs (1 done, 1 failed).
- 09:10 scribe: Write the weekly report (done, $0.12, run 95f1e5b7)
  wrote reports/weekly.md, 会议纪要.md
- 10:00 keeper: Fetch the rates (failed, $0.030, run 190ce58d)
Cost: $1,234.50.`

const KNOWN = namesIn(`${RESULT} \`会议纪要.md\``)

const ANSWERS: readonly (readonly [answer: string, unknown: readonly string[]])[] = [
  ['I wrote reports/weekly.md in run 95f1e5b7 for $0.12.', []],
  ['I wrote weekly.md.', []],
  ['I wrote /home/me/ws/reports/weekly.md.', []],
  ['今天写了reports/weekly.md，花了 0.12 美元。', []],
  ['It cost 12 cents, in all $1,234.50, about $1235.', []],
  ['The failed run cost $0.03, e.g. for 1.2 hours and/or more.', []],
  ['I also wrote reports/monthly.md.', ['reports/monthly.md']],
  ['See `plans/next` and /etc/hosts/evil.', ['/etc/hosts/evil', 'plans/next']],
  ['Run 0badcafe0 is none, run deadbee1 is.', ['deadbee1']],
  ['It cost $0.13.', ['$0.13']],
  ['花了5美元。', ['$5']],
  ['It cost $0.', ['$0']],
  ['On 2026-11-12 at 09:10 there were 2 runs.', []],
]

describe('names in an answer', () => {
  for (const [answer, unknown] of ANSWERS)
    test(`${answer} → ${unknown.join(', ') || 'all known'}`, () => {
      assert.deepEqual(findUnknownNames(answer, KNOWN), unknown)
    })

  test('$0 is no invention if nothing was spent', () => {
    assert.deepEqual(findUnknownNames('It cost $0.00.', namesIn('nothing was spent')), [])
  })
})
