import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clipped, sanitised } from './summary.ts'

describe('E9: what is told of a result', () => {
  test('a text is cut by code point, its mark included, and never inside a character', () => {
    assert.equal(clipped('执行总结', 4), '执行总结')
    assert.equal(clipped('𠮷𠮷𠮷𠮷𠮷', 4), '𠮷...')
    assert.equal(clipped('abcdef', 5), 'ab...')
  })

  test('fences, thoughts and tool calls are left out; prose about them stays', () => {
    const said = [
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
      sanitised(said),
      '## Execution Summary\nMade 3 tool calls; the reasoning is in notes.md.\nThinking about it, one file was enough.',
    )
  })

  test('where nothing would be left, the beginning of it stays as evidence, marked', () => {
    assert.equal(sanitised('thinking: only that'), '(raw) thinking: only that')
    assert.equal(sanitised(`thinking: ${'x'.repeat(400)}`).length, 306)
    assert.equal(sanitised(' \n '), '')
  })
})
