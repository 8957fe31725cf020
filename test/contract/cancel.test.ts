import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  cancelDispatch,
  enqueue,
  fakeTool,
  hangingModel,
  hasRecord,
  type QueuedTask,
  recordsOf,
  resultsOf,
  statusOf,
  stopReasonsOf,
  untilAborted,
} from '../support/fake-tools.ts'
import {
  advanceUntilDone,
  dispatchOf,
  freshFolder,
  journalOf,
  kindsOf,
  openApp,
  waitUntil,
} from '../support/open-app.ts'

const finalStep: ScriptedStep = { text: 'done' }
const twoCalls: ScriptedStep = { calls: [{ tool: 'poke' }, { tool: 'poke', args: { second: true } }] }
const waitStep: ScriptedStep = { calls: [{ tool: 'wait', args: { for: 'message' } }] }

describe('immediate cancelling', () => {
  test('case 51: a cancelled model call is aborted and leaves no text in the journal', async (t) => {
    const home = freshFolder(t)
    const model = hangingModel('half a sen')
    const app = await openApp(t, { home, model })
    const deltas: string[] = []
    app.context.listen((progress) => {
      if (progress.kind === 'delta' && progress.delta.kind === 'text') deltas.push(progress.delta.text)
    })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => deltas.length > 0)
    assert.deepEqual((await cancelDispatch(app, task)).items, [
      { dispatch_id: task.dispatch_id, was: 'running', status: 'cancelled' },
    ])
    await started
    assert.equal(model.aborted, true)
    assert.equal(deltas.join(''), 'half a sen')
    const journal = await journalOf(app, task.session_id)
    assert.doesNotMatch(JSON.stringify(journal), /half a sen/)
    assert.deepEqual(kindsOf(journal).slice(-2), ['step_committed', 'run_ended'])
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
    await app.close()
    const manifest = JSON.parse(readFileSync(join(home, 'traces', task.dispatch_id, 'manifest.json'), 'utf8'))
    assert.partialDeepStrictEqual(manifest, { stop_reason: 'cancelled' })
  })

  test('case 51: after a cancelled model call the next run reads the next message only', async (t) => {
    let hanging = true
    const inner = hangingModel()
    const scripted = scriptedModel([finalStep])
    const model = {
      ...inner,
      call: (...given: Parameters<typeof scripted.call>) => (hanging ? inner : scripted).call(...given),
    }
    const app = await openApp(t, { model })
    const task = await enqueue(app, { prompt: 'first' })
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => hasRecord(app, task, 'model_requested'))
    await cancelDispatch(app, task)
    await started
    hanging = false
    await app.run('send', { session: task.session_id, text: 'second' })
    await app.run('start', { until_idle: true })
    assert.deepEqual(scripted.requests[0]?.messages, [{ role: 'user', text: 'second' }])
  })

  test('case 51: cancelling does not wait for a model that ignores its signal', async (t) => {
    const clock = new FakeClock()
    const unresponsive = { id: 'scripted/unresponsive', call: () => new Promise<never>(() => {}) }
    const app = await openApp(t, { model: unresponsive, clock })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => hasRecord(app, task, 'model_requested'))
    await advanceUntilDone(clock, cancelDispatch(app, task))
    await advanceUntilDone(clock, started)
    assert.deepEqual(
      { status: await statusOf(app, task), stopReasons: await stopReasonsOf(app, task) },
      { status: 'cancelled', stopReasons: ['cancelled'] },
    )
  })

  test('case 51: cancelling aborts the running call, skips the next one and records both results', async (t) => {
    const tool = fakeTool({ run: untilAborted })
    const app = await openApp(t, { model: scriptedModel([twoCalls, finalStep]), tools: [tool] })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => tool.receivedArgs.length > 0)
    await cancelDispatch(app, task)
    await started
    assert.deepEqual(
      (await resultsOf(app, task.session_id)).map(({ status }) => status),
      ['interrupted', 'not_started'],
    )
    assert.deepEqual(
      { callCount: tool.receivedArgs.length, status: await statusOf(app, task) },
      { callCount: 1, status: 'cancelled' },
    )
  })
})

describe('cancelling after the step', () => {
  /** Starts a run whose first call hangs until the test calls `finishCall`. */
  async function startHangingCall(t: Parameters<typeof openApp>[0], script: readonly ScriptedStep[]) {
    const gate = Promise.withResolvers<string>()
    const tool = fakeTool({
      run: (args, context) =>
        args.second === true ? 'second' : Promise.race([gate.promise, untilAborted(args, context)]),
    })
    const model = scriptedModel(script)
    const app = await openApp(t, { model, tools: [tool] })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => tool.receivedArgs.length > 0)
    return { app, task, tool, model, started, finishCall: () => gate.resolve('first') }
  }
  const cancelModeOf = async (app: App, { dispatch_id }: QueuedTask) => (await dispatchOf(app, dispatch_id)).cancel

  test('case 52: the current step is completed and committed, then the run ends', async (t) => {
    const { app, task, model, started, finishCall } = await startHangingCall(t, [twoCalls, finalStep])
    const cancelled = cancelDispatch(app, task, 'after_step')
    await waitUntil(async () => (await cancelModeOf(app, task)) === 'after_step')
    finishCall()
    assert.equal((await cancelled).items[0]?.status, 'cancelled')
    await started
    assert.deepEqual(
      (await resultsOf(app, task.session_id)).map(({ content }) => content),
      ['first', 'second'],
    )
    const [step] = await recordsOf(app, task.session_id, 'step_committed')
    assert.deepEqual({ kind: step?.next.kind, requests: model.requests.length }, { kind: 'continue', requests: 1 })
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
  })

  /** Cancels with `after_step` while the model call is in progress. */
  async function cancelDuringModelCall(t: TestContext, script: readonly ScriptedStep[]) {
    const gate = Promise.withResolvers<void>()
    const model = scriptedModel(script)
    const blockedModel: typeof model = {
      ...model,
      async call(...given) {
        await gate.promise
        return model.call(...given)
      },
    }
    const app = await openApp(t, { model: blockedModel })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => hasRecord(app, task, 'model_requested'))
    const cancelled = cancelDispatch(app, task, 'after_step')
    await waitUntil(async () => (await cancelModeOf(app, task)) === 'after_step')
    gate.resolve()
    const { items } = await cancelled
    await started
    return { app, task, model, status: items[0]?.status }
  }

  test('case 52: a step that gives the final answer still ends the run as done', async (t) => {
    const { app, task, status } = await cancelDuringModelCall(t, [{ text: 'just in time' }])
    assert.equal(status, 'done')
    assert.equal((await dispatchOf(app, task.dispatch_id)).result, 'just in time')
  })

  test('case 52: a step that decides to wait is the last one; the run is cancelled', async (t) => {
    const { app, task, model, status } = await cancelDuringModelCall(t, [waitStep, finalStep])
    assert.equal(status, 'cancelled')
    assert.deepEqual(
      { stopReasons: await stopReasonsOf(app, task), requestCount: model.requests.length },
      { stopReasons: ['cancelled'], requestCount: 1 },
    )
  })

  test('case 52: an immediate cancel overrides an earlier after_step', async (t) => {
    const { app, task, started } = await startHangingCall(t, [twoCalls, finalStep])
    const afterStep = cancelDispatch(app, task, 'after_step')
    await waitUntil(async () => (await cancelModeOf(app, task)) === 'after_step')
    await cancelDispatch(app, task, 'immediate')
    await Promise.all([afterStep, started])
    assert.deepEqual(
      (await resultsOf(app, task.session_id)).map(({ status }) => status),
      ['interrupted', 'not_started'],
    )
  })

  test('case 52: after_step does not weaken an earlier immediate cancel', async (t) => {
    const gate = Promise.withResolvers<string>()
    const unresponsive = fakeTool({ run: () => gate.promise })
    const app = await openApp(t, { model: scriptedModel([twoCalls, finalStep]), tools: [unresponsive] })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => unresponsive.receivedArgs.length > 0)
    const both = [cancelDispatch(app, task, 'immediate'), cancelDispatch(app, task, 'after_step')]
    await waitUntil(async () => (await cancelModeOf(app, task)) !== null)
    await new Promise(setImmediate)
    assert.equal(await cancelModeOf(app, task), 'immediate')
    gate.resolve('finished')
    await Promise.all([...both, started])
    assert.deepEqual(
      (await resultsOf(app, task.session_id)).map(({ status }) => status),
      ['ok', 'not_started'],
    )
  })
})
