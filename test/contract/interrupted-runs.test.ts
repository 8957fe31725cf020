import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import type { Verdict } from '../../src/domain/decision.ts'
import { GRACE_MS } from '../../src/engine/grace-period.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { blockCommits } from '../support/blocking-store.ts'
import { withEnv } from '../support/event-recorder.ts'
import {
  cancelDispatch,
  enqueue,
  fakeTool,
  PURE,
  type QueuedTask,
  recordsOf,
  resultsOf,
  statusOf,
  stopReasonsOf,
  untilAborted,
} from '../support/fake-tools.ts'
import { advanceUntilDone, freshFolder, openApp, replayIn, waitUntil } from '../support/open-app.ts'

const CONTINUE: Verdict = { kind: 'continue' }
const NOT_STARTED = { status: 'not_started', content: 'The run was interrupted before this call started.' }

const pokingModel = (times: number): ScriptedModel =>
  scriptedModel([{ calls: Array.from({ length: times }, (_, n) => ({ tool: 'poke', args: { n } })) }, { text: 'done' }])

const isReplayIdentical = async (app: App, { dispatch_id }: QueuedTask): Promise<boolean> =>
  (await replayIn(app, dispatch_id)).identical

/** Starts a task; `stop` stops the app at once, as a second SIGTERM does. */
async function startTask(t: TestContext, options: AppOptions, home = freshFolder(t)) {
  const [drain, abort] = [new AbortController(), new AbortController()]
  const signals = { drain: drain.signal, abort: abort.signal }
  const app = await openApp(t, { home, signals, ...options })
  const task = await enqueue(app)
  const started = app.run('start', { until_idle: true })
  const stop = (): void => {
    drain.abort()
    abort.abort()
  }
  return { app, task, started, stop, home }
}

describe('interrupted runs', () => {
  for (const times of [1, 2])
    test(`I10, I4, case 97: stopped while intents are written (${times}): no call starts`, async (t) => {
      const tool = fakeTool({ effect: PURE })
      const intentWrite = blockCommits(
        (op) => op.op === 'append' && op.records.some(({ kind }) => kind === 'call_intended'),
      )
      const options = { tools: [tool], model: pokingModel(times), plugins: [intentWrite.plugin] }
      const { app, task, started, stop, home } = await startTask(t, options)
      await waitUntil(intentWrite.isBlocked)
      stop()
      intentWrite.release()
      await started
      assert.deepEqual(
        { receivedArgs: tool.receivedArgs, status: await statusOf(app, task) },
        { receivedArgs: [], status: 'pending' },
      )
      assert.deepEqual(await resultsOf(app, task.session_id), Array(times).fill(NOT_STARTED))
      assert.equal(await isReplayIdentical(app, task), true)
      await app.close()
      const next = await openApp(t, { home, tools: [tool], model: pokingModel(times) })
      await next.run('start', { until_idle: true })
      assert.deepEqual(
        { status: await statusOf(next, task), receivedArgs: tool.receivedArgs },
        { status: 'done', receivedArgs: [] },
      )
      assert.equal(await isReplayIdentical(next, task), true)
    })

  test('I10, I4, case 97: cancelled while the intent is written: the call never starts', async (t) => {
    const tool = fakeTool()
    const intentWrite = blockCommits(
      (op) => op.op === 'append' && op.records.some(({ kind }) => kind === 'call_intended'),
    )
    const options = { tools: [tool], model: pokingModel(1), plugins: [intentWrite.plugin] }
    const { app, task, started } = await startTask(t, options)
    await waitUntil(intentWrite.isBlocked)
    const cancelled = cancelDispatch(app, task, 'immediate')
    await waitUntil(async () => (await app.run('queue show', { id: task.dispatch_id })).cancel !== null)
    intentWrite.release()
    await Promise.all([cancelled, started])
    assert.deepEqual(
      { receivedArgs: tool.receivedArgs, stopReasons: await stopReasonsOf(app, task) },
      { receivedArgs: [], stopReasons: ['cancelled'] },
    )
    assert.deepEqual(await resultsOf(app, task.session_id), [NOT_STARTED])
    assert.deepEqual((await app.run('unknowns list', {})).items, [])
    assert.equal(await isReplayIdentical(app, task), true)
  })

  test('I11: a stopping program waits until the cost of the intent check is recorded', async (t) => {
    const clock = new FakeClock()
    const costWrite = blockCommits((op) => op.op === 'spent' && op.id.includes('-intent-'))
    const read = fakeTool({ name: 'read', effect: PURE })
    const send = fakeTool({ effect: { recovery: 'once', reach: 'third_party' } })
    const model = scriptedModel(({ system }, turn) =>
      system.startsWith('You decide') ? { text: '[]' } : { calls: [{ tool: turn === 0 ? 'read' : 'poke', args: {} }] },
    )
    const { app, started, stop } = await startTask(t, {
      tools: [read, send],
      model,
      plugins: [costWrite.plugin],
      clock,
    })
    await waitUntil(costWrite.isBlocked)
    stop()
    let isBooked = false
    // Long after the grace period of all other interrupted work.
    void clock.sleep(10 * GRACE_MS).then(() => {
      isBooked = true
      costWrite.release()
    })
    await advanceUntilDone(clock, started)
    assert.equal(isBooked, true)
    await app.close()
  })

  test('Q17: calls that were interrupted in parallel are replayed as interrupted', async (t) => {
    const tool = fakeTool({ effect: PURE, run: untilAborted })
    const { app, task, started } = await startTask(t, { tools: [tool], model: pokingModel(3) })
    await waitUntil(() => tool.receivedArgs.length === 3)
    await Promise.all([cancelDispatch(app, task, 'immediate'), started])
    const results = await resultsOf(app, task.session_id)
    assert.deepEqual(
      results.map(({ status }) => status),
      ['interrupted', 'interrupted', 'interrupted'],
    )
    assert.equal(await isReplayIdentical(app, task), true)
  })

  test('Q17: a run stopped before its commit and resumed with other components is replayed identically', async (t) => {
    const clock = new FakeClock()
    const { promise: criticCalled, resolve: markCalled } = Promise.withResolvers<void>()
    const judge = (): Promise<never> => {
      markCalled()
      return new Promise(() => {})
    }
    const options = { tools: [fakeTool()], model: pokingModel(1), critics: [{ name: 'slow', judge }], clock }
    const { app, task, started, stop, home } = await startTask(t, options)
    await criticCalled
    stop()
    await advanceUntilDone(clock, started)
    assert.deepEqual(
      { status: await statusOf(app, task), resultCount: (await resultsOf(app, task.session_id)).length },
      { status: 'pending', resultCount: 1 },
    )
    assert.equal(await isReplayIdentical(app, task), true)
    await app.close()
    const more = {
      tools: [fakeTool(), fakeTool({ name: 'prod' })],
      critics: [{ name: 'quick', judge: () => CONTINUE }],
    }
    const next = await openApp(t, { home, model: pokingModel(1), ...more })
    await next.run('start', { until_idle: true })
    assert.deepEqual(
      { status: await statusOf(next, task), recordCount: (await recordsOf(next, task.session_id, 'refitted')).length },
      { status: 'done', recordCount: 1 },
    )
    assert.equal(await isReplayIdentical(next, task), true)
  })

  test('Q17: a run stopped during a critic and resumed with a failing hook is replayed identically', async (t) => {
    const clock = new FakeClock()
    const { promise: criticCalled, resolve: markCalled } = Promise.withResolvers<void>()
    const judge = (): Promise<never> => {
      markCalled()
      return new Promise(() => {})
    }
    const parts = { tools: [fakeTool()], clock }
    const { app, task, started, stop, home } = await startTask(t, {
      ...parts,
      model: pokingModel(1),
      critics: [{ name: 'slow', judge }],
    })
    await criticCalled
    stop()
    await advanceUntilDone(clock, started)
    await app.close()
    const hooks = [{ name: 'broken', on_before_act: () => assert.fail('hook failed') }]
    const critics = [{ name: 'slow', judge: () => CONTINUE }]
    const next = await openApp(t, { home, model: pokingModel(1), critics, hooks, ...parts })
    await advanceUntilDone(clock, next.run('start', { until_idle: true }))
    assert.deepEqual(
      { status: await statusOf(next, task), recordCount: (await recordsOf(next, task.session_id, 'diagnosed')).length },
      { status: 'done', recordCount: 2 },
    )
    assert.equal(await isReplayIdentical(next, task), true)
  })

  test('Q17: results of calls without an intent are replayed if the next process cannot open the run', async (t) => {
    const critics = [{ name: 'stopped', judge: () => assert.fail('stopped by the signal') }]
    const tool = fakeTool({ run: untilAborted })
    const parts = { tools: [tool], model: pokingModel(3), critics }
    const { app, task, started, stop, home } = await startTask(t, parts)
    await waitUntil(() => tool.receivedArgs.length === 1)
    stop()
    await started
    assert.equal(await statusOf(app, task), 'pending')
    assert.deepEqual((await resultsOf(app, task.session_id)).slice(1), [NOT_STARTED, NOT_STARTED])
    await app.close()
    const brokenEnv = withEnv(() => Promise.reject(new Error('no such container')))
    const next = await openApp(t, { home, ...parts, plugins: [brokenEnv] })
    await next.run('start', { until_idle: true })
    assert.deepEqual(await stopReasonsOf(next, task), ['env_capability_mismatch'])
    assert.equal(await isReplayIdentical(next, task), true)
  })
})
