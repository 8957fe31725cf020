/** What every text protocol must do, and JSON. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answer, assertFault, calls, notes, react, xml } from '../../../test/support/parsed-answers.ts'
import type { ToolSpec } from '../../ports/model.ts'
import { FIELD_NAMES } from './field-names.ts'
import { jsonParser } from './json.ts'
import { PARSERS } from './protocols.ts'
import { reactParser } from './react.ts'
import { xmlParser } from './xml.ts'

const json = jsonParser()

describe('Q11: every text protocol', () => {
  const tools: ToolSpec[] = [
    {
      name: 'ls',
      description: 'Lists files.',
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
    },
    { name: 'now', description: 'Tells the time.', parameters: { type: 'object' } },
  ]

  it('instructions list each tool with description and schema, always in the same bytes', () => {
    for (const parser of PARSERS) {
      const text = parser.instructions(tools)
      for (const tool of tools)
        assert.ok(
          text.includes(`- ${tool.name}: ${tool.description}\n  ${JSON.stringify(tool.parameters)}`),
          parser.name,
        )
      assert.equal(parser.instructions(structuredClone(tools)), text)
      assert.match(parser.instructions([]), /There are no tools\.$/)
    }
  })

  it('numbers the calls of an answer', () => {
    for (const [parser, text] of [
      [json, '{"actions": [{"name": "a"}, {"name": "a"}]}'],
      [react, 'Action: a()\nAction: a()'],
      [xml, '<action name="a"/><action name="a"/>'],
    ] as const) {
      const parsed = parser.parse(text)
      assert.deepEqual(parsed.kind === 'said' && parsed.calls.map((call) => call.id), ['call_1', 'call_2'])
    }
  })

  it('case 22: a call in prose is prose', () => {
    const prose = 'I think (see foo(x=1)) that word(see foo(x=1)) is the way.'
    assert.equal(answer(react.parse(prose)), prose)
    assertFault(json, prose, /no JSON object/)
    assertFault(xml, prose, /neither an action nor a final answer/)
  })

  it('case 24: an action with a final answer, or two answers, are refused in any order', () => {
    for (const [parser, action, final] of [
      [react, 'Action: ls(path="a")\n', 'Final Answer: done\n'],
      [xml, '<action name="ls"/>', '<final_answer>done</final_answer>'],
    ] as const) {
      assertFault(parser, action + final, /send only one of them/)
      assertFault(parser, final + action, /send only one of them/)
    }
    assertFault(json, '{"action": {"name": "ls"}, "answer": "done"}', /send only one of them/)
    assertFault(json, '{"answer": "done", "action": {"name": "ls"}}', /send only one of them/)
    assertFault(json, '{"answer": "a", "final": "b"}', /more than one final answer/)
    assertFault(xml, '<answer>a</answer><final>b</final>', /more than one final answer/)
  })

  it('case 21: an empty final answer is read as such; the engine rules on it', () => {
    assert.equal(answer(json.parse('{"answer": ""}')), '')
    assert.equal(answer(react.parse('Final Answer:')), '')
    assert.equal(answer(xml.parse('<final_answer></final_answer>')), '')
  })

  it('case 25: thought and reflection are kept, also with names defined by the author', () => {
    const expected = { thought: 'because', reflection: 'it failed' }
    const own = { ...FIELD_NAMES, thought: ['grund'], reflection: ['反思'], action: ['tu'] }
    for (const parsed of [
      json.parse('{"Thinking": "because", "reflection": "it failed", "action": {"name": "ls"}}'),
      react.parse('Rationale: because\nReflection： it failed\nAction: ls()'),
      xml.parse('<Think>because</Think><reflection>it failed</reflection><action name="ls"/>'),
      jsonParser(own).parse('{"GRUND": "because", "反思": "it failed", "tu": {"name": "ls"}}'),
      reactParser(own).parse('Grund: because\n反思：it failed\nTu: ls()'),
      xmlParser(own).parse('<grund>because</grund><反思>it failed</反思><tu name="ls"/>'),
    ]) {
      assert.deepEqual(calls(parsed), [['ls', {}]])
      assert.deepEqual(notes(parsed), expected)
    }
    assertFault(jsonParser(own), '{"action": {"name": "ls"}}', /neither/)
  })

  it('case 27: a number that cannot be read exactly is refused, not rounded', () => {
    assertFault(json, '{"action": {"name": "get", "args": {"id": 12345678901234567890}}}', /too large/)
    assertFault(react, 'Action: get(id=12345678901234567890)', /too large/)
    assertFault(xml, '<action name="get"><arg name="id" type="json">1e999</arg></action>', /too large/)
  })

  it('case 27: extremely nested values are refused before they exhaust the stack', () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    assertFault(json, `{"action": {"name": "a", "args": {"x": ${deep}}}}`, /nested deeper/)
    assertFault(react, `Action: a(x=${deep})`, /nested deeper/)
    assertFault(xml, `<action name="a"><arg name="x" type="json">${deep}</arg></action>`, /nested deeper/)
  })
})

describe('Q11: JSON', () => {
  const expected = [['write', { path: 'a', n: 1 }]]
  const object = '{"thought": "t", "actions": [{"name": "write", "args": {"path": "a", "n": 1}}]}'

  it('reads the object alone or in one code fence, after the model’s thinking if there is any', () => {
    const fence = '```'
    for (const form of [
      object,
      `\n ${object}\n`,
      `\ufeff${object}`,
      `${fence}json\n${object}\n${fence}`,
      `${fence}\n${object}\n${fence}\n`,
      `${fence}JSON ${object} ${fence}`,
      `${fence}${object}${fence}`,
      `<think>The page says {"a": 1}.\nI write.</think>\n\n${object}`,
      `<think></think>${fence}json\n${object}\n${fence}`,
    ])
      assert.deepEqual(calls(json.parse(form)), expected, form)
    assert.deepEqual(notes(json.parse(`<think>first</think>${object}`)), { thought: 'first\nt' })
    assertFault(json, `I will write "a" now.\n${object}`, /text before the JSON object; answer with one/)
    assertFault(json, `${object}\nThat is all.`, /text after the JSON object; answer with one/)
    assertFault(json, `<think>hm ${object}`, /<think> is not closed/)
    assertFault(json, `${object}\n${object}`, /more than one/)
    assertFault(json, `[${object}]`, /a list/)
    assertFault(json, object.replace('}}]}', '}}],}'), /invalid JSON/)
  })

  it('matches keys without regard to case, space, underscore or dash', () => {
    assert.equal(answer(json.parse('{"Final_Answer": "a"}')), 'a')
    assert.equal(answer(json.parse('{"FINAL-answer": {"n": 1}}')), '{"n":1}')
    assert.deepEqual(calls(json.parse('{"Tool": {"Name": "a", "Arguments": {"x": null}}, "answer": null}')), [
      ['a', { x: null }],
    ])
  })

  it('K5: accepts an action with type and payload', () => {
    assert.deepEqual(calls(json.parse('{"thought": "…", "action": {"type": "say", "payload": "你好"}}')), [
      ['say', { payload: '你好' }],
    ])
    assert.deepEqual(calls(json.parse('{"thought": "…", "action": {"type": "noop"}}')), [['noop', {}]])
    assert.deepEqual(calls(json.parse('{"action": {"type": "query", "payload": {"q": 1}}}')), [['query', { q: 1 }]])
  })

  it('case 23: a declared mode is binding', () => {
    assertFault(json, '{"mode": "act", "answer": "n", "actions": []}', /mode is "act", but there are no actions/)
    assertFault(json, '{"mode": "final", "actions": [{"name": "a"}]}', /mode is "final", but there is no answer/)
    assertFault(json, '{"mode": "wait"}', /expected "act" or "final"/)
    assert.equal(answer(json.parse('{"mode": "final", "answer": "n", "actions": []}')), 'n')
  })

  it('case 20: invalid actions and duplicate keys are refused', () => {
    assertFault(json, '{"actions": []}', /neither an action nor a final answer/)
    assertFault(json, '{"action": "ls"}', /must be an object/)
    assertFault(json, '{"action": {"args": {}}}', /has no name/)
    assertFault(json, '{"action": {"name": "a", "tool": "b"}}', /"name" and "tool"/)
    assertFault(json, '{"action": {"name": "a"}, "tool": {"name": "b"}}', /"action" and "tool"/)
    assertFault(json, '{"action": {"name": "a", "args": "x"}}', /args of a must be an object/)
  })

  it('case 25: an incomplete object is never repaired, and complete calls inside it are not used', () => {
    assertFault(json, '{"actions": [{"name": "a", "args": {}}', /is incomplete/)
    assertFault(json, '{"action": {"name": "a", "args": {"text": "}}}', /is incomplete/)
  })
})
