import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ProposedDecision } from '../../src/ports/behaviour.ts'
import type { Memory } from '../../src/ports/memory.ts'
import type { Model } from '../../src/ports/model.ts'
import type { Parser } from '../../src/ports/parser.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeBehaviour, fakeTool, lastMessageIn, recordsOf } from '../support/fake-tools.ts'
import { dispatchOf, journalOf, kindsOf, openApp, runTaskIn } from '../support/open-app.ts'

const OWN = { behaviour: 'own' }

/** A memory, a parser and a model that log when they are used. */
function loggingParts(log: string[], inner: Model): { memory: Memory; parser: Parser; model: Model } {
  const memory: Memory = {
    reset: () => {},
    append: () => {},
    retrieve: () => {
      log.push('history')
      return { from: 1, summary: 'it was a dark night', recalled: [] }
    },
    summarise: () => '',
    evict: () => 0,
  }
  const parser: Parser = {
    name: 'plain',
    instructions: () => 'say it plainly',
    parse: (text) => {
      log.push('parser')
      return { kind: 'said', text: text.toUpperCase(), calls: [] }
    },
  }
  const model: Model = {
    ...inner,
    call: (request, options) => {
      log.push('model')
      return inner.call(request, options)
    },
  }
  return { memory, parser, model }
}

describe('decisions by behaviour or model', () => {
  test('case 15, Q5: no model is called for a behaviour with its own decide()', async (t) => {
    const model = scriptedModel([])
    const poke = fakeTool()
    const own = fakeBehaviour({
      tools: ['poke'],
      initState: () => ({ pokes: 0 }),
      decide: (state) =>
        (state as { pokes: number }).pokes < 2
          ? { kind: 'act', calls: [{ tool: 'poke', args: { n: 1 } }] }
          : { kind: 'final', answer: 'poked twice' },
      reduce: (state, { results }) => ({ pokes: (state as { pokes: number }).pokes + results.length }),
    })
    const app = await openApp(t, { model, behaviours: [own], tools: [poke] })
    const result = await runTaskIn(app, 'poke', OWN)
    assert.deepEqual(
      { status: result.status, answer: result.answer, steps: result.steps, receivedArgs: poke.receivedArgs.length },
      { status: 'done', answer: 'poked twice', steps: 3, receivedArgs: 2 },
    )
    assert.equal(model.requests.length, 0)
    assert.ok(!kindsOf(await journalOf(app, result.session_id)).includes('model_requested'))
  })

  test('case 15, Q5: otherwise memory, prepare, system prompt, model and parser run in this order', async (t) => {
    const log: string[] = []
    const decideArgs: unknown[] = []
    const inner = scriptedModel([{ text: 'the butler' }])
    const { memory, parser, model } = loggingParts(log, inner)
    const own = fakeBehaviour({
      parser: 'plain',
      memory: 'dark',
      decide: (state, observation) => {
        log.push('decide')
        decideArgs.push(state, observation)
        return undefined
      },
      initState: (task) => ({ task }),
      observe: (state, { step }) => ({ task: (state as { task: string }).task, step }),
      prepare: (_, observation) => {
        log.push('prepare')
        return `observed: ${JSON.stringify(observation)}`
      },
      buildSystemPrompt: (state) => {
        log.push('system')
        return `you solve: ${(state as { task: string }).task}`
      },
    })
    const memories = [{ name: 'dark', open: () => memory }]
    const app = await openApp(t, { model, behaviours: [own], parsers: [parser], memories })
    const result = await runTaskIn(app, 'who was it?', OWN)
    assert.equal(result.answer, 'THE BUTLER')
    const observation = { task: 'who was it?', step: 1 }
    assert.deepEqual(decideArgs, [{ task: 'who was it?' }, observation])
    assert.deepEqual(
      log.filter((name, i) => name !== 'history' || i === log.lastIndexOf('history')),
      // The memory is asked once, because OBSERVE shows the behaviour what the model gets of it.
      ['history', 'decide', 'prepare', 'system', 'model', 'parser'],
    )
    assert.deepEqual(inner.requests, [
      {
        system: 'you solve: who was it?\n\nsay it plainly',
        tools: [],
        messages: [
          { role: 'user', text: '[what happened before, in short]\nit was a dark night' },
          { role: 'user', text: `observed: ${JSON.stringify(observation)}` },
        ],
      },
    ])
  })

  test('case 16: an unknown model, parser, memory or behaviour is a preflight issue, not a failed step', async (t) => {
    for (const [input, code, failure_class] of [
      [{ model: 'missing/model' }, 'TASK_MODEL_UNKNOWN', 'provider'],
      [{ parser: 'morse' }, 'TASK_PARSER_UNKNOWN', 'invalid_result'],
      [{ memory: 'elephant' }, 'TASK_MEMORY_UNKNOWN', 'invalid_result'],
      [{ behaviour: 'missing' }, 'TASK_BEHAVIOUR_UNKNOWN', 'invalid_result'],
    ] as const) {
      const app = await openApp(t)
      const result = await runTaskIn(app, 'x', input)
      assert.deepEqual(
        {
          status: result.status,
          failure_class: result.failure_class,
          stop_reason: result.stop_reason,
          steps: result.steps,
          codes: result.issues.map(({ code }) => code),
        },
        { status: 'failed', failure_class, stop_reason: 'task_validation_failed', steps: 0, codes: [code] },
      )
      assert.deepEqual(kindsOf(await journalOf(app, result.session_id)), ['run_started', 'run_ended'])
    }
  })

  test('case 16: a behaviour with its own decide() needs no model', async (t) => {
    const own = fakeBehaviour({ decide: () => ({ kind: 'final', answer: 'done without one' }) })
    const app = await openApp(t, { behaviours: [own], yaml: 'models: { default: missing/model }' })
    const result = await runTaskIn(app, 'x', OWN)
    assert.deepEqual({ status: result.status, answer: result.answer }, { status: 'done', answer: 'done without one' })
  })

  test('case 17: with its own prepare() too, each exchange is in the next request exactly once', async (t) => {
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, { calls: [{ tool: 'poke' }] }, { text: 'done' }])
    let prepared = 0
    const own = fakeBehaviour({ tools: ['poke'], prepare: () => `prompt ${++prepared}` })
    const app = await openApp(t, { model, behaviours: [own], tools: [fakeTool()] })
    await runTaskIn(app, 'x', OWN)
    const texts = model.requests[2]?.messages.map((message) => (message.role === 'user' ? message.text : message.role))
    assert.deepEqual(texts, ['prompt 1', 'assistant', 'tool', 'prompt 2', 'assistant', 'tool', 'prompt 3'])
  })

  test('Q5: observe() gets new input, step, remaining budget, metadata and env', async (t) => {
    const views: unknown[] = []
    const own = fakeBehaviour({
      tools: ['poke'],
      observe: (_, view) => {
        views.push(view)
        return null
      },
    })
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, { text: 'done' }])
    const app = await openApp(t, { model, behaviours: [own], tools: [fakeTool()] })
    const { workspace } = await runTaskIn(app, 'look', { ...OWN, max_steps: 5 })
    assert.partialDeepStrictEqual(views, [
      {
        input: [{ type: 'user_message', text: 'look' }],
        step: 1,
        budget: { steps: 5, tokens: null },
        metadata: { behaviour: 'own' },
        env: { root: workspace, ops: ['file', 'process'] },
      },
      { input: [], step: 2, budget: { steps: 4 } },
    ])
  })
})

describe('invalid decisions', () => {
  const poke = { tool: 'poke', args: {} }
  const answer = (text: string): ProposedDecision => ({ kind: 'final', answer: text })
  const invalidDecisions: readonly [string, ProposedDecision, RegExp][] = [
    ['an act without actions', { kind: 'act', calls: [] }, /at least one call/],
    ['a branch without candidates', { kind: 'branch', candidates: [] }, /no candidates/],
    [
      'a branch inside a branch',
      { kind: 'branch', candidates: [{ kind: 'branch', candidates: [answer('b')] }] },
      /must not contain another branch/,
    ],
    ['an empty answer', answer(' \n'), /answer was empty/],
    ['a call of an unknown tool', { kind: 'act', calls: [poke, { tool: 'nope' }] }, /no tool .*nope/],
    [
      'arguments that do not fit',
      { kind: 'act', calls: [poke, { tool: 'create_file', args: {} }] },
      /arguments are invalid/,
    ],
    ['a wait with an invalid deadline', { kind: 'wait', match: 'any', until: Number.NaN, reason: 'tea' }, /until/],
    ['an unknown kind', { kind: 'dance' } as unknown as ProposedDecision, /behaviour own .*dance.*expected a decision/],
  ]
  for (const [name, decision, reason] of invalidDecisions)
    test(`case 20, Q4: ${name}: no call runs, and the model is told why`, async (t) => {
      const tool = fakeTool()
      let decideCalls = 0
      // The first decision is invalid; the second is left to the model, which reads the error.
      const own = fakeBehaviour({
        tools: ['poke', 'create_file'],
        decide: () => (decideCalls++ === 0 ? decision : undefined),
      })
      const model = scriptedModel([{ text: 'better now' }])
      const app = await openApp(t, { model, behaviours: [own], tools: [tool] })
      const result = await runTaskIn(app, 'x', OWN)
      assert.deepEqual(
        { status: result.status, answer: result.answer, receivedArgs: tool.receivedArgs.length },
        { status: 'done', answer: 'better now', receivedArgs: 0 },
      )
      assert.match(lastMessageIn(model, 0), reason)
      const [failed] = await recordsOf(app, result.session_id, 'failed')
      assert.partialDeepStrictEqual(failed, { phase: 'DECIDE', ruling: { kind: 'feedback' } })
    })

  for (const [name, decision] of invalidDecisions)
    test(`case 20, Q4: ${name}, repeatedly, fails the run with parse_error`, async (t) => {
      const app = await openApp(t, {
        behaviours: [fakeBehaviour({ tools: ['poke'], decide: () => decision })],
        tools: [fakeTool()],
      })
      const result = await runTaskIn(app, 'x', OWN)
      assert.deepEqual(
        { status: result.status, stop_reason: result.stop_reason, failure_class: result.failure_class },
        { status: 'failed', stop_reason: 'unrecoverable_error', failure_class: 'invalid_result' },
      )
      const [ended] = await recordsOf(app, result.session_id, 'run_ended')
      assert.partialDeepStrictEqual(ended?.failure_report, { phase: 'DECIDE', category: 'parse_error' })
    })

  const empty: ScriptedStep[] = [{ text: ' \n ' }, { calls: [{ tool: 'finish', args: { answer: '  ' } }] }]
  for (const step of empty) {
    const how = step.calls ? '`finish` with an empty answer' : 'a blank answer'
    test(`case 21: ${how} is returned to the model once; a real answer is accepted`, async (t) => {
      const model = scriptedModel([step, { text: 'a real one' }])
      const result = await runTaskIn(await openApp(t, { model }))
      assert.deepEqual({ status: result.status, answer: result.answer }, { status: 'done', answer: 'a real one' })
      assert.match(lastMessageIn(model, 1), /empty/)
    })

    test(`case 21: ${how} given twice fails the run`, async (t) => {
      const model = scriptedModel([step, step, { text: 'too late' }])
      const result = await runTaskIn(await openApp(t, { model }))
      assert.deepEqual(
        { stop_reason: result.stop_reason, failure_class: result.failure_class, requests: model.requests.length },
        { stop_reason: 'unrecoverable_error', failure_class: 'invalid_result', requests: 2 },
      )
    })
  }
})

describe('waits decided by a behaviour', () => {
  test('Q4: such a wait parks the run, wakes it at the deadline and lets it decide again', async (t) => {
    const clock = new FakeClock()
    const inputs: unknown[] = []
    const own = fakeBehaviour({
      observe: (_, { input }) => {
        inputs.push(input.map((observation) => (observation.type === 'system_event' ? observation.name : 'message')))
        return input.some(({ type }) => type === 'system_event')
      },
      decide: (_, late) =>
        late
          ? { kind: 'final', answer: 'no guest came' }
          : { kind: 'wait', match: 'event:guest', until: clock.now() + 600_000, reason: 'a guest' },
    })
    const app = await openApp(t, { clock, behaviours: [own] })
    const parked = await runTaskIn(app, 'wait for a guest', OWN)
    assert.partialDeepStrictEqual(parked, { status: 'waiting', wait: { match: 'event:guest', reason: 'a guest' } })
    const commits = app.context.store.commits()
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, parked.dispatch_id)).status, 'waiting')
    assert.deepEqual(
      { inputs, commits: app.context.store.commits() - commits },
      { inputs: [['message']], commits: 0 },
      'a waiting run causes no commits',
    )
    await clock.advance(600_000)
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, parked.dispatch_id)).result, 'no guest came')
    assert.deepEqual(inputs, [['message'], ['deadline']])
  })
})
