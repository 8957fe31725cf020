/** What was spent by day, agent and model; forecasts of the limits. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../src/app.ts'
import type { CommandOutput } from '../src/commands/lib/registry.ts'
import { MICROS_PER_USD, type SpendGroup } from '../src/domain/money.ts'
import { commitOne } from '../src/ports/store.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { tireless } from './support/command-line.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

const DAY = 86_400_000
const NOON = Date.parse('2030-03-10T12:00:00Z')
const usage = { input_tokens: 0, output_tokens: 10, cached_tokens: 0 }
const YAML = `kernel:
  timezone: UTC
  agents:
    - { agent_id: writer, prompt: write, enabled: false }
    - { agent_id: reader, prompt: read, enabled: false }
budget: { per_day_usd: 2, per_month_usd: 12 }
`

/** Each answer costs a quarter of a dollar. */
const quarterDollarModel = () => ({
  ...scriptedModel(() => ({ text: 'done', usage })),
  price: { input: 0, output: 25_000, max_output: 10 },
})

const spendingBy = (app: App, by: SpendGroup, days = 7): Promise<CommandOutput<'budget spend'>> =>
  app.run('budget spend', { by, days })

describe('budget spend', () => {
  test('I8: a week of work is summed by day, agent and model as in the ledger; idle beats are free', async (t) => {
    const clock = new FakeClock({ now: NOON })
    const app = await openApp(t, { clock, model: quarterDollarModel(), yaml: YAML })
    for (let day = 0; day < 7; day += 1) {
      if (day > 0) await clock.advance(DAY)
      await runTaskIn(app, 'write it', { agent: 'writer' })
      if (day % 2 === 0) await runTaskIn(app, 'read it', { agent: 'reader' })
      await app.run('cycle now', {})
    }
    const agents = await spendingBy(app, 'agent')
    assert.deepEqual(
      agents.keys.map(({ key, usd, calls }) => [key, usd, calls]),
      [
        ['writer', 1.75, 7],
        ['reader', 1, 4],
      ],
    )
    assert.equal(agents.items.length, 11)
    for (const by of ['day', 'agent', 'model'] as const) {
      const { total, items, beats } = await spendingBy(app, by)
      const ledger = await app.context.store.spend('2030-01-01', '2030-12-31')
      assert.equal(total.usd, ledger.reduce((sum, { usd }) => sum + usd, 0) / MICROS_PER_USD)
      assert.equal(
        total.usd,
        items.reduce((sum, { usd }) => sum + usd, 0),
      )
      assert.deepEqual(beats, { ended: 7, quiet: 7 })
    }
    assert.equal((await spendingBy(app, 'day', 1)).total.usd, 0.5, 'only today')
  })

  test('the smallest spenders are summed up, and the most expensive runs are named', async (t) => {
    const clock = new FakeClock({ now: NOON })
    const app = await openApp(t, { clock, model: quarterDollarModel(), yaml: YAML })
    const { dispatch_id } = await runTaskIn(app, 'write it', { agent: 'writer' })
    const spender = { kernel_id: 'default', model: 'p/m', day: '2030-03-10' }
    for (const [n, agent_id] of ['a', 'b', 'c'].entries())
      await commitOne(app.context.store, [
        { op: 'spent', id: agent_id, dispatch_id: agent_id, agent_id, usd: 1000 * (n + 1), usage, ...spender },
      ])
    const { keys, items, runs } = await app.run('budget spend', { by: 'agent', top: 2, runs: 5 })
    assert.deepEqual(
      keys.map(({ key, usd }) => [key, usd]),
      [
        ['writer', 0.25],
        ['c', 0.003],
        [null, 0.003],
      ],
    )
    assert.deepEqual(
      items.map(({ key }) => key),
      ['c', 'writer', null],
    )
    assert.deepEqual(
      runs.map(({ run_id, agent_id, usd, task }) => ({ run_id, agent_id, usd, task })),
      [{ run_id: dispatch_id, agent_id: 'writer', usd: 0.25, task: 'write it' }],
    )
  })

  test('budget show says when each limit is reached, and what the month will cost', async (t) => {
    const clock = new FakeClock({ now: NOON })
    const app = await openApp(t, { clock, model: quarterDollarModel(), yaml: YAML })
    const reachedAt = async () => {
      const { caps } = await app.run('budget show', {})
      return caps.map(({ reached_at }) => reached_at)
    }
    for (let n = 0; n < 3; n += 1) await runTaskIn(app)
    assert.deepEqual(await reachedAt(), [null, '2030-03-18T15:00:00.000Z'], '0.75 dollars in twelve hours')
    for (let n = 0; n < 3; n += 1) await runTaskIn(app)
    assert.deepEqual(await reachedAt(), ['2030-03-10T16:00:00.000Z', '2030-03-14T07:00:00.000Z'])
    const { forecast } = await app.run('budget show', {})
    const usual = 1.5 * (24 / 13)
    assert.equal(forecast.this_month_usd?.toFixed(4), (usual * 22).toFixed(4), 'today and the 21 days after it')
    for (let n = 0; n < 2; n += 1) await runTaskIn(app)
    assert.equal((await reachedAt())[0], '2030-03-10T12:00:00.000Z', 'it is reached now')
  })

  test('the command line prints days, beats and runs', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, model: quarterDollarModel(), yaml: YAML })
    await runTaskIn(app)
    await app.close()
    const { stdout, exit } = await tireless(home, 'budget', 'spend', '--by', 'agent', '--runs', '3')
    assert.equal(exit, 0)
    assert.match(stdout, /: \$0\.25, 1 calls\n0 of 0 beats.*\nday +of +usd +calls +tokens\n.*default +\$0\.25 +1 +10\n/)
    assert.match(stdout, /the task/)
  })
})
