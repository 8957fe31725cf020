/** The offline model with the tools about the past: it calls the right one and reports its result. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PAST_TOOLS } from '../../../domain/past-tools.ts'
import { nextPastAction } from './past-question.ts'

const TOOLS = new Set([...PAST_TOOLS, 'create_file'])

const CALLS: readonly (readonly [question: string, tool: string, args: object])[] = [
  ['What did you do today?', 'past_work', { when: 'What did you do today?', language: 'en' }],
  ['上周做了什么', 'past_work', { when: '上周做了什么', language: 'zh' }],
  ['What did last week cost?', 'past_spend', { when: 'What did last week cost?', language: 'en' }],
  ['花了多少钱？', 'past_spend', { language: 'zh' }],
  ['What waits for me?', 'open_matters', { language: 'en' }],
  ['What comes next?', 'open_matters', { language: 'en' }],
  ['When does scribe run next?', 'list_agents', { language: 'en' }],
  ['有几个智能体？', 'list_agents', { language: 'zh' }],
  ['What is left to do?', 'past_todos', { status: 'all', language: 'en' }],
  ['哪些待办失败了', 'past_todos', { status: 'failed', language: 'zh' }],
  ['What changed in notes/a.md?', 'file_history', { path: 'notes/a.md', language: 'en' }],
  ['昨天什么失败了', 'past_work', { when: '昨天什么失败了', language: 'zh' }],
]

describe('the offline model, asked about the past', () => {
  for (const [question, tool, args] of CALLS)
    test(`${question} → ${tool}`, () => {
      assert.deepEqual(nextPastAction(question, [], TOOLS), { kind: 'call', tool, args })
      const result = { ok: true, text: 'Today: nothing happened.' }
      const tried = [{ tool, args: {}, result }]
      assert.deepEqual(nextPastAction(question, tried, TOOLS), { kind: 'report', text: result.text })
    })

  test('"why" first finds the run, then explains it', () => {
    const question = 'Why did you write the report?'
    const first = nextPastAction(question, [], TOOLS)
    assert.deepEqual(first?.kind === 'call' && first.tool, 'past_work')
    const found = {
      tool: 'past_work',
      args: {},
      result: { ok: true, text: '- scribe: Write (done, $0, run 95f1e5b7)' },
    }
    const second = nextPastAction(question, [found], TOOLS)
    assert.deepEqual(second, { kind: 'call', tool: 'explain_run', args: { run: '95f1e5b7', language: 'en' } })
  })

  test('what is no question about the past, or without these tools, is left to the other rules', () => {
    for (const task of ['Create a file a.md with the content "done"', 'Write a report', 'Hello', 'What is 2 + 2?'])
      assert.equal(nextPastAction(task, [], TOOLS), undefined, task)
    assert.equal(nextPastAction('What did you do today?', [], new Set(['create_file'])), undefined)
  })
})
