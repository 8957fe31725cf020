import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeTool, lastMessageIn, PURE, resultsOf } from '../support/fake-tools.ts'
import { openApp, replayIn, runTaskIn } from '../support/open-app.ts'

const pokeStep = (args: { readonly [name: string]: number | string } = { who: 'a' }): ScriptedStep => ({
  calls: [{ tool: 'poke', args }],
})
const finalStep: ScriptedStep = { text: 'done' }

const times = (n: number, step: ScriptedStep = pokeStep()): ScriptedStep[] => Array.from({ length: n }, () => step)

const isWarned = (model: ScriptedModel, nth: number): boolean => lastMessageIn(model, nth).includes('[warning]')

describe('the same call with the same result', () => {
  test('case 36: the third repetition carries a warning, the fourth is blocked', async (t) => {
    const tool = fakeTool()
    const model = scriptedModel([...times(4), finalStep])
    const app = await openApp(t, { model, tools: [tool] })
    const { session_id, status } = await runTaskIn(app)
    assert.equal(status, 'done')
    assert.deepEqual(
      [1, 2, 3].map((nth) => isWarned(model, nth)),
      [false, false, true],
    )
    assert.deepEqual(
      (await resultsOf(app, session_id)).map((result) => result.status),
      ['ok', 'ok', 'ok', 'blocked'],
    )
    assert.equal(tool.receivedArgs.length, 3)
    assert.match(lastMessageIn(model, 4), /\[blocked\].*Do something else/)
  })

  test('case 36: three blocked steps in a row end the run as stagnation', async (t) => {
    const tool = fakeTool()
    const result = await runTaskIn(await openApp(t, { model: scriptedModel(times(20)), tools: [tool] }))
    assert.deepEqual(
      {
        stop_reason: result.stop_reason,
        failure_class: result.failure_class,
        steps: result.steps,
        receivedArgs: tool.receivedArgs.length,
      },
      { stop_reason: 'stagnation', failure_class: 'invalid_result', steps: 6, receivedArgs: 3 },
    )
  })

  test('case 36: a different call in between resets the count', async (t) => {
    const tool = fakeTool()
    const model = scriptedModel([...times(3), ...times(1, pokeStep({ who: 'b' })), ...times(2), finalStep])
    const app = await openApp(t, { model, tools: [tool] })
    await runTaskIn(app)
    assert.equal(tool.receivedArgs.length, 6)
  })

  test('case 36: a call with changing results is not a repetition', async (t) => {
    let n = 0
    const tool = fakeTool({ run: () => `now ${n++}` })
    const model = scriptedModel([...times(8), finalStep])
    await runTaskIn(await openApp(t, { model, tools: [tool] }))
    assert.equal(tool.receivedArgs.length, 8)
  })

  test('case 36: volatile arguments are ignored in the comparison', async (t) => {
    for (const [volatile, runs] of [
      [['id'], 3],
      [[], 6],
    ] as const) {
      const tool = fakeTool({ volatile })
      const steps = Array.from({ length: 6 }, (_, id) => pokeStep({ who: 'a', id }))
      const result = await runTaskIn(await openApp(t, { model: scriptedModel([...steps, finalStep]), tools: [tool] }))
      assert.equal(tool.receivedArgs.length, runs, `${volatile}: ${result.stop_reason}`)
    }
  })

  test('case 36: parallel calls of one step count too: the third is warned, the next step blocked', async (t) => {
    const tool = fakeTool({ effect: PURE })
    const four: ScriptedStep = { calls: Array.from({ length: 4 }, () => ({ tool: 'poke', args: { who: 'a' } })) }
    const model = scriptedModel([four, pokeStep(), finalStep])
    const app = await openApp(t, { model, tools: [tool] })
    const { session_id } = await runTaskIn(app)
    const results = await resultsOf(app, session_id)
    assert.deepEqual(
      results.map(({ status, content }) => ({ status, hasWarning: content.includes('[warning]') })),
      [
        { status: 'ok', hasWarning: false },
        { status: 'ok', hasWarning: false },
        { status: 'ok', hasWarning: true },
        { status: 'ok', hasWarning: false },
        { status: 'blocked', hasWarning: false },
      ],
    )
  })

  test('case 9: repetitions of one run do not count in the next', async (t) => {
    const tool = fakeTool()
    const model = scriptedModel((request) => {
      const calls = request.messages.slice(request.messages.findLastIndex(({ role }) => role === 'user'))
      return calls.length < 6 ? pokeStep() : finalStep
    })
    const app = await openApp(t, { model, tools: [tool] })
    const { session_id } = await runTaskIn(app)
    await app.run('send', { session: session_id, text: 'once more' })
    await app.run('start', { until_idle: true })
    const statuses = (await resultsOf(app, session_id)).map(({ status }) => status)
    assert.deepEqual(statuses, ['ok', 'ok', 'ok', 'ok', 'ok', 'ok'])
  })
})

describe('alternating calls with the same results', () => {
  const round = (...who: readonly string[]): ScriptedStep[] => who.map((name) => pokeStep({ who: name }))
  const rounds = (n: number, ...who: readonly string[]): ScriptedStep[] =>
    Array.from({ length: n }, () => round(...who)).flat()

  for (const pattern of [
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['a', 'a', 'b'],
  ])
    test(`case 36: ${pattern.join('-')}: the third round ends with a warning, then calls are blocked`, async (t) => {
      const tool = fakeTool({ run: ({ who }) => `${who} again` })
      const model = scriptedModel([...rounds(3, ...pattern), ...round(...pattern.slice(0, 2)), finalStep])
      const app = await openApp(t, { model, tools: [tool] })
      const { session_id, dispatch_id, status } = await runTaskIn(app)
      assert.equal(status, 'done')
      const results = await resultsOf(app, session_id)
      const last = 3 * pattern.length
      assert.deepEqual(
        results.map((result) => result.status),
        [...Array.from({ length: last }, () => 'ok'), 'blocked', 'blocked'],
      )
      assert.deepEqual(
        results.flatMap(({ content }, i) => (content.includes('[warning]') ? [i] : [])),
        [last - 1],
      )
      assert.match(lastMessageIn(model, last), new RegExp(`The same ${pattern.length} calls in turn`))
      assert.equal(tool.receivedArgs.length, last)
      const replayed = await replayIn(app, dispatch_id)
      assert.equal(replayed.identical, true)
    })

  test('case 36: continued alternation ends the run as stagnation', async (t) => {
    const tool = fakeTool()
    const result = await runTaskIn(await openApp(t, { model: scriptedModel(rounds(20, 'a', 'b')), tools: [tool] }))
    assert.deepEqual(
      { stop_reason: result.stop_reason, steps: result.steps, receivedArgs: tool.receivedArgs.length },
      { stop_reason: 'stagnation', steps: 9, receivedArgs: 6 },
    )
  })

  test('case 36: the calls of one step count in their order', async (t) => {
    const tool = fakeTool()
    const both: ScriptedStep = { calls: ['a', 'b'].map((who) => ({ tool: 'poke', args: { who } })) }
    const app = await openApp(t, { model: scriptedModel([...times(4, both), finalStep]), tools: [tool] })
    const { session_id } = await runTaskIn(app)
    const statuses = (await resultsOf(app, session_id)).map(({ status }) => status)
    assert.deepEqual(statuses.slice(-3), ['ok', 'blocked', 'blocked'])
    assert.equal(tool.receivedArgs.length, 6)
  })

  test('case 36: a different call resets the pattern', async (t) => {
    const tool = fakeTool()
    const script = [...rounds(3, 'a', 'b'), ...round('x', 'a', 'b', 'a', 'b'), finalStep]
    await runTaskIn(await openApp(t, { model: scriptedModel(script), tools: [tool] }))
    assert.equal(tool.receivedArgs.length, 11)
  })

  test('case 36: a pattern with one changing result is not a repetition', async (t) => {
    let n = 0
    const tool = fakeTool({ run: ({ who }) => (who === 'b' ? `now ${n++}` : 'the same') })
    await runTaskIn(await openApp(t, { model: scriptedModel([...rounds(5, 'a', 'b'), finalStep]), tools: [tool] }))
    assert.equal(tool.receivedArgs.length, 10)
  })

  test('case 36: patterns of two tools ignore volatile arguments', async (t) => {
    const tools = [fakeTool({ name: 'look', volatile: ['id'] }), fakeTool({ name: 'listen' })]
    const script = Array.from({ length: 4 }, (_, id): ScriptedStep[] => [
      { calls: [{ tool: 'look', args: { id } }] },
      { calls: [{ tool: 'listen' }] },
    ]).flat()
    await runTaskIn(await openApp(t, { model: scriptedModel([...script, finalStep]), tools }))
    assert.deepEqual(
      tools.map(({ receivedArgs }) => receivedArgs.length),
      [3, 3],
    )
  })

  test('twelve steps in a row without a new result are stagnation, without direct repetition too', async (t) => {
    const round = ['a', 'b', 'c', 'd', 'e']
    let modelCalls = 0
    const model = scriptedModel(() => pokeStep({ who: round[modelCalls++ % round.length] ?? '' }))
    const app = await openApp(t, { model, tools: [fakeTool()] })
    const result = await runTaskIn(app)
    assert.deepEqual(
      { stop_reason: result.stop_reason, failure_class: result.failure_class, modelCalls },
      { stop_reason: 'stagnation', failure_class: 'invalid_result', modelCalls: 17 },
    )
    assert.match(result.error ?? '', /12 steps in a row returned nothing new/)
    assert.match(JSON.stringify(await replayIn(app, result.dispatch_id)), /"identical":true/)
  })
})
