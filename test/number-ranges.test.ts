/** Numbers out of range at every public entry: refused with a message, and the stored data stays readable. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { App } from '../src/app.ts'
import { runTask } from '../src/run-task.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { startProvider, tireless } from './support/command-line.ts'
import { openHttpApp, postJson, sendRequest } from './support/http-app.ts'
import { advanceUntilDone, freshFolder, journalOf, openApp, runTaskIn } from './support/open-app.ts'

const DONE = { text: 'done' }
const TIMES = ['99999999999h', '9999999999d', '+275760-09-13T00:00:00Z', '0001-01-01', '2026-02-30', 'foo 1', '-1h']

/** Checks that everything stored can be read, also by another process. */
async function assertReadable(app: App): Promise<void> {
  await app.run('status', {})
  await app.run('budget show', {})
  const { items } = await app.run('queue list', {})
  for (const { session_id } of items) await app.run('sessions show', { id: session_id })
}

describe('wait', () => {
  for (const until of TIMES)
    test(`a model that waits until ${until} gets an error result, and continues`, async (t) => {
      const model = scriptedModel([{ calls: [{ tool: 'wait', args: { for: 'news', until } }] }, DONE])
      const home = freshFolder(t)
      const app = await openApp(t, { home, model })
      const { status, session_id } = await runTaskIn(app)
      assert.equal(status, 'done')
      const settled = (await journalOf(app, session_id)).find((record) => record.kind === 'call_settled')
      assert.match(settled?.result.content ?? '', /until: got .*; expected an ISO instant in the years 1970 to 9999/)
      await app.close()
      await assertReadable(await openApp(t, { home, model }))
    })

  test('a wait of 40 days, longer than the longest timer, ends on time', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([{ calls: [{ tool: 'wait', args: { for: 'news', until: '40d' } }] }, DONE])
    const app = await openApp(t, { model, clock })
    const { dispatch_id, wait } = await advanceUntilDone(clock, runTaskIn(app))
    assert.equal(wait?.until, clock.now() + 40 * 86_400_000)
    await clock.advance(40 * 86_400_000 - 1000)
    await advanceUntilDone(clock, app.run('start', { until_idle: true }))
    assert.equal((await app.run('queue show', { id: dispatch_id })).status, 'waiting')
    await clock.advance(1000)
    await advanceUntilDone(clock, app.run('start', { until_idle: true }))
    assert.equal((await app.run('queue show', { id: dispatch_id })).status, 'done')
  })
})

describe('enqueue --at', () => {
  for (const at of TIMES)
    test(`--at ${at} is refused on the command line and over HTTP, and nothing is stored`, async (t) => {
      const server = await openHttpApp(t)
      const result = await tireless(server.home, 'enqueue', '--prompt', 'x', `--at=${at}`)
      assert.equal(result.exit, 2)
      assert.match(
        result.stderr,
        /^usage: --at is not a time; got .*; expected an ISO instant in the years 1970 to 9999/,
      )
      const answer = await postJson(server, '/api/v1/enqueue', { prompt: 'x', at })
      assert.deepEqual({ status: answer.status, code: answer.code }, { status: 400, code: 'usage' })
      assert.deepEqual(await server.app.run('queue list', {}), { items: [], total: 0 })
      await assertReadable(server.app)
    })
})

describe('usage reported by a provider', () => {
  const CLAIMS = {
    negative: { input_tokens: -5, output_tokens: -5, cached_tokens: -5 },
    fractional: { input_tokens: 1.5, output_tokens: 0.5, cached_tokens: 0.1 },
    huge: { input_tokens: 2 ** 53 - 1, output_tokens: 1e308, cached_tokens: 2 ** 53 - 1 },
  }
  for (const type of ['openai-compatible', 'anthropic'] as const)
    for (const stream of [true, false])
      for (const [name, usage] of Object.entries(CLAIMS))
        test(`${name} token counts are estimated instead (${type}, ${stream ? 'stream' : 'whole'})`, async (t) => {
          const { url } = await startProvider(t, [{ ...DONE, usage }])
          const one = { type, base_url: url, stream, api_key: 'some-key' }
          const prices = { 'one/m': { input: 1, output: 1 } }
          const home = freshFolder(t)
          const yaml = JSON.stringify({ models: { default: 'one/m', providers: { one }, prices } })
          const app = await openApp(t, { home, yaml })
          assert.equal((await runTaskIn(app)).status, 'done')
          const { today } = await app.run('budget show', {})
          assert.ok(Number(today.input_tokens) > 100 && Number(today.input_tokens) < 100_000, `${today.input_tokens}`)
          assert.ok(Number(today.output_tokens) > 0 && Number(today.output_tokens) < 100, `${today.output_tokens}`)
          assert.ok(Number(today.usd) > 0 && Number(today.usd) < 1, `${today.usd}`)
          await app.close()
          await assertReadable(await openApp(t, { home }))
        })
})

describe('the library', () => {
  test('a custom model that reports invalid usage fails its own run only', async (t) => {
    const home = freshFolder(t)
    const usage = { input_tokens: 1.5, output_tokens: 1, cached_tokens: 0 }
    const failed = await runTask('x', { home, model: scriptedModel([{ ...DONE, usage }]) })
    assert.equal(failed.status, 'failed')
    assert.match(failed.error ?? '', /input_tokens|usage/)
    assert.equal((await runTask('x', { home, model: scriptedModel([DONE]) })).status, 'done')
    await assertReadable(await openApp(t, { home }))
  })

  test('task limits out of range are refused, with the value and the allowed range', async (t) => {
    const home = freshFolder(t)
    for (const [key, value, expected] of [
      ['max_steps', 1.5, 'a whole number'],
      ['max_steps', -1, 'more than 0'],
      ['max_seconds', 1e308, 'at most 3153600000'],
      ['max_tokens', 2 ** 53, 'at most 9007199254740991'],
      ['max_usd', 1e308, 'at most 1000000000'],
      ['max_usd', Number.NaN, 'a number'],
    ] as const)
      await assert.rejects(runTask({ objective: 'x', [key]: value }, { home, model: scriptedModel([DONE]) }), {
        code: 'usage',
        message: `run: ${key}: got ${value}; expected ${expected}; do this: run tireless run --help`,
      })
  })
})

describe('configuration', () => {
  for (const [yaml, expected] of [
    ['kernel: { lease: 99999999999h }', /kernel.lease is not valid; got .*; expected a duration .* at most 36500d/],
    ['kernel: { schedule: { every: 1e300 } }', /kernel.schedule.every is not valid; got 1e\+300; expected a duration/],
    ['kernel: { schedule: { at: "0001-01-01T00:00:00Z" } }', /expected a date in the years 1970 to 9999/],
    ['budget: { per_dispatch_minutes: 1.0e+308 }', /expected a number above 0, at most 52560000/],
    ['budget: { per_day_usd: 1.0e+308 }', /expected a number above 0, at most 1000000000/],
    ['budget: { per_day_usd: .inf }', /neither text, a number/],
    ['models: { prices: { "a/b": { input: -1, output: 1 } } }', /expected a price in USD per million tokens, from 0/],
    [
      'models: { prices: { "a/b": { input: 1e300, output: 1 } } }',
      /expected a price in USD per million tokens, from 0/,
    ],
    ['models: { max_output: 1e15 }', /expected a whole number from 1 to 1000000000/],
    ['retention: { days: 1e300 }', /expected a number above 0, at most 36500/],
  ] as const)
    test(`${yaml} is refused with the key`, async (t) => {
      const home = freshFolder(t)
      writeFileSync(join(home, 'tireless.yaml'), yaml)
      const { exit, stderr } = await tireless(home, 'start', '--until-idle')
      assert.equal(exit, 1)
      assert.match(stderr, expected)
    })
})

test('an invalid number in a query is refused', async (t) => {
  const server = await openHttpApp(t)
  for (const limit of ['1e999', '0.5', '-1', '9007199254740993', '１０', ' ', 'NaN', '0x', '1_000']) {
    const answer = await sendRequest(server, `/api/v1/queue/list?limit=${encodeURIComponent(limit)}`, {
      headers: server.bearer,
    })
    assert.deepEqual(
      { status: answer.status, code: answer.code },
      { status: 400, code: 'usage' },
      `${limit}: ${answer.text}`,
    )
  }
})
