/** A run of the engine: records, commits, limits, unusable answers, critics. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { journalOf, kindsOf, openApp, runTaskIn } from './support/open-app.ts'
import { final, probeTool, write } from './support/probe-tool.ts'

describe('a run', () => {
  test('Q1: a tool call, then an answer: the journal holds both turns in order, and the file exists', async (t) => {
    const app = await openApp(t, { model: scriptedModel([write('a.txt', 'hello'), final()]) })
    const result = await runTaskIn(app)
    assert.deepEqual(
      { status: result.status, answer: result.answer, error: result.error },
      { status: 'done', answer: 'all done', error: null },
    )
    assert.equal(readFileSync(join(result.workspace, 'a.txt'), 'utf8'), 'hello')
    assert.deepEqual(kindsOf(await journalOf(app, result.session_id)), [
      ...[
        'run_started',
        'input_bound',
        'model_requested',
        'model_answered',
        'call_intended',
        'call_settled',
        'step_committed',
      ],
      ...['input_bound', 'model_requested', 'model_answered', 'step_committed', 'run_ended'],
    ])
  })

  test('I3: a step with one tool call makes two commits, three if it acknowledges input; an answer one', async (t) => {
    const tool = probeTool()
    const commits: number[] = []
    const model = scriptedModel((_, turn) => {
      commits.push(app.context.store.commits())
      return turn < 4 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }
    })
    const app = await openApp(t, { model, tools: [tool] })
    const result = await runTaskIn(app)
    commits.push(app.context.store.commits())
    const perStep = commits.slice(1).map((n, i) => n - (commits[i] ?? 0))
    assert.equal(result.status, 'done')
    assert.deepEqual(perStep, [3, 2, 2, 2, 1], 'between two requests: answer + intent, result + step + request')
  })

  test('case 17, case 107: the second model request contains the first exchange exactly once', async (t) => {
    const model = scriptedModel([write('a.txt'), write('b.txt'), final()])
    await runTaskIn(await openApp(t, { model }), 'do it')
    assert.deepEqual(
      model.requests[2]?.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'tool'],
    )
    assert.deepEqual(model.requests[0]?.messages, [{ role: 'user', text: 'do it' }])
  })

  test('requests are recorded by reference: their records do not grow with the conversation', async (t) => {
    const model = scriptedModel((_, turn) =>
      turn < 30 ? { text: 'x'.repeat(500), calls: [{ tool: 'poke' }] } : { text: 'done' },
    )
    const app = await openApp(t, { model, tools: [probeTool()] })
    const { session_id } = await runTaskIn(app)
    const requests = (await journalOf(app, session_id)).filter(({ kind }) => kind === 'model_requested')
    const sizes = requests.map((request) => JSON.stringify(request).length)
    assert.equal(requests.length, 31)
    assert.ok(Math.max(...sizes) - Math.min(...sizes) < 20, `sizes ${Math.min(...sizes)} to ${Math.max(...sizes)}`)
    assert.equal(new Set(requests.map((request) => request.kind === 'model_requested' && request.digest)).size, 31)
  })

  test('case 43: with a limit of n calls exactly n steps run, and the run fails with class budget', async (t) => {
    const tool = probeTool()
    const model = scriptedModel(() => ({ calls: [{ tool: 'poke' }] }))
    const result = await runTaskIn(
      await openApp(t, { model, tools: [tool], yaml: 'budget: { per_dispatch_calls: 4 }' }),
    )
    assert.deepEqual(
      { status: result.status, failure_class: result.failure_class, runs: tool.runs, requests: model.requests.length },
      { status: 'failed', failure_class: 'budget', runs: 4, requests: 4 },
    )
    assert.match(result.error ?? '', /per_dispatch_calls/)
  })

  test('case 42: a final answer in the step that reaches the limit ends the run normally', async (t) => {
    const result = await runTaskIn(
      await openApp(t, { model: scriptedModel([final()]), yaml: 'budget: { per_dispatch_calls: 1 }' }),
    )
    assert.deepEqual({ status: result.status, answer: result.answer }, { status: 'done', answer: 'all done' })
  })

  test('an exception in a tool becomes a failed result for the model, not the end of the run', async (t) => {
    const broken = probeTool(() => {
      throw new TypeError('cannot read the moon')
    })
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, final()])
    const result = await runTaskIn(await openApp(t, { model, tools: [broken] }))
    assert.equal(result.status, 'done')
    const toolMessage = model.requests[1]?.messages.at(-1)
    assert.ok(toolMessage?.role === 'tool' && !toolMessage.ok && toolMessage.text.includes('cannot read the moon'))
  })

  test('`finish` ends the run with its answer', async (t) => {
    const result = await runTaskIn(
      await openApp(t, { model: scriptedModel([{ calls: [{ tool: 'finish', args: { answer: '42' } }] }]) }),
    )
    assert.deepEqual({ status: result.status, answer: result.answer }, { status: 'done', answer: '42' })
  })
})

describe('unusable answers', () => {
  const malformed: [string, ScriptedStep][] = [
    ['unknown tool', { calls: [{ tool: 'poke' }, { tool: 'no_such_tool' }] }],
    ['arguments that are not JSON', { calls: [{ tool: 'poke' }, { tool: 'poke', args: '{"a": ' }] }],
    ['arguments that do not fit', { calls: [{ tool: 'poke', args: { extra: 1 } }, { tool: 'poke' }] }],
    [
      'duplicate call ids',
      {
        calls: [
          { tool: 'poke', id: 'same' },
          { tool: 'poke', id: 'same' },
        ],
      },
    ],
    ['an answer cut at the output limit', { calls: [{ tool: 'poke' }, { tool: 'poke' }], finish: 'length' }],
    ['`finish` beside other calls', { calls: [{ tool: 'poke' }, { tool: 'finish', args: { answer: 'x' } }] }],
    [
      '`wait` with an unreadable time',
      { calls: [{ tool: 'wait', args: { for: 'message', until: 'soonish' } }, { tool: 'poke' }] },
    ],
  ]
  for (const [name, step] of malformed)
    test(`case 27: ${name}: no call of the batch runs, each gets an error result, and the run continues`, async (t) => {
      const tool = probeTool()
      const model = scriptedModel([step, { calls: [{ tool: 'poke' }] }, final()])
      const result = await runTaskIn(await openApp(t, { model, tools: [tool] }))
      assert.deepEqual({ status: result.status, runs: tool.runs }, { status: 'done', runs: 1 })
      const results = model.requests[1]?.messages.filter((message) => message.role === 'tool') ?? []
      assert.equal(results.length, step.calls?.length)
      assert.ok(results.every((message) => message.role === 'tool' && !message.ok))
      assert.equal(
        new Set(results.map((message) => message.role === 'tool' && message.call_id)).size,
        results.length,
        'ids are distinct in the history',
      )
    })

  test('case 131: text cut off at the output limit is not the final answer', async (t) => {
    const model = scriptedModel([{ text: 'The result is 4', finish: 'length' }, final('The result is 42')])
    const result = await runTaskIn(await openApp(t, { model }))
    assert.equal(result.answer, 'The result is 42')
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /cut off at the output limit/)
  })

  test('Q4: three unusable answers in a row fail a run (invalid_result); a usable one resets the count', async (t) => {
    const bad: ScriptedStep = { calls: [{ tool: 'nope' }] }
    const exhausted = await runTaskIn(await openApp(t, { model: scriptedModel([bad, bad, bad, final()]) }))
    assert.deepEqual(
      { status: exhausted.status, failure_class: exhausted.failure_class },
      { status: 'failed', failure_class: 'invalid_result' },
    )
    const recovered = await runTaskIn(
      await openApp(t, { model: scriptedModel([bad, bad, write('a'), bad, bad, final()]) }),
    )
    assert.equal(recovered.status, 'done')
  })
})

describe('critics', () => {
  test('Q12: a critic may reject a final answer with an instruction, or stop the run', async (t) => {
    let judged = 0
    const askingForEvidence = {
      name: 'strict',
      judge: () =>
        judged++ === 0
          ? ({ kind: 'retry', instruction: 'show your evidence' } as const)
          : ({ kind: 'continue' } as const),
    }
    const model = scriptedModel([final('trust me'), final('here is the evidence')])
    const result = await runTaskIn(await openApp(t, { model, critics: [askingForEvidence] }))
    assert.equal(result.answer, 'here is the evidence')
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /show your evidence/)
    const refusing = { name: 'no', judge: () => ({ kind: 'stop', reason: 'enough' }) as const }
    const stopped = await runTaskIn(await openApp(t, { model: scriptedModel([final()]), critics: [refusing] }))
    assert.deepEqual({ status: stopped.status, error: stopped.error }, { status: 'failed', error: 'enough' })
  })
})
