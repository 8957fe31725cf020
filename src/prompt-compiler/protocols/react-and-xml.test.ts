/** The text protocols ReAct and XML. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answer, assertFault, calls, notes, react, xml } from '../../../test/support/parsed-answers.ts'

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
