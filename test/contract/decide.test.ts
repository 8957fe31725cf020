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

describe('who decides', () => {
  test('case 15, Q5: a behaviour that decides for itself: the model is never called', async (t) => {
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
      [result.status, result.answer, result.steps, poke.receivedArgs.length],
      ['done', 'poked twice', 3, 2],
    )
    assert.equal(model.requests.length, 0)
    assert.ok(!kindsOf(await journalOf(app, result.session_id)).includes('model_requested'))
  })

  test('case 15, Q5: a behaviour that does not: prepare, system prompt, history, model, parser, in this order', async (t) => {
    const log: string[] = []
    const seen: unknown[] = []
    const remembering: Memory = {
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
    const inner = scriptedModel([{ text: 'the butler' }])
    const model: Model = {
      ...inner,
      call: (request, options) => {
        log.push('model')
        return inner.call(request, options)
      },
    }
    const own = fakeBehaviour({
      parser: 'plain',
      memory: 'dark',
      decide: (state, observation) => {
        log.push('decide')
        seen.push(state, observation)
        return undefined
      },
      initState: (task) => ({ task }),
      observe: (state, { step }) => ({ task: (state as { task: string }).task, step }),
      prepare: (_, observation) => {
        log.push('prepare')
        return `asked: ${JSON.stringify(observation)}`
      },
      buildSystemPrompt: (state) => {
        log.push('system')
        return `you solve: ${(state as { task: string }).task}`
      },
    })
    const memories = [{ name: 'dark', open: () => remembering }]
    const app = await openApp(t, { model, behaviours: [own], parsers: [parser], memories })
    const result = await runTaskIn(app, 'who was it?', OWN)
    assert.equal(result.answer, 'THE BUTLER')
    const observation = { task: 'who was it?', step: 1 }
    assert.deepEqual(seen, [{ task: 'who was it?' }, observation])
    assert.deepEqual(
      log.filter((word, i) => word !== 'history' || i === log.lastIndexOf('history')),
      ['decide', 'prepare', 'system', 'history', 'model', 'parser'],
    )
    assert.deepEqual(inner.requests, [
      {
        system: 'you solve: who was it?\n\nsay it plainly',
        tools: [],
        messages: [
          { role: 'user', text: '[what happened before, in short]\nit was a dark night' },
          { role: 'user', text: `asked: ${JSON.stringify(observation)}` },
        ],
      },
    ])
  })

  test('case 16: no such model and nobody else who decides: an issue of the preflight, not a failure of step 0', async (t) => {
    for (const [wish, code, failure_class] of [
      [{ model: 'nobody/none' }, 'TASK_MODEL_UNKNOWN', 'provider'],
      [{ parser: 'morse' }, 'TASK_PARSER_UNKNOWN', 'invalid_result'],
      [{ memory: 'elephant' }, 'TASK_MEMORY_UNKNOWN', 'invalid_result'],
      [{ behaviour: 'nobody' }, 'TASK_BEHAVIOUR_UNKNOWN', 'invalid_result'],
    ] as const) {
      const app = await openApp(t)
      const result = await runTaskIn(app, 'x', wish)
      assert.deepEqual(
        [result.status, result.failure_class, result.stop_reason, result.steps, result.issues.map(({ code }) => code)],
        ['failed', failure_class, 'task_validation_failed', 0, [code]],
      )
      assert.deepEqual(kindsOf(await journalOf(app, result.session_id)), ['run_started', 'run_ended'])
    }
  })

  test('case 16: a behaviour that decides for itself needs no model', async (t) => {
    const own = fakeBehaviour({ decide: () => ({ kind: 'final', answer: 'done without one' }) })
    const app = await openApp(t, { behaviours: [own], yaml: 'models: { default: nobody/none }' })
    const result = await runTaskIn(app, 'x', OWN)
    assert.deepEqual([result.status, result.answer], ['done', 'done without one'])
  })

  test('case 17: with words of its own, too, each exchange is in the next request exactly once', async (t) => {
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, { calls: [{ tool: 'poke' }] }, { text: 'done' }])
    let said = 0
    const own = fakeBehaviour({ tools: ['poke'], prepare: () => `word ${++said}` })
    const app = await openApp(t, { model, behaviours: [own], tools: [fakeTool()] })
    await runTaskIn(app, 'x', OWN)
    const words = model.requests[2]?.messages.map((message) => (message.role === 'user' ? message.text : message.role))
    assert.deepEqual(words, ['word 1', 'assistant', 'tool', 'word 2', 'assistant', 'tool', 'word 3'])
  })

  test('Q5: the view an observation is made of: what is new, the step, what is left, the metadata, the env', async (t) => {
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

describe('decisions that are none', () => {
  const poke = { tool: 'poke', args: {} }
  const answer = (text: string): ProposedDecision => ({ kind: 'final', answer: text })
  const faulty: readonly [string, ProposedDecision, RegExp][] = [
    ['an act without actions', { kind: 'act', calls: [] }, /at least one call/],
    ['a branch without candidates', { kind: 'branch', candidates: [] }, /no candidates/],
    [
      'a branch inside a branch',
      { kind: 'branch', candidates: [{ kind: 'branch', candidates: [answer('b')] }] },
      /must not contain another branch/,
    ],
    ['an empty answer', answer(' \n'), /answer was empty/],
    ['a call of a tool that there is not', { kind: 'act', calls: [poke, { tool: 'nope' }] }, /no tool .*nope/],
    [
      'arguments that do not fit',
      { kind: 'act', calls: [poke, { tool: 'create_file', args: {} }] },
      /arguments are invalid/,
    ],
    ['a wait for no time at all', { kind: 'wait', match: 'any', until: Number.NaN, reason: 'tea' }, /until/],
    ['something else', { kind: 'dance' } as unknown as ProposedDecision, /behaviour own .*dance.*expected a decision/],
  ]
  for (const [name, wish, reason] of faulty)
    test(`case 20, Q4: ${name}: nothing runs, the mind hears why, and goes on`, async (t) => {
      const tool = fakeTool()
      let asked = 0
      // Decides badly first, then leaves it to the model, which was told.
      const own = fakeBehaviour({ tools: ['poke', 'create_file'], decide: () => (asked++ === 0 ? wish : undefined) })
      const model = scriptedModel([{ text: 'better now' }])
      const app = await openApp(t, { model, behaviours: [own], tools: [tool] })
      const result = await runTaskIn(app, 'x', OWN)
      assert.deepEqual([result.status, result.answer, tool.receivedArgs.length], ['done', 'better now', 0])
      assert.match(lastMessageIn(model, 0), reason)
      const [failed] = await recordsOf(app, result.session_id, 'failed')
      assert.partialDeepStrictEqual(failed, { phase: 'DECIDE', ruling: { kind: 'feedback' } })
    })

  for (const [name, wish] of faulty)
    test(`case 20, Q4: ${name}, again and again: unrecoverable, as a parse_error`, async (t) => {
      const app = await openApp(t, {
        behaviours: [fakeBehaviour({ tools: ['poke'], decide: () => wish })],
        tools: [fakeTool()],
      })
      const result = await runTaskIn(app, 'x', OWN)
      assert.deepEqual(
        [result.status, result.stop_reason, result.failure_class],
        ['failed', 'unrecoverable_error', 'invalid_result'],
      )
      const [ended] = await recordsOf(app, result.session_id, 'run_ended')
      assert.partialDeepStrictEqual(ended?.failure_report, { phase: 'DECIDE', category: 'parse_error' })
    })

  const empty: ScriptedStep[] = [{ text: ' \n ' }, { calls: [{ tool: 'finish', args: { answer: '  ' } }] }]
  for (const step of empty) {
    const how = step.calls ? '`finish` with an empty answer' : 'a blank answer'
    test(`case 21: ${how} is told back once, and a real one is taken`, async (t) => {
      const model = scriptedModel([step, { text: 'a real one' }])
      const result = await runTaskIn(await openApp(t, { model }))
      assert.deepEqual([result.status, result.answer], ['done', 'a real one'])
      assert.match(lastMessageIn(model, 1), /empty/)
    })

    test(`case 21: ${how}, and then again: unrecoverable`, async (t) => {
      const model = scriptedModel([step, step, { text: 'too late' }])
      const result = await runTaskIn(await openApp(t, { model }))
      assert.deepEqual(
        [result.stop_reason, result.failure_class, model.requests.length],
        ['unrecoverable_error', 'invalid_result', 2],
      )
    })
  }
})

describe("a behaviour's own wait", () => {
  test('Q4: parks without a model, wakes at its deadline, and decides again', async (t) => {
    const clock = new FakeClock()
    const inputs: unknown[] = []
    const own = fakeBehaviour({
      observe: (_, { input }) => {
        inputs.push(input.map((observation) => (observation.type === 'system_event' ? observation.name : 'message')))
        return input.some(({ type }) => type === 'system_event')
      },
      decide: (_, late) =>
        late
          ? { kind: 'final', answer: 'nobody came' }
          : { kind: 'wait', match: 'event:guest', until: clock.now() + 600_000, reason: 'a guest' },
    })
    const app = await openApp(t, { clock, behaviours: [own] })
    const parked = await runTaskIn(app, 'wait for a guest', OWN)
    assert.partialDeepStrictEqual(parked, { status: 'waiting', wait: { match: 'event:guest', reason: 'a guest' } })
    const commits = app.context.store.commits()
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, parked.dispatch_id)).status, 'waiting')
    assert.deepEqual([inputs, app.context.store.commits() - commits], [[['message']], 0], 'waiting costs nothing')
    await clock.advance(600_000)
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, parked.dispatch_id)).result, 'nobody came')
    assert.deepEqual(inputs, [['message'], ['deadline']])
  })
})
