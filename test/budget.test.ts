import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { TirelessError } from '../src/domain/error.ts'
import type { Model } from '../src/ports/model.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { advanceUntilDone, freshFolder, journalOf, openApp, replayIn, runTaskIn } from './support/open-app.ts'
import { startPaidProvider } from './support/paid-provider.ts'

const DAY = 86_400_000
const NOON = Date.parse('2030-03-10T12:00:00Z')
const usage = { input_tokens: 0, output_tokens: 10, cached_tokens: 0 }

/** Each answer costs a quarter of a dollar, which is known beforehand. */
const quarterDollarModel = (more: Partial<Model> = {}): Model => ({
  ...scriptedModel(() => ({ text: 'done', usage })),
  price: { input: 0, output: 25_000, max_output: 10 },
  ...more,
})

describe('the budget (I11)', () => {
  test('case 140: 50 workers with three prices never exceed the cap, as the provider counts it', async (t) => {
    const prices = { m1: { input: 1, output: 20 }, m2: { input: 7, output: 1 }, m3: { input: 0.3, output: 60 } }
    const provider = await startPaidProvider(t, prices, 140)
    const agents = Object.keys(prices).map((name) => ({ agent_id: name, prompt: 'p', model: `local/${name}` }))
    const app = await openApp(t, {
      yaml: JSON.stringify({
        kernel: { max_concurrent: 50, agents },
        models: {
          default: 'local/m1',
          max_output: 1000,
          providers: { local: { type: 'openai-compatible', base_url: provider.url, stream: false } },
          prices: Object.fromEntries(Object.entries(prices).map(([name, price]) => [`local/${name}`, price])),
        },
        budget: { per_day_usd: 1 },
      }),
    })
    for (let n = 0; n < 150; n++) await app.run('enqueue', { agent: `m${(n % 3) + 1}`, prompt: `task ${n}` })
    await app.run('start', { until_idle: true })
    assert.ok(provider.charged() <= 1, `${provider.charged()} USD were charged`)
    assert.ok(provider.charged() > 0.5, 'most of the budget should be spent')
    const { items } = await app.run('queue list', { limit: 1000 })
    const failed = items.filter(({ status }) => status !== 'done')
    assert.ok(failed.length > 0 && failed.every(({ failure_class }) => failure_class === 'budget'))
    const { today } = await app.run('budget show', {})
    assert.equal(today.reserved_usd, 0)
    assert.ok(Math.abs(today.usd - provider.charged()) < 0.001, `${today.usd} booked, ${provider.charged()} charged`)
    assert.equal(today.calls, provider.calls())
  })

  test('case 140: at the cap every entry point is refused with class budget; the next day continues', async (t) => {
    const clock = new FakeClock({ now: NOON })
    const model = quarterDollarModel()
    const app = await openApp(t, { clock, model, yaml: 'kernel: { timezone: UTC }\nbudget: { per_day_usd: 0.5 }' })
    for (const answer of ['done', 'done', null]) assert.equal((await runTaskIn(app)).answer, answer)
    const refused = await runTaskIn(app)
    assert.deepEqual(
      { stop_reason: refused.stop_reason, failure_class: refused.failure_class, status: refused.status },
      { stop_reason: 'budget_money', failure_class: 'budget', status: 'failed' },
    )
    assert.match(refused.error ?? '', /0\.5 USD spent.*at most 0\.5 USD \(budget\.per_day_usd\).*next day/)
    const { dispatch_id } = await app.run('enqueue', { prompt: 'x' })
    await app.run('start', { until_idle: true })
    assert.equal((await app.run('queue show', { id: dispatch_id })).failure_class, 'budget')
    assert.match(JSON.stringify(await app.run('models test', {})), /"ok":false.*budget_money/)
    const { spend } = await app.run('status', {})
    assert.deepEqual(spend, { today_usd: 0.5, cap_usd: 0.5, calls: 2 })
    await clock.advance(DAY)
    assert.equal((await runTaskIn(app)).answer, 'done')
    assert.match(JSON.stringify(await app.run('models test', {})), /"ok":true/)
    const { forecast } = await app.run('budget show', {})
    assert.deepEqual(forecast, { day_usd: 0.5, month_usd: 15, days: 1, this_month_usd: 0.5 + 0.5 + 20 * 0.5 })
  })

  test('a model without a price is refused with the line to add; with that line it is asked', async (t) => {
    const provider = await startPaidProvider(t, {}, 1)
    const yaml = (prices: string): string => `models:
  default: local/m1
  providers: { local: { type: openai-compatible, base_url: "${provider.url}", stream: false } }
  ${prices}
budget: { per_day_usd: 1 }`
    const home = freshFolder(t)
    const app = await openApp(t, { home, yaml: yaml('') })
    const refused = await runTaskIn(app)
    assert.deepEqual(
      { stop_reason: refused.stop_reason, failure_class: refused.failure_class },
      { stop_reason: 'budget_money', failure_class: 'budget' },
    )
    assert.match(refused.error ?? '', /models: \{ prices: \{ "local\/m1": \{ input: …, output: … \} \} \}/)
    assert.equal(provider.calls(), 0)
    await app.close()
    const priced = await openApp(t, { home, yaml: yaml('prices: { "local/*": { input: 0, output: 0 } }') })
    assert.equal((await runTaskIn(priced)).answer, 'done')
    await priced.close()
    const unlimited = await openApp(t, { home, yaml: yaml('').replace('per_day_usd: 1', 'per_day_usd: null') })
    assert.equal((await runTaskIn(unlimited)).answer, 'done')
  })

  test('a server on this machine is free if no budget is set', async (t) => {
    const provider = await startPaidProvider(t, {}, 1)
    const app = await openApp(t, {
      yaml: `models:
        default: local/m1
        providers: { local: { type: openai-compatible, base_url: "${provider.url}", stream: false } }`,
    })
    assert.equal((await runTaskIn(app)).answer, 'done')
  })

  test('a refused call costs nothing; an interrupted one counts as its maximum', async (t) => {
    for (const [code, left] of [
      ['model_unavailable', 0.25],
      ['model_cut', 0],
    ] as const) {
      const clock = new FakeClock({ now: NOON })
      const faulty = scriptedModel([{ text: 'done', usage, faults: [new TirelessError(code, 'no')] }])
      const app = await openApp(t, {
        clock,
        model: { ...faulty, price: quarterDollarModel().price ?? null },
        yaml: 'kernel: { timezone: UTC }\nbudget: { per_day_usd: 0.5 }',
      })
      assert.equal((await advanceUntilDone(clock, runTaskIn(app))).answer, 'done')
      const { caps } = await app.run('budget show', {})
      assert.deepEqual(
        caps.map((cap) => cap.left),
        [left],
      )
    }
  })

  test('the journal records money: reserved with the request, settled with the answer', async (t) => {
    const app = await openApp(t, { model: quarterDollarModel() })
    const { session_id, dispatch_id } = await runTaskIn(app)
    const journal = await journalOf(app, session_id)
    const amounts = journal.flatMap((record) =>
      record.kind === 'model_requested' ? [record.reserved] : record.kind === 'model_answered' ? [record.usd] : [],
    )
    assert.deepEqual(amounts, [0.25, 0.25])
    assert.match(JSON.stringify(await replayIn(app, dispatch_id)), /"identical":true/)
  })

  test('a refused request replays identically', async (t) => {
    const app = await openApp(t, { model: quarterDollarModel(), yaml: 'budget: { per_day_usd: 0.2 }' })
    const { dispatch_id, stop_reason } = await runTaskIn(app)
    assert.equal(stop_reason, 'budget_money')
    assert.match(JSON.stringify(await replayIn(app, dispatch_id)), /"identical":true/)
  })

  test('caps on calls and tokens, per agent and per kernel, stop with their own reasons', async (t) => {
    for (const [budget, reason] of [
      ['per_day_calls: 1', 'budget_steps'],
      ['per_agent_calls: 1', 'budget_steps'],
      ['per_day_tokens: 10', 'budget_tokens'],
      ['per_kernel_usd: 0.25', 'budget_money'],
      ['per_month_usd: 0.3', 'budget_money'],
    ]) {
      const app = await openApp(t, { model: quarterDollarModel(), yaml: `budget: { ${budget} }` })
      assert.equal((await runTaskIn(app)).answer, 'done')
      const result = await runTaskIn(app)
      assert.deepEqual(
        { stop_reason: result.stop_reason, failure_class: result.failure_class },
        { stop_reason: reason, failure_class: 'budget' },
      )
    }
  })

  test('budget set takes effect at once and changes only its line of the file', async (t) => {
    const home = freshFolder(t)
    const yaml = `# mine\nkernel: { id: k1 } # the first\nbudget:\n  per_day_usd: 0.25 # a quarter\n`
    const app = await openApp(t, { home, model: quarterDollarModel(), yaml })
    await runTaskIn(app)
    assert.equal((await runTaskIn(app)).failure_class, 'budget')
    await app.run('budget set', { key: 'per_day_usd', value: '0.5' })
    assert.equal((await runTaskIn(app)).answer, 'done')
    assert.equal(readFileSync(join(home, 'tireless.yaml'), 'utf8'), yaml.replace('0.25', '0.5'))
    await app.run('budget set', { key: 'per_day_usd', value: 'none' })
    assert.equal((await runTaskIn(app)).answer, 'done')
    const before = readFileSync(join(home, 'tireless.yaml'), 'utf8')
    for (const [key, value] of [
      ['per_day_usd', '-1'],
      ['per_day_usd', 'x'],
      ['per_dya_usd', '1'],
    ])
      await assert.rejects(async () => app.run('budget set', { key: key ?? '', value: value ?? '' }), /per_d/)
    assert.equal(readFileSync(join(home, 'tireless.yaml'), 'utf8'), before)
  })

  test('budget set creates a missing file', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    await app.run('budget set', { key: 'per_month_usd', value: '20' })
    assert.equal(readFileSync(join(home, 'tireless.yaml'), 'utf8'), 'budget:\n  per_month_usd: 20\n')
    writeFileSync(join(home, 'tireless.yaml'), 'budget:\n')
    await app.run('budget set', { key: 'per_month_usd', value: '20' })
    assert.equal(readFileSync(join(home, 'tireless.yaml'), 'utf8'), 'budget:\n  per_month_usd: 20\n')
  })
})
