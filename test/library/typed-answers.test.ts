import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { attachTask, runTask, startTask } from 'tireless'
import { type ScriptedAnswer, scriptedModel } from 'tireless/testing'
import { z } from 'zod'
import { lastMessageIn } from '../support/fake-tools.ts'
import { freshFolder, openApp, replayIn } from '../support/open-app.ts'

const ANSWER = z.object({ colour: z.enum(['blue', 'red']), litres: z.number().min(1) })
const TASK = { objective: 'choose a paint', answer: ANSWER }
const GOOD = '{"colour": "blue", "litres": 2}'
const WRONG = '{"colour": "green", "litres": 2}'

describe('an answer with a schema', () => {
  const FORMS: Readonly<Record<string, { parser?: string; wrong: ScriptedAnswer; good: ScriptedAnswer }>> = {
    'in text': { wrong: { text: WRONG }, good: { text: GOOD } },
    'in a code fence': { wrong: { text: 'I like blue.' }, good: { text: `\`\`\`json\n${GOOD}\n\`\`\`` } },
    'by finish': {
      wrong: { calls: [{ tool: 'finish', args: { answer: WRONG } }] },
      good: { calls: [{ tool: 'finish', args: { answer: GOOD } }] },
    },
    'by the JSON protocol': {
      parser: 'json',
      wrong: { text: JSON.stringify({ answer: WRONG }) },
      good: { text: JSON.stringify({ answer: JSON.parse(GOOD) }) },
    },
    'by the XML protocol': {
      parser: 'xml',
      wrong: { text: `<answer>${WRONG}</answer>` },
      good: { text: `<answer>${GOOD}</answer>` },
    },
  }
  for (const [form, { wrong, good, ...overrides }] of Object.entries(FORMS))
    test(`${form}: the model is told the schema, a wrong one is asked for again, the right one is typed`, async (t) => {
      const home = freshFolder(t)
      const model = scriptedModel([wrong, good])
      const result = await runTask({ ...TASK, ...overrides }, { home, model })
      assert.equal(result.status, 'done', result.error ?? '')
      const litres: number | undefined = result.answer?.litres
      assert.deepEqual(
        [result.answer, litres, JSON.parse(unfenced(result.text))],
        [JSON.parse(GOOD), 2, JSON.parse(GOOD)],
      )
      assert.match(model.requests[0]?.system ?? '', /JSON Schema.*\n.*"enum":\["blue","red"\]/)
      assert.match(lastMessageIn(model, 1), /does not match its schema: (colour: .*blue.*red|it is not JSON)/)
      const app = await openApp(t, { home, model })
      assert.equal((await replayIn(app, result.dispatch_id)).identical, true)
    })

  const unfenced = (text: string | null): string => (text ?? '').replaceAll(/^```json|```$/g, '')

  test('the fourth wrong answer in a row ends the run as failed', async (t) => {
    const model = scriptedModel(() => ({ text: WRONG }))
    const { status, answer, error, failure_class } = await runTask(TASK, { home: freshFolder(t), model })
    assert.deepEqual(
      { status, answer, failure_class, asked: model.requests.length },
      { status: 'failed', answer: null, failure_class: 'invalid_result', asked: 4 },
    )
    assert.match(error ?? '', /^the answer does not match its schema: colour: .*The answer was: \{"colour": "green"/)
  })

  test('a wrong answer in the last step of the budget ends the run as failed', async (t) => {
    const model = scriptedModel(() => ({ text: WRONG }))
    const { status, error } = await runTask({ ...TASK, max_steps: 1 }, { home: freshFolder(t), model })
    assert.deepEqual([status, model.requests.length], ['failed', 1])
    assert.match(error ?? '', /does not match its schema/)
  })

  test('a restart knows the schema, and attachTask reads the answer by it', async (t) => {
    const home = freshFolder(t)
    const ask = { calls: [{ tool: 'ask_user', args: { question: 'Which one?' } }] }
    const options = { home, model: scriptedModel([ask, { text: WRONG }, { text: GOOD }]) }
    const first = await startTask(TASK, options)
    await first.waiting()
    await first.close()
    const again = await attachTask(first.id, { ...options, answer: ANSWER })
    await again.answer('blue')
    assert.equal((await again.result()).answer?.colour, 'blue')
    assert.equal(options.model.requests.length, 3)
  })

  test('a text needs no quotation marks; what only zod can check is said in the error', async (t) => {
    const model = scriptedModel([{ text: 'plain' }])
    const home = freshFolder(t)
    assert.equal((await runTask({ objective: 'say', answer: z.string() }, { home, model })).answer, 'plain')
    const answer = z.string().refine((text) => text === 'other')
    const refused = await runTask({ objective: 'say', answer }, { home, model })
    assert.deepEqual([refused.answer, refused.text], [null, 'plain'])
    assert.match(refused.error ?? '', /does not pass the schema of the program/)
  })

  test('a pattern with flags refuses no right answer; the program checks it', async (t) => {
    const answer = z
      .string()
      .regex(/^\p{L}+$/u)
      .regex(/^blå$/i)
    const ask = async (text: string) => {
      const model = scriptedModel([{ text }])
      const { answer: got, error } = await runTask({ objective: 'say', answer }, { home: freshFolder(t), model })
      return { got, error: error?.slice(0, 49), asked: model.requests.length }
    }
    assert.deepEqual(await ask('BLÅ'), { got: 'BLÅ', error: undefined, asked: 1 })
    const error = 'the answer does not pass the schema of the program'.slice(0, 49)
    assert.deepEqual(await ask('blue 2'), { got: null, error, asked: 1 })
  })

  test('a schema that JSON Schema cannot express is refused before the task starts', async (t) => {
    const model = scriptedModel([{ text: 'plain' }])
    for (const answer of [z.date(), 42, {}, 'text'])
      await assert.rejects(runTask({ objective: 'say', answer: answer as never }, { home: freshFolder(t), model }), {
        code: 'usage',
        message: /^answer: this is no schema for an answer/,
      })
    const app = await openApp(t, { model })
    for (const answer_schema of ['{', '[]', '{"type":"colour"}'])
      await assert.rejects(app.run('run', { task: 'say', answer_schema }), { code: 'usage', message: /JSON Schema/ })
    assert.equal((await app.run('run', { task: 'say', answer_schema: '{"type":"string"}' })).answer, 'plain')
    assert.equal(model.requests.length, 1)
  })
})
