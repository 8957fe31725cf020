import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ModelAnswer } from '../../src/domain/journal-record.ts'
import type { Model } from '../../src/ports/model.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeBehaviour, fakeTool, recordsOf } from '../support/fake-tools.ts'
import { advanceUntilDone, openApp, runTaskIn } from '../support/open-app.ts'

const USAGE = { input_tokens: 1, output_tokens: 2, cached_tokens: 0 }
const FINAL = { text: 'done', calls: [], finish: 'stop', usage: USAGE }

const modelOf = (answer: object): Model => ({ id: 'odd/one', call: async () => answer as ModelAnswer })
const pokingModel = () => scriptedModel([{ calls: [{ tool: 'poke' }] }, { text: 'done' }])
const ownBehaviour = () => fakeBehaviour({ tools: ['poke'] })

describe('validation of return values', () => {
  const invalidAnswers: readonly [object, string][] = [
    [{ ...FINAL, usage: undefined }, 'at usage: Invalid input: expected object, received undefined'],
    [
      { ...FINAL, usage: { ...USAGE, input_tokens: -1 } },
      'at usage.input_tokens: Too small: expected number to be >=0',
    ],
    [
      { ...FINAL, usage: { ...USAGE, written_tokens: 0.5 } },
      'at usage.written_tokens: Invalid input: expected int, received number',
    ],
    [{ ...FINAL, finish: 'end' }, 'at finish: Invalid option: expected one of "stop"|"calls"|"length"'],
    [
      { ...FINAL, calls: [{ id: 'a', tool: 'poke', args: {} }] },
      'at calls.0.args: Invalid input: expected string, received object',
    ],
  ]
  for (const [answer, where] of invalidAnswers)
    test(`the error names path, value and expectation: ${where}`, async (t) => {
      const clock = new FakeClock()
      const app = await openApp(t, { clock, yaml: 'sandbox: off\n', model: modelOf(answer) })
      const { error } = await advanceUntilDone(clock, runTaskIn(app))
      assert.ok(
        error?.includes(`model odd/one returned an invalid value from call() (${where}); got `),
        error ?? undefined,
      )
    })

  test('only known fields of a model answer are recorded', async (t) => {
    const more = { ...FINAL, usage: { ...USAGE, more: 1 }, raw: { whole: 'response' } }
    const app = await openApp(t, { model: modelOf(more) })
    const { session_id } = await runTaskIn(app)
    const [{ answer } = {}] = await recordsOf(app, session_id, 'model_answered')
    assert.deepEqual(answer, FINAL)
  })

  test('the effect of a call is computed once', async (t) => {
    const calls: string[] = []
    const effect: AnyTool['effect'] = () => {
      calls.push('effect')
      return { recovery: 'pure', reach: 'none' }
    }
    const app = await openApp(t, {
      model: pokingModel(),
      tools: [Object.assign(fakeTool({ name: 'poke' }), { effect })],
      behaviours: [ownBehaviour()],
    })
    assert.equal((await runTaskIn(app, 'poke', { behaviour: 'own' })).status, 'done')
    assert.deepEqual(calls, ['effect'])
  })

  test('invalid facts fail the call with their path', async (t) => {
    const tool = fakeTool({ name: 'poke' })
    const run: AnyTool['run'] = async () => ({ status: 'ok', content: 'poked', facts: { label: { trust: 'mine' } } })
    const app = await openApp(t, {
      model: pokingModel(),
      tools: [Object.assign(tool, { run })],
      behaviours: [ownBehaviour()],
    })
    const { session_id } = await runTaskIn(app, 'poke', { behaviour: 'own' })
    const [settled] = await recordsOf(app, session_id, 'call_settled')
    assert.equal(settled?.result.status, 'error')
    assert.match(
      settled?.result.content ?? '',
      /at label\.trust: Invalid option: expected one of "trusted"\|"untrusted"/,
    )
  })
})
