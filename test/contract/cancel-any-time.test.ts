import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  cancelDispatch,
  enqueue,
  fakeTool,
  hangingModel,
  hasRecord,
  recordsOf,
  resultsOf,
  statusOf,
  stopReasonsOf,
} from '../support/fake-tools.ts'
import {
  advanceUntilDone,
  dispatchOf,
  freshFolder,
  journalOf,
  openApp,
  replayIn,
  waitUntil,
} from '../support/open-app.ts'

const finalStep: ScriptedStep = { text: 'done' }
const waitStep: ScriptedStep = { calls: [{ tool: 'wait', args: { for: 'message' } }] }

/** Opens the home that a process left which died in its first call. */
async function openAfterDeathInCall(t: TestContext, calls: NonNullable<ScriptedStep['calls']>) {
  const [home, later] = [freshFolder(t), freshFolder(t)]
  const gate = Promise.withResolvers<string>()
  const order = fakeTool({ effect: { recovery: 'once', reach: 'third_party' }, run: () => gate.promise })
  const model = scriptedModel([{ calls }, finalStep])
  const first = await openApp(t, { home, model, tools: [order] })
  const task = await enqueue(first)
  const started = first.run('start', { until_idle: true })
  await waitUntil(() => order.receivedArgs.length > 0)
  cpSync(home, later, { recursive: true })
  gate.resolve('ordered')
  await started
  return { app: await openApp(t, { home: later, model, tools: [order] }), order, task }
}

describe('cancelling at any time', () => {
  test('case 53: a task cancelled before its first step never starts', async (t) => {
    const model = scriptedModel([])
    const app = await openApp(t, { model })
    const task = await enqueue(app)
    assert.deepEqual((await cancelDispatch(app, task)).items[0], {
      dispatch_id: task.dispatch_id,
      was: 'pending',
      status: 'cancelled',
    })
    await app.run('start', { until_idle: true })
    assert.deepEqual(
      { status: await statusOf(app, task), journal: await journalOf(app, task.session_id) },
      { status: 'cancelled', journal: [] },
    )
  })

  test('case 53: a scheduled task can be cancelled before its time', async (t) => {
    const app = await openApp(t, { model: scriptedModel([]) })
    const task = await enqueue(app, { at: '1h' })
    assert.equal((await cancelDispatch(app, task)).items[0]?.status, 'cancelled')
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
  })

  test('case 53: a waiting task is cancelled at once, and its journal ends', async (t) => {
    for (const how of ['immediate', 'after_step'] as const) {
      const model = scriptedModel([waitStep])
      const app = await openApp(t, { model })
      const task = await enqueue(app)
      await app.run('start', { until_idle: true })
      assert.deepEqual((await cancelDispatch(app, task, how)).items[0], {
        dispatch_id: task.dispatch_id,
        was: 'waiting',
        status: 'cancelled',
      })
      assert.deepEqual(
        { stopReasons: await stopReasonsOf(app, task), requestCount: model.requests.length },
        { stopReasons: ['cancelled'], requestCount: 1 },
      )
    }
  })

  test('case 53: cancelling an ended or cancelled task changes nothing and is no error', async (t) => {
    const app = await openApp(t, { model: scriptedModel([finalStep]) })
    const task = await enqueue(app)
    await app.run('start', { until_idle: true })
    assert.deepEqual((await cancelDispatch(app, task)).items, [])
    assert.equal(await statusOf(app, task), 'done')
    const other = await enqueue(app)
    await cancelDispatch(app, other)
    assert.deepEqual((await cancelDispatch(app, other)).items, [])
    await assert.rejects(app.run('queue cancel', { id: 'unknown-id' }), { code: 'not_found' })
  })

  test('case 53: several cancels at the same time end the run once', async (t) => {
    const app = await openApp(t, { model: hangingModel() })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => hasRecord(app, task, 'model_requested'))
    await Promise.all([cancelDispatch(app, task), cancelDispatch(app, task), cancelDispatch(app, task, 'after_step')])
    await started
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
  })

  test('case 53: no cancel is lost, whatever the moment relative to the claim', async (t) => {
    const app = await openApp(t, { model: hangingModel() })
    for (let ticks = 0; ticks < 40; ticks++) {
      const task = await enqueue(app)
      const started = app.run('start', { until_idle: true })
      for (let i = 0; i < ticks; i++) await Promise.resolve()
      await cancelDispatch(app, task)
      await started
      assert.equal(await statusOf(app, task), 'cancelled', `after ${ticks} ticks`)
    }
  })

  test('case 53: cancelling a run with an unknown call outcome settles the call; it stays listed', async (t) => {
    const { app, order, task } = await openAfterDeathInCall(t, [{ tool: 'poke' }])
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, task.dispatch_id)).wait?.kind, 'unknown')
    assert.equal((await cancelDispatch(app, task)).items[0]?.status, 'cancelled')
    assert.partialDeepStrictEqual(await resultsOf(app, task.session_id), [{ status: 'unknown' }])
    assert.deepEqual(
      { stopReasons: await stopReasonsOf(app, task), callCount: order.receivedArgs.length },
      { stopReasons: ['cancelled'], callCount: 1 },
    )
    const { items } = await app.run('unknowns list', {})
    assert.deepEqual(
      items.map(({ status }) => status),
      ['open'],
    )
  })

  test('case 53: a run that a killed process left is cancelled without a kernel, and replays as it was', async (t) => {
    const { app, task } = await openAfterDeathInCall(t, [{ tool: 'poke' }, { tool: 'poke', args: { n: 2 } }])
    assert.equal((await cancelDispatch(app, task)).items[0]?.status, 'cancelled')
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
    assert.equal((await replayIn(app, task.dispatch_id)).identical, true)
  })

  for (const [name, hanging] of [
    ['the before() of a tool', { before: () => new Promise<never>(() => {}) }],
    ['the run() of a tool', { run: () => new Promise<never>(() => {}) }],
  ] as const)
    test(`case 51: cancelling does not wait for ${name} that ignores its signal`, async (t) => {
      const clock = new FakeClock()
      const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, finalStep])
      const app = await openApp(t, { clock, model, tools: [fakeTool(hanging)] })
      const task = await enqueue(app)
      const started = app.run('start', { until_idle: true })
      await waitUntil(() => hasRecord(app, task, 'model_requested'))
      await advanceUntilDone(clock, cancelDispatch(app, task))
      await advanceUntilDone(clock, started)
      assert.deepEqual(
        { status: await statusOf(app, task), stopReasons: await stopReasonsOf(app, task) },
        { status: 'cancelled', stopReasons: ['cancelled'] },
      )
      assert.equal((await recordsOf(app, task.session_id, 'step_committed')).length, 1)
    })
})
