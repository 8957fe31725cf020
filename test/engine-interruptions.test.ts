/** Runs that a provider, another worker or a stop interrupts. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../src/domain/error.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { advanceUntilDone, dispatchOf, journalOf, kindsOf, openApp, runTaskIn, waitUntil } from './support/open-app.ts'
import { final, probeTool, write } from './support/probe-tool.ts'

describe('provider errors', () => {
  const providerError = (
    code: 'model_unavailable' | 'model_limited' | 'model_empty' | 'model_auth' | 'model_refused',
    retryAfterMs?: number,
  ) => new TirelessError(code, 'the provider is in trouble', { retryAfterMs })

  test('a transient error parks the run durably, and the same turn is retried with the same input', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([
      { ...write('a.txt'), faults: [providerError('model_unavailable'), providerError('model_limited')] },
      final(),
    ])
    const app = await openApp(t, { model, clock })
    const result = await advanceUntilDone(clock, runTaskIn(app))
    assert.deepEqual({ status: result.status, requests: model.requests.length }, { status: 'done', requests: 4 })
    const journal = await journalOf(app, result.session_id)
    assert.deepEqual(
      kindsOf(journal).filter((kind) => kind === 'failed' || kind === 'input_bound'),
      ['input_bound', 'failed', 'failed', 'input_bound'],
    )
    assert.deepEqual(model.requests[2]?.messages, model.requests[0]?.messages)
  })

  for (const [code, requests] of [
    ['model_unavailable', 3],
    ['model_empty', 2],
    ['model_auth', 1],
    ['model_refused', 1],
  ] as const)
    test(`case 26: ${code}: ${requests} request(s), then failed with class provider`, async (t) => {
      const clock = new FakeClock()
      const model = scriptedModel([{ ...final(), faults: Array.from({ length: 9 }, () => providerError(code)) }])
      const app = await openApp(t, { model, clock })
      const result = await advanceUntilDone(clock, runTaskIn(app))
      assert.deepEqual(
        { status: result.status, failure_class: result.failure_class, requests: model.requests.length },
        { status: 'failed', failure_class: 'provider', requests },
      )
      assert.match(result.error ?? '', new RegExp(code))
    })

  test('a Retry-After beyond a minute is obeyed and leaves the dispatch parked', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([{ ...final(), faults: [providerError('model_limited', 600_000)] }])
    const app = await openApp(t, { model, clock })
    const asked = clock.now()
    const result = await advanceUntilDone(clock, runTaskIn(app))
    assert.equal(result.status, 'waiting')
    assert.ok(result.wait?.kind === 'retry' && result.wait.until >= asked + 600_000)
    await clock.advance(600_000)
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, result.dispatch_id)).status, 'done')
  })

  test('case 130: after a permanent provider error the message stays unread; the next run gets it once', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel((request) => {
      if (request.messages.length === 1 && !JSON.stringify(request.messages).includes('third'))
        throw providerError('model_refused')
      return { text: 'heard' }
    })
    const app = await openApp(t, { model, clock })
    const { status, session_id } = await runTaskIn(app, 'first')
    assert.equal(status, 'failed')
    const unread = async () => (await app.run('sessions show', { id: session_id })).unread
    await app.run('send', { session: session_id, text: 'second' })
    await app.run('start', { until_idle: true })
    assert.deepEqual(
      (await unread()).map((observation) => observation.type === 'user_message' && observation.text),
      ['second'],
    )
    await app.run('send', { session: session_id, text: 'third' })
    await app.run('start', { until_idle: true })
    assert.deepEqual(model.requests.at(-1)?.messages, [{ role: 'user', text: 'second\n\nthird' }])
    assert.deepEqual(await unread(), [])
  })
})

describe('concurrency', () => {
  test('64 sessions share commits', async (t) => {
    const model = scriptedModel((_, turn) =>
      turn < 5 ? { calls: [{ tool: 'create_file', args: { path: `${turn}.txt`, content: 'x' } }] } : { text: 'done' },
    )
    const app = await openApp(t, { model, yaml: 'kernel: { max_concurrent: 64 }' })
    for (let i = 0; i < 64; i++) await app.run('enqueue', { prompt: `task ${i}` })
    const before = app.context.store.commits()
    const { queue } = await app.run('start', { until_idle: true })
    const batches = 64 * (5 * 3 + 2)
    const commits = app.context.store.commits() - before
    assert.equal(queue?.done, 64)
    assert.ok(commits < batches / 4, `${batches} batches in ${commits} commits`)
  })

  test('case 96: a session that lost its lease writes nothing more', async (t) => {
    const gate = Promise.withResolvers<void>()
    let stolen = ''
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const tool = probeTool(async () => {
      if (tool.runs === 1) {
        const { items } = await app.run('queue list', { status: 'running' })
        stolen = items.at(-1)?.dispatch_id ?? ''
        // Another owner's takeover returns every running dispatch of the epoch; this worker must not write any more.
        const { lease_owner } = await dispatchOf(app, stolen)
        await app.context.store.commit([
          {
            ops: [
              { op: 'leave', epoch: lease_owner ?? 0, now: 0 },
              { op: 'join', name: 'other', now: 0, lease_until: 9e12, alone: false },
            ],
          },
        ])
        gate.resolve()
      }
      await gate.promise
    })
    const app = await openApp(t, { model, tools: [tool], yaml: 'kernel: { max_concurrent: 1 }' })
    await app.run('enqueue', { prompt: 'one' })
    await app.run('start', { until_idle: true }).catch(() => {})
    const dispatch = await dispatchOf(app, stolen)
    assert.equal(dispatch.status, 'pending', 'the fenced run wrote nothing after the takeover')
    const journal = await journalOf(app, dispatch.session_id)
    assert.equal(kindsOf(journal).at(-1), 'call_intended')
  })

  test('case 75: two concurrent drains of one queue never start the same dispatch twice', async (t) => {
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const tool = probeTool(() => new Promise((resolve) => setTimeout(resolve, 1)))
    const app = await openApp(t, { model, tools: [tool], yaml: 'kernel: { max_concurrent: 4 }' })
    for (let i = 0; i < 20; i++) await app.run('enqueue', { prompt: `task ${i}` })
    await Promise.all([app.run('start', { until_idle: true }), app.run('start', { until_idle: true })])
    assert.equal(tool.runs, 20)
  })
})

describe('stopping', () => {
  test('SIGTERM: the current step is finished, then the dispatch is returned as pending', async (t) => {
    const drain = new AbortController()
    const signals = { drain: drain.signal, abort: new AbortController().signal }
    const model = scriptedModel((_, turn) => (turn < 3 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const tool = probeTool(() => tool.runs === 2 && drain.abort())
    const app = await openApp(t, { model, tools: [tool], signals })
    const { dispatch_id } = await app.run('enqueue', { prompt: 'x' })
    await app.run('start', {})
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'pending')
    assert.equal(tool.runs, 2)
  })

  test('an abort interrupts a hanging model call and returns the dispatch as pending', async (t) => {
    const drain = new AbortController()
    const abort = new AbortController()
    const hanging = {
      id: 'scripted/hang',
      call: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(new TirelessError('aborted', 'aborted'))),
        ),
    }
    const app = await openApp(t, { model: hanging, signals: { drain: drain.signal, abort: abort.signal } })
    const { dispatch_id, session_id } = await app.run('enqueue', { prompt: 'x' })
    const started = app.run('start', {})
    await waitUntil(async () => kindsOf(await journalOf(app, session_id)).includes('model_requested'))
    drain.abort()
    abort.abort()
    await started
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'pending')
  })
})
