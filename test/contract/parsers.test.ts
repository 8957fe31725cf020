import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { jsonParser, reactParser, xmlParser } from 'tireless'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeTool, lastMessageIn, recordsOf, resultsOf } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

type Protocol = 'json' | 'react' | 'xml'

/** Texts of one meaning, as each protocol writes them. */
const calling: Record<Protocol, string> = {
  json: '{"thought": "to see", "actions": [{"name": "poke", "args": {"who": "a"}}]}',
  react: 'Thought: to see\nAction: poke(who="a")',
  xml: '<think>to see</think><action name="poke"><arg name="who">a</arg></action>',
}
const finishing: Record<Protocol, string> = {
  json: '{"reflection": "it was easy", "answer": "all done"}',
  react: 'Reflection: it was easy\nFinal Answer: all done',
  xml: '<reflection>it was easy</reflection><final_answer>all done</final_answer>',
}
const PROTOCOLS = ['json', 'react', 'xml'] as const

for (const parser of PROTOCOLS)
  describe(`a model that writes ${parser}`, () => {
    test('Q11: its calls are run, their results come back as text, its answer is final', async (t) => {
      const model = scriptedModel([{ text: calling[parser] }, { text: finishing[parser] }])
      const poke = fakeTool()
      const result = await runTaskIn(await openApp(t, { model, tools: [poke] }), 'do it', { parser })
      assert.deepEqual([result.status, result.answer, poke.receivedArgs], ['done', 'all done', [{ who: 'a' }]])
      const [first, second] = model.requests
      assert.match(first?.system ?? '', /poke/, 'the tools are in the instructions')
      assert.deepEqual(first?.tools, [], 'and nowhere else')
      assert.deepEqual(second?.messages, [
        { role: 'user', text: 'do it' },
        { role: 'assistant', text: calling[parser], calls: [] },
        { role: 'user', text: '[result of poke] poked' },
      ])
    })

    test('case 25: what it says about its reasons is kept beside the answer, and is no part of it', async (t) => {
      const model = scriptedModel([{ text: calling[parser] }, { text: finishing[parser] }])
      const app = await openApp(t, { model, tools: [fakeTool()] })
      const { session_id } = await runTaskIn(app, 'do it', { parser })
      const notes = (await recordsOf(app, session_id, 'model_answered')).map(({ answer }) => answer.notes)
      assert.deepEqual(notes, [{ thought: 'to see' }, { reflection: 'it was easy' }])
    })
  })

/** Nothing of it runs, and the model hears why. */
const refused: readonly [string, Protocol, string, RegExp][] = [
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
  ['case 25: a call that was cut', 'json', '{"actions":[{"name":"poke","args":{"who":"a', /incomplete/],
  ['case 25: a call that was cut', 'react', 'Action: poke(who="a', /incomplete/],
  ['case 25: a call that was cut', 'xml', '<action name="poke"><arg name="who">a', /incomplete/],
  ['case 22: prose', 'json', 'I think (see foo(x=1)) that word(see foo(x=1)) will do.', /no JSON object/],
  ['case 22: prose', 'xml', 'I think (see foo(x=1)) that word(see foo(x=1)) will do.', /neither an action nor/],
  ['case 22: an attempt at an action', 'react', 'I shall do it.\n**Action:** poke(n=1)', /looks like an action/],
  [
    'cases 27, 55: one malformed call of two',
    'json',
    '{"actions":[{"name":"poke","args":{}},{"name":"nope","args":{}}]}',
    /no tool|None of your calls/,
  ],
  ['cases 27, 55: one malformed call of two', 'react', 'Action: poke(n=1)\nAction: nope(n=1)', /None of your calls/],
  [
    'cases 27, 55: one malformed call of two',
    'xml',
    '<action name="poke"/><action name="nope"/>',
    /None of your calls/,
  ],
]

/** B4: what somebody else wanted it to do, in its own words. */
const quoted: readonly [string, Protocol, string, RegExp][] = PROTOCOLS.flatMap((parser) => [
  [
    'B4: a call quoted in prose',
    parser,
    `The page asked me to answer\n${calling[parser]}\nwhich I refuse.`,
    /text before|outside the tags/,
  ],
  ['B4: 引用的调用', parser, `网页要求我这样回答，我拒绝：\n${calling[parser]}`, /text before|outside the tags/],
])

describe('texts that are no decision', () => {
  for (const [name, parser, text, reason] of [...refused, ...quoted])
    test(`${name}, in ${parser}: nothing runs, the reason goes back, and it may say it again`, async (t) => {
      const poke = fakeTool()
      const model = scriptedModel([{ text }, { text: calling[parser] }, { text: finishing[parser] }])
      const app = await openApp(t, { model, tools: [poke] })
      const result = await runTaskIn(app, 'do it', { parser })
      assert.deepEqual([result.answer, poke.receivedArgs], ['all done', [{ who: 'a' }]])
      assert.match(lastMessageIn(model, 1), reason)
      const failures = (await recordsOf(app, result.session_id, 'failed')).map(({ phase, code }) => [phase, code])
      assert.deepEqual(failures, [['DECIDE', 'decision_invalid']], 'it is diagnosed')
    })

  test('case 22: prose with what looks like a call is an answer in react, and never a call', async (t) => {
    const text = 'I think (see foo(x=1)) that word(see poke(x=1)) will do.'
    const poke = fakeTool()
    const app = await openApp(t, { model: scriptedModel([{ text }]), tools: [poke] })
    const result = await runTaskIn(app, 'do it', { parser: 'react' })
    assert.deepEqual([result.answer, poke.receivedArgs], [text, []])
  })
})

describe('arguments as they were meant', () => {
  const nasty = `say "it's [1, {2}] </arg> & <b class='x'>bold</b>" \\n`
  const written: Record<Protocol, string> = {
    json: JSON.stringify({ actions: [{ name: 'poke', args: { who: nasty, list: [1, { a: ')' }] } }] }),
    react: `Action: poke(who=${JSON.stringify(nasty)}, list=[1, {"a": ")"}])`,
    xml: `<action name="poke"><arg name="who"><![CDATA[${nasty}]]></arg><arg name="list" type="json">[1, {"a": ")"}]</arg></action>`,
  }
  for (const parser of PROTOCOLS)
    test(`case 25: quotes, brackets and markup inside of them arrive byte by byte in ${parser}`, async (t) => {
      const poke = fakeTool()
      const model = scriptedModel([{ text: written[parser] }, { text: finishing[parser] }])
      const app = await openApp(t, { model, tools: [poke] })
      const { session_id } = await runTaskIn(app, 'do it', { parser })
      assert.deepEqual(poke.receivedArgs, [{ who: nasty, list: [1, { a: ')' }] }])
      assert.deepEqual(
        (await resultsOf(app, session_id)).map(({ status }) => status),
        ['ok'],
      )
    })

  test("case 25, Q11: an author's own words, and a parser of one's own, by name", async (t) => {
    const words = { thought: ['weil'], reflection: ['gelernt'], action: ['tu'], final: ['fertig'] }
    const parsers = [jsonParser(words), reactParser(words), xmlParser(words)].map((parser) => ({
      ...parser,
      name: `my-${parser.name}`,
    }))
    const texts = {
      'my-json': ['{"weil": "so", "tu": {"name": "poke", "args": {"n": 1}}}', '{"fertig": "gut"}'],
      'my-react': ['Weil: so\nTu: poke(n=1)', 'Fertig: gut'],
      'my-xml': ['<weil>so</weil><tu name="poke"><arg name="n" type="json">1</arg></tu>', '<fertig>gut</fertig>'],
    }
    for (const [parser, said] of Object.entries(texts)) {
      const poke = fakeTool()
      const model = scriptedModel(said.map((text) => ({ text })))
      const app = await openApp(t, { model, tools: [poke], parsers })
      const result = await runTaskIn(app, 'tu es', { parser })
      assert.deepEqual([result.answer, poke.receivedArgs], ['gut', [{ n: 1 }]], parser)
      const [first] = await recordsOf(app, result.session_id, 'model_answered')
      assert.deepEqual(first?.answer.notes, { thought: 'so' })
    }
  })

  test('I4: a parser that breaks costs no second request: what was answered is on record, and the model is told', async (t) => {
    let broken = true
    const parser = {
      ...jsonParser(),
      name: 'brittle',
      parse(text: string) {
        if (broken) throw new RangeError('too deep for me')
        return jsonParser().parse(text)
      },
    }
    const model = scriptedModel((_, turn) => {
      broken = turn === 0
      return { text: finishing.json }
    })
    const app = await openApp(t, { model, parsers: [parser] })
    const result = await runTaskIn(app, 'do it', { parser: 'brittle' })
    assert.deepEqual([result.answer, model.requests.length], ['all done', 2])
    assert.match(lastMessageIn(model, 1), /too deep for me/)
    assert.equal((await recordsOf(app, result.session_id, 'model_answered')).length, 2)
  })
})
