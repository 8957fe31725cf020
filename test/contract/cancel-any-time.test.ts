import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { describe, test } from 'node:test'
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
import { advanceUntilDone, dispatchOf, freshFolder, journalOf, openApp, waitUntil } from '../support/open-app.ts'

const done: ScriptedStep = { text: 'done' }
const waiting: ScriptedStep = { calls: [{ tool: 'wait', args: { for: 'message' } }] }

describe('cancel at any time', () => {
  test('case 53: before its first step: it never begins', async (t) => {
    const model = scriptedModel([])
    const app = await openApp(t, { model })
    const task = await enqueue(app)
    assert.deepEqual((await cancelDispatch(app, task)).items[0], {
      dispatch_id: task.dispatch_id,
      was: 'pending',
      status: 'cancelled',
    })
    await app.run('start', { until_idle: true })
    assert.deepEqual([await statusOf(app, task), await journalOf(app, task.session_id)], ['cancelled', []])
  })

  test('case 53: before its time has come', async (t) => {
    const app = await openApp(t, { model: scriptedModel([]) })
    const task = await enqueue(app, { at: '1h' })
    assert.equal((await cancelDispatch(app, task)).items[0]?.status, 'cancelled')
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
  })

  test('case 53: while it waits: at once, whoever works the queue, and its journal is closed', async (t) => {
    for (const how of ['immediate', 'after_step']) {
      const model = scriptedModel([waiting])
      const app = await openApp(t, { model })
      const task = await enqueue(app)
      await app.run('start', { until_idle: true })
      assert.deepEqual((await cancelDispatch(app, task, how)).items[0], {
        dispatch_id: task.dispatch_id,
        was: 'waiting',
        status: 'cancelled',
      })
      assert.deepEqual([await stopReasonsOf(app, task), model.requests.length], [['cancelled'], 1])
    }
  })

  test('case 53: after its end, and a second time: nothing, and no error', async (t) => {
    const app = await openApp(t, { model: scriptedModel([done]) })
    const task = await enqueue(app)
    await app.run('start', { until_idle: true })
    assert.deepEqual((await cancelDispatch(app, task)).items, [])
    assert.equal(await statusOf(app, task), 'done')
    const other = await enqueue(app)
    await cancelDispatch(app, other)
    assert.deepEqual((await cancelDispatch(app, other)).items, [])
    await assert.rejects(app.run('queue cancel', { id: 'nobody' }), { code: 'not_found' })
  })

  test('case 53: two at once are one', async (t) => {
    const app = await openApp(t, { model: hangingModel() })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => hasRecord(app, task, 'model_requested'))
    await Promise.all([cancelDispatch(app, task), cancelDispatch(app, task), cancelDispatch(app, task, 'after_step')])
    await started
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
  })

  test('case 53: at every moment of being claimed: none is lost', async (t) => {
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

  test("case 53: while it awaits a human's word on a call: the call is settled as unknown, and stays listed", async (t) => {
    const [home, later] = [freshFolder(t), freshFolder(t)]
    const gate = Promise.withResolvers<string>()
    const order = fakeTool({ effect: { recovery: 'once', reach: 'third_party' }, run: () => gate.promise })
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, done])
    const first = await openApp(t, { home, model, tools: [order] })
    const task = await enqueue(first)
    const started = first.run('start', { until_idle: true })
    await waitUntil(() => order.receivedArgs.length > 0)
    // What a process that dies here leaves behind.
    cpSync(home, later, { recursive: true })
    gate.resolve('ordered')
    await started

    const app = await openApp(t, { home: later, model, tools: [order] })
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, task.dispatch_id)).wait?.kind, 'unknown')
    assert.equal((await cancelDispatch(app, task)).items[0]?.status, 'cancelled')
    assert.partialDeepStrictEqual(await resultsOf(app, task.session_id), [{ status: 'unknown' }])
    assert.deepEqual([await stopReasonsOf(app, task), order.receivedArgs.length], [['cancelled'], 1])
    const { items } = (await app.run('unknowns list', {})) as { items: { status: string }[] }
    assert.deepEqual(
      items.map(({ status }) => status),
      ['open'],
    )
  })

  for (const [name, hanging] of [
    ['a tool that looks before it acts', { before: () => new Promise<never>(() => {}) }],
    ['a tool that runs for ever', { run: () => new Promise<never>(() => {}) }],
  ] as const)
    test(`case 51: during ${name} and does not heed its signal: it is left behind`, async (t) => {
      const clock = new FakeClock()
      const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, done])
      const app = await openApp(t, { clock, model, tools: [fakeTool(hanging)] })
      const task = await enqueue(app)
      const started = app.run('start', { until_idle: true })
      await waitUntil(() => hasRecord(app, task, 'model_requested'))
      await advanceUntilDone(clock, cancelDispatch(app, task))
      await advanceUntilDone(clock, started)
      assert.deepEqual([await statusOf(app, task), await stopReasonsOf(app, task)], ['cancelled', ['cancelled']])
      assert.equal((await recordsOf(app, task.session_id, 'step_committed')).length, 1)
    })
})
