/** A model fails and the next model of the fallback chain is asked. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../src/app.ts'
import type { JournalRecord } from '../src/domain/journal-record.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import type { Script } from '../src/testing/provider-server.ts'
import { startProviderServer } from '../src/testing/provider-server.ts'
import { journalOf, openApp, readLogs, replayIn, runTaskIn } from './support/open-app.ts'

type Faults = NonNullable<Extract<Script, readonly unknown[]>[number]['faults']>

const always = (fault: Faults[number]): Faults => Array.from({ length: 20 }, () => fault)

/** One provider per entry, asked in this order: its faults come first, then one answer. */
async function providersInOrder(t: Parameters<typeof openApp>[0], faults: readonly Faults[], more: object = {}) {
  const servers = await Promise.all(
    faults.map((given, n) => startProviderServer({ script: [{ text: `from p${n}`, faults: given }] })),
  )
  t.after(async () => {
    for (const server of servers) await server.close()
  })
  const providers = servers.map(({ url }, n) => [
    `p${n}`,
    { type: n % 2 === 0 ? 'openai-compatible' : 'anthropic', base_url: url, api_key: `the-key-of-p${n}` },
  ])
  const [first, ...fallback] = servers.map((_, n) => `p${n}/m`)
  const clock = new FakeClock()
  const yaml = JSON.stringify({
    models: { default: first, fallback, providers: Object.fromEntries(providers) },
    ...more,
  })
  const app = await openApp(t, { clock, yaml })
  const run = async (task = 'the task', input: object = {}) => {
    const { status, answer, session_id, dispatch_id, error } = await advanceWhileParked(
      app,
      clock,
      runTaskIn(app, task, input),
    )
    const journal = await journalOf(app, session_id)
    return { status, answer, error, dispatch_id, journal, asked: askedIn(journal) }
  }
  return { app, clock, run, requests: () => servers.map(({ requests }) => requests.length) }
}

/** Advances the clock only while the run is parked for a retry, never during a request, which takes real time. */
async function advanceWhileParked<T>(app: App, clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const done = work.finally(() => {
    isOver = true
  })
  done.catch(() => {})
  while (!isOver) {
    await pause(2)
    if (!isOver && (await app.context.store.counts()).waiting > 0) await clock.advance(3000)
  }
  return done
}

const askedIn = (journal: readonly JournalRecord[]): string[] =>
  journal.flatMap((record) => (record.kind === 'model_requested' ? [record.model] : []))

const rulingsIn = (journal: readonly JournalRecord[]) =>
  journal.flatMap((record) =>
    record.kind === 'failed' ? [[record.code, record.ruling.kind === 'retry' && record.ruling.until === null]] : [],
  )

test('on an error specific to a model the next one is asked at once, and the journal names it', async (t) => {
  for (const fault of ['401', '404', '429', '500', 'cut', 'html', 'empty'] as const) {
    const { run, app } = await providersInOrder(t, [always(fault), []])
    const { answer, asked, journal, dispatch_id } = await run()
    assert.deepEqual({ fault, answer, asked }, { fault, answer: 'from p1', asked: ['p0/m', 'p1/m'] })
    assert.deepEqual(
      rulingsIn(journal).map(([, atOnce]) => atOnce),
      [true],
    )
    const { identical } = await replayIn(app, dispatch_id)
    assert.equal(identical, true, 'the replay is identical')
    await app.close()
  }
})

test('an error caused by the request itself is not retried with another model', async (t) => {
  const { run, requests } = await providersInOrder(t, [always('400'), []])
  assert.equal((await run()).status, 'failed')
  assert.deepEqual(requests(), [1, 0])
})

test('if all models fail, they are asked in turn with backoff, and then the run fails', async (t) => {
  const { run, app } = await providersInOrder(t, [always('500'), always('503')])
  const { status, asked, journal, dispatch_id } = await run()
  assert.equal(status, 'failed')
  assert.deepEqual(asked, ['p0/m', 'p1/m', 'p0/m'])
  assert.deepEqual(rulingsIn(journal), [
    ['model_unavailable', true],
    ['model_unavailable', false],
    ['model_unavailable', false],
  ])
  assert.equal((await replayIn(app, dispatch_id)).identical, true)
})

test('a transient error of the first model is retried if the second has no key', async (t) => {
  const { run, app } = await providersInOrder(t, [['500'], always('401')])
  const { answer, asked, dispatch_id } = await run()
  assert.deepEqual({ answer, asked }, { answer: 'from p0', asked: ['p0/m', 'p1/m', 'p0/m'] })
  assert.equal((await replayIn(app, dispatch_id)).identical, true)
})

test('a model named by the task has no fallback', async (t) => {
  const { run, requests } = await providersInOrder(t, [always('401'), []])
  assert.equal((await run('x', { model: 'p0/m' })).status, 'failed')
  assert.deepEqual(requests(), [1, 0])
})

test('401: the key is reported and the provider not asked again until the pause is over', async (t) => {
  const { run, requests, app, clock } = await providersInOrder(t, [['401']])
  const health = async () => (await app.run('status', {})).health
  assert.deepEqual(await health(), { ok: true, reasons: [] })
  assert.equal((await run('one')).status, 'failed')
  const second = await run('two')
  assert.equal(second.status, 'failed')
  assert.match(second.error ?? '', /^model_auth: p0: the provider refused the API key recently/)
  assert.deepEqual(requests(), [1], 'the second request was not sent')
  assert.equal((await replayIn(app, second.dispatch_id)).identical, true)
  const unhealthy = await health()
  assert.equal(unhealthy.ok, false)
  assert.match(unhealthy.reasons[0] ?? '', /the provider p0 refuses its key/)
  const { items } = await readLogs(app)
  assert.deepEqual(
    items.filter(({ event }) => event === 'key refused').map(({ level, provider }) => ({ level, provider })),
    [{ level: 'error', provider: 'p0' }],
  )
  await clock.advance(11 * 60_000)
  assert.equal((await run('one')).answer, 'from p0')
  assert.equal((await health()).ok, true)
})

test('case 134: a refused key fails no agent that another provider can answer', async (t) => {
  const agents = ['a', 'b', 'c'].map((agent_id) => ({
    agent_id,
    prompt: `work of ${agent_id}`,
    metadata: { noop: true },
  }))
  const { app, requests } = await providersInOrder(t, [always('401'), []], { kernel: { agents, max_attempts: 1 } })
  for (const asked of [1, 1]) {
    const { dispatched, succeeded } = await app.run('once', {})
    assert.deepEqual({ dispatched, succeeded, first: requests()[0] }, { dispatched: 3, succeeded: 3, first: asked })
  }
})

test('a provider with a Retry-After of years is skipped for a day, then asked again', async (t) => {
  const { run, clock } = await providersInOrder(t, [[{ fault: '429', retry_after: '99999999999' }], []])
  const asked = async () => (await run()).asked
  assert.deepEqual(await asked(), ['p0/m', 'p1/m'])
  await clock.advance(24 * 3_600_000 - 60_000)
  assert.deepEqual(await asked(), ['p1/m'])
  await clock.advance(60_000)
  assert.deepEqual(await asked(), ['p0/m'])
})

test('after three failures in a row a model is skipped in other runs too, and asked again later', async (t) => {
  const { run, clock } = await providersInOrder(t, [['500', '500', '500'], []])
  for (const n of [1, 2, 3]) assert.deepEqual((await run(`same`, { max_steps: n })).asked, ['p0/m', 'p1/m'])
  assert.deepEqual((await run('same')).asked, ['p1/m'])
  await clock.advance(31_000)
  assert.deepEqual((await run('same')).asked, ['p0/m'])
})

test("an agent's own model precedes the default, and no error, log or trace contains the key", async (t) => {
  const agents = [{ agent_id: 'own', prompt: 'x', model: 'p1/m' }]
  const { run, app } = await providersInOrder(t, [[], always('400')], { kernel: { agents } })
  assert.deepEqual((await run()).asked, ['p0/m'])
  const { asked, error, journal } = await run('y', { agent: 'own' })
  assert.deepEqual(asked, ['p1/m'])
  const log = JSON.stringify(await readLogs(app))
  for (const text of [error ?? '', JSON.stringify(journal), log]) assert.doesNotMatch(text, /the-key-of/)
})
