import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { enqueue, fakeTool, type QueuedTask, recordsOf } from '../support/fake-tools.ts'
import { dispatchOf, freshFolder, openApp, waitUntil } from '../support/open-app.ts'

const pokeStep: ScriptedStep = { calls: [{ tool: 'poke' }] }
const finalStep: ScriptedStep = { text: 'done' }
const waitStep: ScriptedStep = { calls: [{ tool: 'wait', args: { for: 'message', until: '10m' } }] }

const runQueueCommand = (app: App, verb: 'pause' | 'resume' | 'cancel', { dispatch_id }: QueuedTask) =>
  app.run(`queue ${verb}`, { id: dispatch_id }) as Promise<{ items: { dispatch_id: string; status: string }[] }>

const drainQueue = (app: App) => app.run('start', { until_idle: true })

const statusAndPaused = async (app: App, { dispatch_id }: QueuedTask): Promise<{ status: string; paused: boolean }> => {
  const { status, paused } = await dispatchOf(app, dispatch_id)
  return { status, paused }
}

describe('pause', () => {
  /** Starts a run whose first call hangs until the test calls `finishCall`. */
  async function startHangingCall(t: Parameters<typeof openApp>[0], home: string, model: ScriptedModel) {
    const gate = Promise.withResolvers<string>()
    const tool = fakeTool({ run: () => (tool.receivedArgs.length === 1 ? gate.promise : 'again') })
    const app = await openApp(t, { home, model, tools: [tool] })
    const task = await enqueue(app)
    const started = drainQueue(app)
    await waitUntil(() => tool.receivedArgs.length > 0)
    return { app, task, tool, started, finishCall: () => gate.resolve('first') }
  }

  test('case 56: pause returns after the current step is committed, and survives a restart', async (t) => {
    const home = freshFolder(t)
    const model = scriptedModel([pokeStep, pokeStep, finalStep])
    const { app, task, tool, started, finishCall } = await startHangingCall(t, home, model)
    let hasReturned = false
    const paused = runQueueCommand(app, 'pause', task).then((result) => {
      hasReturned = true
      return result
    })
    await waitUntil(async () => (await dispatchOf(app, task.dispatch_id)).paused)
    await new Promise(setImmediate)
    assert.equal(hasReturned, false)
    assert.deepEqual(await statusAndPaused(app, task), { status: 'running', paused: true })
    finishCall()
    assert.equal((await paused).items[0]?.status, 'pending')
    await started
    assert.deepEqual(await statusAndPaused(app, task), { status: 'pending', paused: true })
    assert.equal((await recordsOf(app, task.session_id, 'step_committed')).length, 1)
    await app.close()

    const later = await openApp(t, { home, model, tools: [tool] })
    await drainQueue(later)
    assert.deepEqual(await statusAndPaused(later, task), { status: 'pending', paused: true })
    assert.equal(tool.receivedArgs.length, 1)
    await runQueueCommand(later, 'resume', task)
    await drainQueue(later)
    assert.deepEqual(await statusAndPaused(later, task), { status: 'done', paused: false })
    assert.equal(tool.receivedArgs.length, 2)
  })

  test('case 56: a paused task is not claimed while pending or waiting, and no wake-up is lost', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([waitStep, finalStep])
    const app = await openApp(t, { clock, model })
    const task = await enqueue(app)
    await runQueueCommand(app, 'pause', task)
    await drainQueue(app)
    assert.deepEqual(await statusAndPaused(app, task), { status: 'pending', paused: true })
    assert.equal(model.requests.length, 0)
    await runQueueCommand(app, 'resume', task)
    await drainQueue(app)
    assert.equal((await statusAndPaused(app, task)).status, 'waiting')
    await runQueueCommand(app, 'pause', task)
    await clock.advance(600_000)
    await app.run('send', { session: task.session_id, text: 'hello?' })
    await drainQueue(app)
    assert.deepEqual(await statusAndPaused(app, task), { status: 'pending', paused: true })
    assert.equal(model.requests.length, 1)
    await runQueueCommand(app, 'resume', task)
    await drainQueue(app)
    assert.deepEqual(await statusAndPaused(app, task), { status: 'done', paused: false })
    assert.equal(model.requests.length, 2)
  })

  test('case 56: a running kernel notices resume', async (t) => {
    const stop = new AbortController()
    const signals = { drain: stop.signal, abort: new AbortController().signal }
    const app = await openApp(t, { model: scriptedModel([finalStep]), signals })
    const task = await enqueue(app)
    await runQueueCommand(app, 'pause', task)
    const started = app.run('start', {})
    const other = await enqueue(app)
    await waitUntil(async () => (await statusAndPaused(app, other)).status === 'done')
    assert.deepEqual(await statusAndPaused(app, task), { status: 'pending', paused: true })
    await runQueueCommand(app, 'resume', task)
    await waitUntil(async () => (await statusAndPaused(app, task)).status === 'done')
    stop.abort()
    await started
  })

  test('case 56: pause, resume and cancel include all descendants of a dispatch', async (t) => {
    const app = await openApp(t, { model: scriptedModel([finalStep]) })
    const parent = await enqueue(app, { prompt: 'parent' })
    const child = await enqueue(app, { prompt: 'child', parent: parent.dispatch_id })
    const grandchild = await enqueue(app, { prompt: 'grandchild', parent: child.dispatch_id })
    const unrelated = await enqueue(app, { prompt: 'unrelated' })
    const family = [parent, child, grandchild]
    const ids = family.map(({ dispatch_id }) => dispatch_id)
    assert.deepEqual(
      (await runQueueCommand(app, 'pause', parent)).items.map(({ dispatch_id }) => dispatch_id),
      ids,
    )
    await drainQueue(app)
    for (const member of family)
      assert.deepEqual(await statusAndPaused(app, member), { status: 'pending', paused: true })
    assert.equal((await statusAndPaused(app, unrelated)).status, 'done')
    await runQueueCommand(app, 'resume', child)
    await drainQueue(app)
    assert.deepEqual(await Promise.all(family.map(async (member) => (await statusAndPaused(app, member)).status)), [
      'pending',
      'done',
      'done',
    ])
    const late = await enqueue(app, { prompt: 'late', parent: parent.dispatch_id })
    assert.equal((await runQueueCommand(app, 'cancel', parent)).items.length, 2)
    for (const member of [parent, late]) assert.equal((await statusAndPaused(app, member)).status, 'cancelled')
  })

  test('case 56: a dispatch with an unknown parent is refused', async (t) => {
    const app = await openApp(t)
    await assert.rejects(enqueue(app, { parent: 'unknown-id' }), { code: 'not_found', message: /unknown-id/ })
  })

  test('case 53: a paused task can be cancelled and is no longer paused then', async (t) => {
    const model = scriptedModel([waitStep])
    const app = await openApp(t, { model })
    const task = await enqueue(app)
    await drainQueue(app)
    await runQueueCommand(app, 'pause', task)
    assert.equal((await runQueueCommand(app, 'cancel', task)).items[0]?.status, 'cancelled')
    assert.deepEqual(await statusAndPaused(app, task), { status: 'cancelled', paused: false })
  })

  test('case 56: no pause is lost, whatever the moment relative to the claim', async (t) => {
    const model = scriptedModel((_, turn) => (turn < 12 ? { calls: [{ tool: 'poke', args: { turn } }] } : finalStep))
    const app = await openApp(t, { model, tools: [fakeTool()] })
    for (let ticks = 0; ticks < 40; ticks++) {
      const task = await enqueue(app)
      const started = drainQueue(app)
      for (let i = 0; i < ticks; i++) await Promise.resolve()
      await runQueueCommand(app, 'pause', task)
      await started
      assert.deepEqual(await statusAndPaused(app, task), { status: 'pending', paused: true }, `after ${ticks} ticks`)
    }
  })
})
