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

const done: ScriptedStep = { text: 'done' }
const acting: ScriptedStep = { calls: [{ tool: 'poke' }, { tool: 'poke', args: { second: true } }] }
const waiting: ScriptedStep = { calls: [{ tool: 'wait', args: { for: 'message' } }] }

describe('cancel at once', () => {
  test('case 51: during a model call: it is aborted, nothing of it is in the history, journal and trace are closed', async (t) => {
    const home = freshFolder(t)
    const model = hangingModel('half a sen')
    const app = await openApp(t, { home, model })
    const heard: string[] = []
    app.context.listen((progress) => {
      if (progress.kind === 'delta' && progress.delta.kind === 'text') heard.push(progress.delta.text)
    })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => heard.length > 0)
    assert.deepEqual((await cancelDispatch(app, task)).items, [
      { dispatch_id: task.dispatch_id, was: 'running', status: 'cancelled' },
    ])
    await started
    assert.equal(model.aborted, true)
    assert.equal(heard.join(''), 'half a sen')
    const journal = await journalOf(app, task.session_id)
    assert.doesNotMatch(JSON.stringify(journal), /half a sen/)
    assert.deepEqual(kindsOf(journal).slice(-2), ['step_committed', 'run_ended'])
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
    await app.close()
    const manifest = JSON.parse(readFileSync(join(home, 'traces', task.dispatch_id, 'manifest.json'), 'utf8'))
    assert.partialDeepStrictEqual(manifest, { stop_reason: 'cancelled' })
  })

  test('case 51: what was said to it and never seen by its mind is still unread, and its next run hears it once', async (t) => {
    let hanging = true
    const inner = hangingModel()
    const scripted = scriptedModel([done])
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

  test('case 51: a model that does not heed its signal is left behind', async (t) => {
    const clock = new FakeClock()
    const deaf = { id: 'scripted/deaf', call: () => new Promise<never>(() => {}) }
    const app = await openApp(t, { model: deaf, clock })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => hasRecord(app, task, 'model_requested'))
    await advanceUntilDone(clock, cancelDispatch(app, task))
    await advanceUntilDone(clock, started)
    assert.deepEqual([await statusOf(app, task), await stopReasonsOf(app, task)], ['cancelled', ['cancelled']])
  })

  test('case 51: during a tool: it is told to stop, the next call does not begin, the results are on record', async (t) => {
    const tool = fakeTool({ run: untilAborted })
    const app = await openApp(t, { model: scriptedModel([acting, done]), tools: [tool] })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => tool.receivedArgs.length > 0)
    await cancelDispatch(app, task)
    await started
    assert.deepEqual(
      (await resultsOf(app, task.session_id)).map(({ status }) => status),
      ['interrupted', 'not_started'],
    )
    assert.deepEqual([tool.receivedArgs.length, await statusOf(app, task)], [1, 'cancelled'])
  })
})

describe('cancel after the step', () => {
  /** A tool that is under way until the test lets it go. */
  async function underWay(t: Parameters<typeof openApp>[0], script: readonly ScriptedStep[]) {
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
    return { app, task, tool, model, started, goOn: () => gate.resolve('first') }
  }
  const wished = async (app: App, { dispatch_id }: QueuedTask) => (await dispatchOf(app, dispatch_id)).cancel

  test('case 52: the step that is under way is completed and committed; then it is over', async (t) => {
    const { app, task, model, started, goOn } = await underWay(t, [acting, done])
    const cancelled = cancelDispatch(app, task, 'after_step')
    await waitUntil(async () => (await wished(app, task)) === 'after_step')
    goOn()
    assert.equal((await cancelled).items[0]?.status, 'cancelled')
    await started
    assert.deepEqual(
      (await resultsOf(app, task.session_id)).map(({ content }) => content),
      ['first', 'second'],
    )
    const [step] = await recordsOf(app, task.session_id, 'step_committed')
    assert.deepEqual([step?.next.kind, model.requests.length], ['continue', 1])
    assert.deepEqual(await stopReasonsOf(app, task), ['cancelled'])
  })

  /** Told to end with its step while the model thinks about what that step is. */
  async function cancelledWhileAsked(t: TestContext, script: readonly ScriptedStep[]) {
    const gate = Promise.withResolvers<void>()
    const model = scriptedModel(script)
    const thoughtful: typeof model = {
      ...model,
      async call(...given) {
        await gate.promise
        return model.call(...given)
      },
    }
    const app = await openApp(t, { model: thoughtful })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => hasRecord(app, task, 'model_requested'))
    const cancelled = cancelDispatch(app, task, 'after_step')
    await waitUntil(async () => (await wished(app, task)) === 'after_step')
    gate.resolve()
    const { items } = await cancelled
    await started
    return { app, task, model, status: items[0]?.status }
  }

  test('case 52: a step that ends in an answer ends in an answer', async (t) => {
    const { app, task, status } = await cancelledWhileAsked(t, [{ text: 'just in time' }])
    assert.equal(status, 'done')
    assert.equal((await dispatchOf(app, task.dispatch_id)).result, 'just in time')
  })

  test('case 52: a step that ends in a wait is the last one: nobody waits for it', async (t) => {
    const { app, task, model, status } = await cancelledWhileAsked(t, [waiting, done])
    assert.equal(status, 'cancelled')
    assert.deepEqual([await stopReasonsOf(app, task), model.requests.length], [['cancelled'], 1])
  })

  test('case 52: a wish only gets stronger: after_step, then at once', async (t) => {
    const { app, task, started } = await underWay(t, [acting, done])
    const gently = cancelDispatch(app, task, 'after_step')
    await waitUntil(async () => (await wished(app, task)) === 'after_step')
    await cancelDispatch(app, task, 'immediate')
    await Promise.all([gently, started])
    assert.deepEqual(
      (await resultsOf(app, task.session_id)).map(({ status }) => status),
      ['interrupted', 'not_started'],
    )
  })

  test('case 52: and never weaker: at once, then after_step', async (t) => {
    const gate = Promise.withResolvers<string>()
    const deaf = fakeTool({ run: () => gate.promise })
    const app = await openApp(t, { model: scriptedModel([acting, done]), tools: [deaf] })
    const task = await enqueue(app)
    const started = app.run('start', { until_idle: true })
    await waitUntil(() => deaf.receivedArgs.length > 0)
    const both = [cancelDispatch(app, task, 'immediate'), cancelDispatch(app, task, 'after_step')]
    await waitUntil(async () => (await wished(app, task)) !== null)
    await new Promise(setImmediate)
    assert.equal(await wished(app, task), 'immediate')
    gate.resolve('after all')
    await Promise.all([...both, started])
    assert.deepEqual(
      (await resultsOf(app, task.session_id)).map(({ status }) => status),
      ['ok', 'not_started'],
    )
  })
})
