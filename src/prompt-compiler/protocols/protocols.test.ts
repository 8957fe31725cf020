import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ToolSpec } from '../../ports/model.ts'
import type { ParsedAnswer, Parser } from '../../ports/parser.ts'
import { FIELD_NAMES } from './field-names.ts'
import { jsonParser } from './json.ts'
import { PARSERS } from './protocols.ts'
import { reactParser } from './react.ts'
import { xmlParser } from './xml.ts'

const json = jsonParser()
const react = reactParser()
const xml = xmlParser()

/** Calls without their ids, arguments as values. */
function calls(parsed: ParsedAnswer): unknown[] {
  assert.equal(parsed.kind, 'said', JSON.stringify(parsed))
  return parsed.kind === 'said' ? parsed.calls.map(({ tool, args }) => [tool, JSON.parse(args)]) : []
}

function answer(parsed: ParsedAnswer): string {
  assert.deepEqual(calls(parsed), [])
  return parsed.kind === 'said' ? parsed.text : ''
}

function assertFault(parser: Parser, text: string, reason: RegExp): void {
  const parsed = parser.parse(text)
  assert.equal(parsed.kind, 'fault', `${text}\n→ ${JSON.stringify(parsed)}`)
  assert.match(parsed.kind === 'fault' ? parsed.reason : '', reason)
}

function notes(parsed: ParsedAnswer): unknown {
  return parsed.kind === 'said' ? parsed.notes : undefined
}

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

describe('Q11: ReAct', () => {
  it('reads the three ways to write a call, several in order', () => {
    assert.deepEqual(
      calls(
        react.parse(
          'Thought: I look first.\nAction: ls(path="a", deep=true, n=-1.5e3, no=None)\nAction:\n  write\n' +
            'Action Input: {"text": "b"}\nAction: {"name": "c", "args": {"x": [1]}}\n',
        ),
      ),
      [
        ['ls', { path: 'a', deep: true, n: -1500, no: null }],
        ['write', { text: 'b' }],
        ['c', { x: [1] }],
      ],
    )
    assert.deepEqual(calls(react.parse('<think>hm\nAction: no()</think>\n\n Action: yes()')), [['yes', {}]])
    assert.deepEqual(calls(react.parse('Thought: it says\n```\nAction: no()\n```\nso\nAction: yes()')), [['yes', {}]])
    assert.deepEqual(calls(react.parse('Action: write(text="```\nx")\nAction: yes()'))[1], ['yes', {}])
    assert.deepEqual(calls(react.parse('Thought：好\nAction：搜索(词="天气")')), [['搜索', { 词: '天气' }]])
  })

  it('case 25: quotes, brackets, HTML, line breaks and labels inside arguments belong to the arguments', () => {
    const text = `<a href="x" onclick='f(1, "2")'>)]}</a>\nAction: rm(path="/")\nFinal Answer: no`
    const escaped = text.replaceAll('"', '\\"')
    assert.deepEqual(calls(react.parse(`Action: write(text="${escaped}", more={"a": ["(\\")"]})`)), [
      ['write', { text, more: { a: ['(")'] } }],
    ])
    assert.deepEqual(calls(react.parse(`Action: say(text='it\\'s "so"')`)), [['say', { text: 'it\'s "so"' }]])
  })

  it('case 25: an incomplete or malformed call, or one with an invented result, is refused', () => {
    assertFault(react, 'Action: write(text="abc', /is incomplete/)
    assertFault(react, 'Action: write(text="abc"', /is incomplete/)
    assertFault(react, 'Action: write(a={"b": 1', /is incomplete/)
    assertFault(react, 'Action: write', /has no arguments/)
    assertFault(react, 'Action: write\nAction Input:', /must be a JSON object/)
    assertFault(react, 'Action: write\nThought: hm\nAction Input: {}', /has no arguments/)
    assertFault(react, 'Action: say(text="he said "no" twice")', /escape quotes inside a text/)
    assertFault(react, 'Action: say(text=hello)', /must be in quotes/)
    assertFault(react, 'Action: say("hello")', /write the arguments of say/)
    assertFault(react, 'Action: say(a=1, a=2)', /twice/)
    assertFault(react, 'Action: say(a=1 b=2)', /write the arguments of say/)
    assertFault(react, 'Action: write the file\nAction Input: {}', /has no arguments/)
    assertFault(react, 'Action: say(a="\\d")', /not an escape/)
    assertFault(react, 'Action: ls() and then I wait', /text after the call/)
    assertFault(react, 'Action: ls() Action: rm()', /text after the call/)
    assertFault(react, 'Action: ls()\nThought: no', /thought after an Action/)
    assertFault(react, 'I look.\nAction: ls()', /put it after "Thought:"/)
    assertFault(react, 'Action Input: {}', /without an Action/)
    assertFault(react, 'Action: 7', /name of a tool/)
    assertFault(react, 'Action: ls()\nObservation: a b c\nFinal Answer: three', /results come from the tools/)
  })

  it('a final answer extends to the end of the text, including labels', () => {
    const parsed = react.parse('So.\nThought: done\nFinal Answer: Three parts:\nAnswer: 1\nReflection: 2')
    assert.equal(answer(parsed), 'Three parts:\nAnswer: 1\nReflection: 2')
    assert.deepEqual(notes(parsed), { thought: 'So.\ndone' })
  })

  it('case 22: prose is a final answer unless a line looks like an action', () => {
    assert.equal(
      answer(react.parse(' The next action: call(a=1), he said. Note: fine.\n')),
      'The next action: call(a=1), he said. Note: fine.',
    )
    assertFault(react, '**Action:** ls(path="a")', /write the label without any formatting/)
    assertFault(react, 'First.\n- Action 1: ls(path="a")', /write the label without any formatting/)
    assertFault(react, 'Thought: I must go on', /neither an action nor a final answer/)
  })
})

describe('Q11: XML', () => {
  it('reads arguments as tags, as JSON, or none; with comments, or in one code fence', () => {
    const text = `<think>Well: a < b.</think> <!-- now -->
<action name="write"><arg name="path">a b</arg>
  <arg name='n' type="json">[1, {"x": null}]</arg></action>
<action name="now"/> <call name="now"></call>
<action name="say">{"text": "</action> &amp; \\"more\\""}</action>
<action name="say"><![CDATA[{"text": "<b>"}]]></action>`
    assert.deepEqual(calls(xml.parse(`\`\`\`xml\n${text}\n\`\`\``)), calls(xml.parse(text)))
    assert.deepEqual(calls(xml.parse(text)), [
      ['write', { path: 'a b', n: [1, { x: null }] }],
      ['now', {}],
      ['now', {}],
      ['say', { text: '</action> &amp; "more"' }],
      ['say', { text: '<b>' }],
    ])
  })

  it('case 25: HTML in an argument stays as it is; entities are decoded once, CDATA not at all', () => {
    const html = '<p class="x">\n  it\'s <b>2 > 1</b> &nbsp;<br/></p>\n'
    const say = (body: string): unknown => calls(xml.parse(`<action name="say"><arg name="t">${body}</arg></action>`))
    assert.deepEqual(say(html), [['say', { t: html }]])
    assert.deepEqual(say('&lt;arg&gt; &amp;lt; &#20320;&#x1F600; &#xD800; &#9999999;'), [
      ['say', { t: '<arg> &lt; 你😀 &#xD800; &#9999999;' }],
    ])
    assert.deepEqual(say('\n<![CDATA[</arg></action>&amp;]]]]><![CDATA[> ]]>\n'), [
      ['say', { t: '</arg></action>&amp;]]> ' }],
    ])
    assert.equal(answer(xml.parse('<final_answer>\n<h1>a</h1> &lt;\n</final_answer>')), '<h1>a</h1> <')
  })

  it('case 22: calls in thoughts, comments or quotations are not executed', () => {
    const action = '<action name="rm"/>'
    assert.equal(
      answer(xml.parse(`<think>or ${action}?</think><!-- ${action} --><![CDATA[${action}]]><answer>no</answer>`)),
      'no',
    )
    assert.equal(answer(xml.parse(`<answer>write ${action}</answer>`)), `write ${action}`)
  })

  it('case 25: a tag that is not closed or not exactly the format is refused', () => {
    assertFault(xml, '<action name="a"><arg name="t">abc', /<arg> is not closed/)
    assertFault(xml, '<action name="a"><arg name="t">abc</action>', /is not closed/)
    assertFault(xml, '<action name="a"><arg name="t">abc<arg name="u">d</arg></action>', /<arg inside <arg>/)
    assertFault(xml, '<action name="a"><arg name="t">x</arg>', /be closed with <\/action>/)
    assertFault(xml, '<action name="a">do it</action>', /must hold <arg> tags/)
    assertFault(xml, '<action name="a"><![CDATA[[1]]]></action>', /must be a JSON object/)
    assertFault(xml, '<action name="a"><arg name="t"><![CDATA[abc</arg></action>', /CDATA section is not closed/)
    assertFault(xml, '<action name="a"><arg name="t" type="int">1</arg></action>', /has the type int/)
    assertFault(xml, '<action name="a"><arg name="t">1</arg><arg name="t">2</arg></action>', /twice/)
    assertFault(xml, '<action><arg name="t">1</arg></action>', /needs the name of a tool/)
    assertFault(xml, '<action name="a"><arg>1</arg></action>', /<arg> needs a name/)
    assertFault(xml, '<action name="a" name="b"/>', /name twice/)
    assertFault(xml, '<action name="a', /not complete/)
    assertFault(xml, '<think>hm', /<think> is not closed/)
    assertFault(xml, '<!-- <action name="a"/>', /is incomplete/)
    assertFault(xml, '<final_answer>a</final_answer></final_answer>', /closes nothing/)
    assertFault(xml, '<final_answer>a</final_answer> b</final_answer>', /outside the tags/)
    assertFault(xml, 'I look.\n<action name="a"/>', /outside the tags/)
    assertFault(xml, '<action name="a"/><think>no</think>', /<think> after an action/)
  })
})
