import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clipText, sanitiseSummary } from './clean-summary.ts'

describe('E9: summaries of results', () => {
  test('a text is truncated by code points, including the `...`, never inside a character', () => {
    assert.equal(clipText('执行总结', 4), '执行总结')
    assert.equal(clipText('𠮷𠮷𠮷𠮷𠮷', 4), '𠮷...')
    assert.equal(clipText('abcdef', 5), 'ab...')
  })

  test('code fences, reasoning and tool calls are left out; prose about them stays', () => {
    const report = [
      'thinking: what now',
      '<think>',
      'REASONING： hm',
      '<assistant to=bash>',
      'recipient_name: bash',
      'tool_uses: []',
      '  {"tool_calls": [{"tool": "bash"}]}',
      '```json',
      '## Execution Summary',
      'Made 3 tool calls; the reasoning is in notes.md.',
      'Thinking about it, one file was enough.',
      '```',
    ].join('\n')
    assert.equal(
      sanitiseSummary(report),
      '## Execution Summary\nMade 3 tool calls; the reasoning is in notes.md.\nThinking about it, one file was enough.',
    )
  })

  test('where no line would remain, the beginning of the text is kept, marked (raw)', () => {
    assert.equal(sanitiseSummary('thinking: only that'), '(raw) thinking: only that')
    assert.equal(sanitiseSummary(`thinking: ${'x'.repeat(400)}`).length, 306)
    assert.equal(sanitiseSummary(' \n '), '')
  })
})
