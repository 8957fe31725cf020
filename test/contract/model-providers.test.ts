/** Models that plugins add: named in the configuration like any others, within the same budgets. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Model, ModelProvider } from '../../src/ports/model.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { advanceUntilDone, openApp, runTaskIn } from '../support/open-app.ts'

const PRICE = { input: 1, output: 1, max_output: 100 }

/** Answers with its own name. */
const mine = (more: Partial<Model> = {}, models = ['fast', 'slow']): ModelProvider => ({
  name: 'mine',
  models,
  open: (model) => ({ ...scriptedModel(() => ({ text: `I am ${model}` })), price: PRICE, ...more }),
})

const yaml = (models: string, more = ''): string => `sandbox: off\nmodels: { ${models} }\n${more}`

describe('model providers of plugins', () => {
  test('Q18: a configuration names added models: default, fallback, planner, per task', async (t) => {
    const broken: ModelProvider = {
      name: 'broken',
      models: ['one'],
      open: () => ({ price: PRICE, call: () => Promise.reject(new Error('no line')) }),
    }
    const plugin = definePlugin({
      ...{ name: 'my models', needs: ['modelProviders'] },
      setup: (host) => host.get('modelProviders').add(mine()),
    })
    const clock = new FakeClock()
    const app = await openApp(t, {
      ...{ clock, modelProviders: [broken], plugins: [plugin] },
      yaml: yaml('default: broken/one, fallback: [mine/fast], planner: mine/slow'),
    })
    const { answer, error } = await advanceUntilDone(clock, runTaskIn(app))
    assert.deepEqual({ answer, error }, { answer: 'I am fast', error: null })
    assert.equal((await runTaskIn(app, 'the task', { model: 'mine/slow' })).answer, 'I am slow')
    assert.deepEqual(await app.service('models').fallbackChain({ phase: 'planner' }), ['mine/slow', 'mine/fast'])
    const { items } = await app.run('models list', {})
    assert.deepEqual(
      items.filter(({ source }) => source === 'plugin').map(({ id, key, price, problem }) => [id, key, price, problem]),
      ['broken/one', 'mine/fast', 'mine/slow'].map((id) => [id, 'none', PRICE, null]),
    )
  })

  test('Q18: budgets and configured prices apply; a model without a price needs one', async (t) => {
    const app = await openApp(t, {
      modelProviders: [mine()],
      yaml: yaml(
        'default: mine/fast, prices: { "mine/slow": { input: 1000000, output: 1000000 } }',
        'budget: { per_day_usd: 1 }',
      ),
    })
    assert.equal((await runTaskIn(app)).answer, 'I am fast')
    assert.equal((await app.context.store.spend('2000-01-01', '9999-12-31'))[0]?.model, 'mine/fast')
    const dear = await runTaskIn(app, 'the task', { model: 'mine/slow' })
    assert.deepEqual(
      { reason: dear.stop_reason, code: dear.error?.slice(0, 12) },
      { reason: 'budget_money', code: 'budget_money' },
    )
    const { price: _, ...free } = mine().open('fast')
    const unpriced = await openApp(t, {
      modelProviders: [{ ...mine(), open: () => free }],
      yaml: yaml('default: mine/fast', 'budget: { per_day_usd: 1 }'),
    })
    assert.match((await runTaskIn(unpriced)).error ?? '', /budget_unpriced: the model has no price.*mine\/fast/)
  })

  test('a model that throws, hangs or returns nonsense fails the run and is named', async (t) => {
    const faults: [string, Partial<ModelProvider>, RegExp][] = [
      ['open throws', { open: () => assert.fail('no key') }, /model provider mine cannot open mine\/fast; got no key/],
      [
        'open: 42',
        { open: () => 42 as never },
        /model provider mine returned an invalid value from open\("fast"\); got 42/,
      ],
      ['open: nothing', { open: () => undefined as never }, /model provider mine returned an invalid value/],
      [
        'price',
        { open: () => ({ call: async () => 1 as never, price: { ...PRICE, input: Number.NaN } }) },
        /price\.input: invalid model mine\/fast; got NaN/,
      ],
      [
        'call throws',
        mine({ call: () => assert.fail('no line') }),
        /model_cut: model mine\/fast failed in call\(\): no line.*3 failures/,
      ],
      [
        'call hangs',
        mine({ call: () => new Promise(() => {}) }),
        /model_timeout: model mine\/fast was silent for 5000 ms/,
      ],
      [
        'call: 42',
        mine({ call: async () => 42 as never }),
        /model_garbled: model mine\/fast returned an invalid value from call\(\)/,
      ],
      ['call: NaN', mine({ call: async () => Number.NaN as never }), /model_garbled: .*model mine\/fast/],
      ['call: long', mine({ call: async () => 'x'.repeat(100_000_000) as never }), /model_garbled: .*model mine\/fast/],
    ]
    for (const [what, fault, error] of faults) {
      const clock = new FakeClock()
      const own = { clock, modelProviders: [{ ...mine(), ...fault }], yaml: yaml('default: mine/fast, timeout: 5s') }
      const app = await openApp(t, own)
      const result = await advanceUntilDone(clock, runTaskIn(app))
      assert.deepEqual({ what, status: result.status }, { what, status: 'failed' })
      assert.match(result.error ?? '', error)
      assert.ok(await app.run('models list', {}))
      await app.close()
    }
  })

  test('an invalid provider is refused at the start; of an unknown model, the known ones are named', async (t) => {
    for (const [provider, error] of [
      [{ ...mine(), name: 'openai' }, /the model provider openai is built in/],
      [mine({}, []), /models: invalid model provider mine; got .*expected a list of one or more names/],
      [{ name: 'mine', models: ['fast'] } as never, /open: invalid entry mine in modelProviders/],
    ] as const)
      await assert.rejects(openApp(t, { modelProviders: [provider] }), error)
    const app = await openApp(t, { modelProviders: [mine()], yaml: yaml('default: mine/fast') })
    const { error } = await runTaskIn(app, 'the task', { model: 'mine/big' })
    assert.match(error ?? '', /unknown model; got mine\/big; expected mine\/fast or mine\/slow/)
  })
})
