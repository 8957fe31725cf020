/** The command simulate: coming beats, conflicts and cost, without running anything. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { type ModelScript, scriptedModel } from '../src/testing/scripted-model.ts'
import { tireless } from './support/command-line.ts'
import { advanceUntilDone, freshFolder, openApp, runTaskIn } from './support/open-app.ts'
import { addSchedule, NOON, openScheduled, YAML } from './support/scheduled-app.ts'

describe('simulate', () => {
  test('E1: lists the coming beats by day, with conflicts, and runs nothing', async (t) => {
    const { app, clock } = await openScheduled(t)
    await addSchedule(app, { id: 'tea', agent: 'report', prompt: 'make tea', cron: '0 9 * * *' })
    const simulation = await app.run('simulate', { days: 2, limit: 3 })
    assert.deepEqual(
      { from: simulation.from, until: simulation.until },
      { from: '2026-01-15T12:00:00.001Z', until: '2026-01-17T12:00:00.001Z' },
    )
    assert.equal(simulation.timezone, 'Asia/Shanghai')
    assert.deepEqual(
      simulation.days.map(({ date, beats }) => ({ date, beats })),
      [
        { date: '2026-01-15', beats: 23 + 1 },
        { date: '2026-01-16', beats: 144 + 1 + 1 },
        { date: '2026-01-17', beats: 121 + 1 },
      ],
    )
    assert.deepEqual(
      { totalBeats: simulation.total.beats, simulationBeats: simulation.beats.length },
      { totalBeats: 292, simulationBeats: 3 },
    )
    assert.deepEqual(
      simulation.conflicts.map(({ kind, schedules, times, first }) => ({
        kind,
        schedules: schedules.join(),
        times,
        first,
      })),
      [
        { kind: 'together', schedules: 'kernel:default,agent:tender', times: 2, first: '2026-01-15T13:00:00.000Z' },
        { kind: 'together', schedules: 'kernel:default,tea', times: 2, first: '2026-01-16T01:00:00.000Z' },
      ],
    )
    assert.deepEqual(
      { guessed: simulation.guessed, unpriced: simulation.unpriced },
      { guessed: [], unpriced: ['report', 'tender'] },
    )
    assert.equal(clock.now(), NOON + 1)
    assert.deepEqual(Object.values(await app.context.store.counts()).filter(Boolean), [])
  })

  test('E1: estimates cost from past runs; an agent without runs is listed as a guess', async (t) => {
    const clock = new FakeClock({ now: NOON + 1 })
    const usage = (input_tokens: number) => ({ input_tokens, output_tokens: 0, cached_tokens: 0 })
    const script: ModelScript = ({ messages }) => {
      const asked = JSON.stringify(messages)
      // This run does not end, so its cost must not count.
      if (asked.includes('endless')) return { calls: [{ tool: 'wait', args: { for: 'a reply' } }], usage: usage(10) }
      return { text: 'done', usage: usage(asked.includes('short') ? 1000 : 4000) }
    }
    const model = { ...scriptedModel(script), price: { input: 100, output: 100, max_output: 10 } }
    const app = await openApp(t, { clock, model, yaml: `${YAML}budget: { per_day_usd: null }\n` })
    for (const task of ['a short one', 'a long one', 'an endless one'])
      await advanceUntilDone(clock, runTaskIn(app, task, { agent: 'report' }))
    const { total, guessed, unpriced } = await app.run('simulate', {})
    assert.equal(total.dispatches, 145)
    // The agent `tender` has no runs, so its one run of the day is a guess.
    const guess = total.usd_high - 57.6
    assert.ok(guess > 0.5 && guess < 5, `${guess}`)
    assert.deepEqual((total.usd_low - guess).toFixed(2), '14.40')
    assert.deepEqual({ guessed, unpriced }, { guessed: ['tender'], unpriced: [] })
  })

  test('E1: prints schedules as a table, and days and conflicts as lines', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'tireless.yaml'), YAML.replace('timeout: 5m', 'timeout: 15m'))
    const added = await tireless(home, 'schedule', 'add', '--agent', 'report', '--every', '90m', '--id', 'tea')
    assert.equal(added.exit, 0, added.stderr)
    const { stdout: listed } = await tireless(home, 'schedule', 'list')
    assert.match(listed, /id +when +cron line +timezone +agents +next +last/)
    assert.match(listed, /kernel:default +every 10 minutes +\*\/10 \* \* \* \* +Asia\/Shanghai +report +(?:in|now)/)
    assert.match(listed, /tea +every 90 minutes +- +Asia\/Shanghai +report +(?:in|today|tomorrow) /)
    const { stdout: days, exit } = await tireless(home, 'simulate', '--days', '1')
    assert.equal(exit, 0)
    assert.match(days, /until .* \(Asia\/Shanghai\): 161 beats, at most 161 dispatches, \$0\.00 to \$0\.00/)
    assert.match(days, /date +beats +dispatches +usd/)
    assert.match(
      days,
      /too_close +kernel:default: report is due again after 10m but may run for 15m: 143 times, first at/,
    )
  })
})

test('E1: a calendar lists rare beats, sums up frequent ones, and names crowded hours and likely cost', async (t) => {
  const yaml = `budget: { per_day_usd: 3 }
kernel:
  timezone: Asia/Kolkata
  max_concurrent: 2
  agents:
    - { agent_id: often, prompt: a, schedule: { every: 30s } }
    - { agent_id: changes, prompt: b, only_on_change: true }
${['one', 'two', 'three'].map((id) => `    - { agent_id: ${id}, prompt: c, schedule: "0 9 * * *" }`).join('\n')}
`
  const model = { ...scriptedModel(() => ({ text: 'x' })), price: { input: 1, output: 1, max_output: 10 } }
  const app = await openApp(t, { clock: new FakeClock({ now: NOON + 1 }), model, yaml })
  const { beats, frequent, hours, max_concurrent, cap_usd, only_on_change, days } = await app.run('simulate', {
    ...{ days: 2, limit: 100, fold: 12 },
  })
  assert.deepEqual(
    beats.map(({ schedule_id }) => schedule_id),
    [...['agent:one', 'agent:two', 'agent:three'], ...['agent:one', 'agent:two', 'agent:three']],
  )
  assert.deepEqual(
    frequent.map(({ agents, words, words_zh, per_day }) => [agents.join(), words, words_zh, per_day]),
    [
      ['often', 'every 30 seconds', '每 30 秒', 2880],
      ['changes', 'every 10 minutes', '每 10 分钟', 144],
    ],
  )
  // Nine o'clock in India is half past three in UTC. Three agents are due then, beside those that are due more often.
  const nine = hours.find(({ at }) => at === '2026-01-16T03:30:00.000Z')
  assert.ok((nine?.at_once ?? 0) >= 4, JSON.stringify(nine))
  assert.deepEqual(
    { max_concurrent, cap_usd, only_on_change },
    { max_concurrent: 2, cap_usd: 3, only_on_change: ['changes'] },
  )
  const [, full] = days
  assert.ok((full?.usd_likely ?? 0) > 0 && (full?.usd_likely ?? 0) < (full?.usd_high ?? 0))
})
