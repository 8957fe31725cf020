import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { jsonParser, reactParser, xmlParser } from 'tireless'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeTool, lastMessageIn, recordsOf, resultsOf } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

type Protocol = 'json' | 'react' | 'xml'

/** The same call, then the same answer, in each protocol. */
const callTexts: Record<Protocol, string> = {
  json: '{"thought": "to see", "actions": [{"name": "poke", "args": {"who": "a"}}]}',
  react: 'Thought: to see\nAction: poke(who="a")',
  xml: '<think>to see</think><action name="poke"><arg name="who">a</arg></action>',
}
const answerTexts: Record<Protocol, string> = {
  json: '{"reflection": "it was easy", "answer": "all done"}',
  react: 'Reflection: it was easy\nFinal Answer: all done',
  xml: '<reflection>it was easy</reflection><final_answer>all done</final_answer>',
}
const PROTOCOLS = ['json', 'react', 'xml'] as const

for (const parser of PROTOCOLS)
  describe(`a model that answers in ${parser}`, () => {
    test('Q11: its calls run, their results come back as text, and its answer ends the run', async (t) => {
      const model = scriptedModel([{ text: callTexts[parser] }, { text: answerTexts[parser] }])
      const poke = fakeTool()
      const result = await runTaskIn(await openApp(t, { model, tools: [poke] }), 'do it', { parser })
      assert.deepEqual(
        { status: result.status, answer: result.answer, receivedArgs: poke.receivedArgs },
        { status: 'done', answer: 'all done', receivedArgs: [{ who: 'a' }] },
      )
      const [first, second] = model.requests
      assert.match(first?.system ?? '', /poke/, 'the tools are described in the system prompt')
      assert.deepEqual(first?.tools, [], 'and not passed as native tools')
      assert.deepEqual(second?.messages, [
        { role: 'user', text: 'do it' },
        { role: 'assistant', text: callTexts[parser], calls: [] },
        { role: 'user', text: '[result of poke] poked' },
      ])
    })

    test('case 25: thought and reflection are recorded as notes, not as part of the answer', async (t) => {
      const model = scriptedModel([{ text: callTexts[parser] }, { text: answerTexts[parser] }])
      const app = await openApp(t, { model, tools: [fakeTool()] })
      const { session_id } = await runTaskIn(app, 'do it', { parser })
      const notes = (await recordsOf(app, session_id, 'model_answered')).map(({ answer }) => answer.notes)
      assert.deepEqual(notes, [{ thought: 'to see' }, { reflection: 'it was easy' }])
    })
  })

/** No call runs, and the model is told why. */
const refusedTexts: readonly [string, Protocol, string, RegExp][] = [
  [
    'case 23: mode act without actions, and an answer',
    'json',
    '{"mode":"act","actions":[],"answer":"n"}',
    /no actions/,
  ],
  [
    'case 24: an action and an answer',
    'json',
    '{"actions":[{"name":"poke","args":{}}],"answer":"n"}',
    /only one of them/,
  ],
  ['case 24: an action and an answer', 'react', 'Action: poke(n=1)\nFinal Answer: n', /only one of them/],
  [
    'case 24: an answer and an action',
    'xml',
    '<final_answer>n</final_answer><action name="poke"/>',
    /only one of them/,
  ],
  ['case 25: a truncated call', 'json', '{"actions":[{"name":"poke","args":{"who":"a', /incomplete/],
  ['case 25: a truncated call', 'react', 'Action: poke(who="a', /incomplete/],
  ['case 25: a truncated call', 'xml', '<action name="poke"><arg name="who">a', /incomplete/],
  ['case 22: prose', 'json', 'I think (see foo(x=1)) that word(see foo(x=1)) will do.', /no JSON object/],
  ['case 22: prose', 'xml', 'I think (see foo(x=1)) that word(see foo(x=1)) will do.', /neither an action nor/],
  ['case 22: a misspelt action', 'react', 'I shall do it.\n**Action:** poke(n=1)', /looks like an action/],
  [
    'case 27, case 55: one malformed call of two',
    'json',
    '{"actions":[{"name":"poke","args":{}},{"name":"nope","args":{}}]}',
    /no tool|None of your calls/,
  ],
  [
    'case 27, case 55: one malformed call of two',
    'react',
    'Action: poke(n=1)\nAction: nope(n=1)',
    /None of your calls/,
  ],
  [
    'case 27, case 55: one malformed call of two',
    'xml',
    '<action name="poke"/><action name="nope"/>',
    /None of your calls/,
  ],
]

/** A call of untrusted content that the model quotes. */
const quotedTexts: readonly [string, Protocol, string, RegExp][] = PROTOCOLS.flatMap((parser) => [
  [
    'a call quoted in prose',
    parser,
    `The page asked me to answer\n${callTexts[parser]}\nwhich I refuse.`,
    /text before|outside the tags/,
  ],
  ['引用的调用', parser, `网页要求我这样回答，我拒绝：\n${callTexts[parser]}`, /text before|outside the tags/],
])

describe('texts without a valid decision', () => {
  for (const [name, parser, text, reason] of [...refusedTexts, ...quotedTexts])
    test(`${name}, in ${parser}: no call runs, and the model may answer again`, async (t) => {
      const poke = fakeTool()
      const model = scriptedModel([{ text }, { text: callTexts[parser] }, { text: answerTexts[parser] }])
      const app = await openApp(t, { model, tools: [poke] })
      const result = await runTaskIn(app, 'do it', { parser })
      assert.deepEqual(
        { answer: result.answer, receivedArgs: poke.receivedArgs },
        { answer: 'all done', receivedArgs: [{ who: 'a' }] },
      )
      assert.match(lastMessageIn(model, 1), reason)
      const failures = (await recordsOf(app, result.session_id, 'failed')).map(({ phase, code }) => [phase, code])
      assert.deepEqual(failures, [['DECIDE', 'decision_invalid']], 'the failure is recorded')
    })

  test('case 22: in react, prose that resembles a call is an answer, not a call', async (t) => {
    const text = 'I think (see foo(x=1)) that word(see poke(x=1)) will do.'
    const poke = fakeTool()
    const app = await openApp(t, { model: scriptedModel([{ text }]), tools: [poke] })
    const result = await runTaskIn(app, 'do it', { parser: 'react' })
    assert.deepEqual({ answer: result.answer, receivedArgs: poke.receivedArgs }, { answer: text, receivedArgs: [] })
  })
})

describe('arguments of calls in text', () => {
  const trickyText = `say "it's [1, {2}] </arg> & <b class='x'>bold</b>" \\n`
  const callWithTrickyArgs: Record<Protocol, string> = {
    json: JSON.stringify({ actions: [{ name: 'poke', args: { who: trickyText, list: [1, { a: ')' }] } }] }),
    react: `Action: poke(who=${JSON.stringify(trickyText)}, list=[1, {"a": ")"}])`,
    xml: [
      `<action name="poke"><arg name="who"><![CDATA[${trickyText}]]></arg>`,
      '<arg name="list" type="json">[1, {"a": ")"}]</arg></action>',
    ].join(''),
  }
  for (const parser of PROTOCOLS)
    test(`case 25: quotes, brackets and markup in arguments arrive unchanged in ${parser}`, async (t) => {
      const poke = fakeTool()
      const model = scriptedModel([{ text: callWithTrickyArgs[parser] }, { text: answerTexts[parser] }])
      const app = await openApp(t, { model, tools: [poke] })
      const { session_id } = await runTaskIn(app, 'do it', { parser })
      assert.deepEqual(poke.receivedArgs, [{ who: trickyText, list: [1, { a: ')' }] }])
      assert.deepEqual(
        (await resultsOf(app, session_id)).map(({ status }) => status),
        ['ok'],
      )
    })

  test('case 25, Q11: parsers can have custom field names and a name of their own', async (t) => {
    const fieldNames = { thought: ['weil'], reflection: ['gelernt'], action: ['tu'], final: ['fertig'] }
    const parsers = [jsonParser(fieldNames), reactParser(fieldNames), xmlParser(fieldNames)].map((parser) => ({
      ...parser,
      name: `my-${parser.name}`,
    }))
    const texts = {
      'my-json': ['{"weil": "so", "tu": {"name": "poke", "args": {"n": 1}}}', '{"fertig": "gut"}'],
      'my-react': ['Weil: so\nTu: poke(n=1)', 'Fertig: gut'],
      'my-xml': ['<weil>so</weil><tu name="poke"><arg name="n" type="json">1</arg></tu>', '<fertig>gut</fertig>'],
    }
    for (const [parser, answers] of Object.entries(texts)) {
      const poke = fakeTool()
      const model = scriptedModel(answers.map((text) => ({ text })))
      const app = await openApp(t, { model, tools: [poke], parsers })
      const result = await runTaskIn(app, 'tu es', { parser })
      assert.deepEqual(
        { answer: result.answer, receivedArgs: poke.receivedArgs },
        { answer: 'gut', receivedArgs: [{ n: 1 }] },
        parser,
      )
      const [first] = await recordsOf(app, result.session_id, 'model_answered')
      assert.deepEqual(first?.answer.notes, { thought: 'so' })
    }
  })

  test('I4: when a parser throws, the answer is recorded and the error goes to the model', async (t) => {
    let broken = true
    const parser = {
      ...jsonParser(),
      name: 'brittle',
      parse(text: string) {
        if (broken) throw new RangeError('nested too deeply')
        return jsonParser().parse(text)
      },
    }
    const model = scriptedModel((_, turn) => {
      broken = turn === 0
      return { text: answerTexts.json }
    })
    const app = await openApp(t, { model, parsers: [parser] })
    const result = await runTaskIn(app, 'do it', { parser: 'brittle' })
    assert.deepEqual({ answer: result.answer, requests: model.requests.length }, { answer: 'all done', requests: 2 })
    assert.match(lastMessageIn(model, 1), /nested too deeply/)
    assert.equal((await recordsOf(app, result.session_id, 'model_answered')).length, 2)
  })
})
