import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { enqueue, fakeTool, type QueuedTask, recordsOf } from '../support/fake-tools.ts'
import { dispatchOf, freshFolder, openApp, waitUntil } from '../support/open-app.ts'

const poke: ScriptedStep = { calls: [{ tool: 'poke' }] }
const done: ScriptedStep = { text: 'done' }
const waiting: ScriptedStep = { calls: [{ tool: 'wait', args: { for: 'message', until: '10m' } }] }

const ask = (app: App, verb: 'pause' | 'resume' | 'cancel', { dispatch_id }: QueuedTask) =>
  app.run(`queue ${verb}`, { id: dispatch_id }) as Promise<{ items: { dispatch_id: string; status: string }[] }>

const drained = (app: App) => app.run('start', { until_idle: true })

const standing = async (app: App, { dispatch_id }: QueuedTask): Promise<[string, boolean]> => {
  const { status, paused } = await dispatchOf(app, dispatch_id)
  return [status, paused]
}

describe('pause', () => {
  /** A run whose first tool call goes on until the test lets it go. */
  async function underWay(t: Parameters<typeof openApp>[0], home: string, model: ScriptedModel) {
    const gate = Promise.withResolvers<string>()
    const tool = fakeTool({ run: () => (tool.receivedArgs.length === 1 ? gate.promise : 'again') })
    const app = await openApp(t, { home, model, tools: [tool] })
    const task = await enqueue(app)
    const started = drained(app)
    await waitUntil(() => tool.receivedArgs.length > 0)
    return { app, task, tool, started, goOn: () => gate.resolve('first') }
  }

  test('case 56: said only when it is durable: the step under way is committed first, then nothing moves, also after a restart', async (t) => {
    const home = freshFolder(t)
    const model = scriptedModel([poke, poke, done])
    const { app, task, tool, started, goOn } = await underWay(t, home, model)
    let said = false
    const paused = ask(app, 'pause', task).then((reached) => {
      said = true
      return reached
    })
    await waitUntil(async () => (await dispatchOf(app, task.dispatch_id)).paused)
    await new Promise(setImmediate)
    assert.deepEqual([said, await standing(app, task)], [false, ['running', true]])
    goOn()
    assert.equal((await paused).items[0]?.status, 'pending')
    await started
    assert.deepEqual(await standing(app, task), ['pending', true])
    assert.equal((await recordsOf(app, task.session_id, 'step_committed')).length, 1)
    await app.close()

    const later = await openApp(t, { home, model, tools: [tool] })
    await drained(later)
    assert.deepEqual([await standing(later, task), tool.receivedArgs.length], [['pending', true], 1])
    await ask(later, 'resume', task)
    await drained(later)
    assert.deepEqual([await standing(later, task), tool.receivedArgs.length], [['done', false], 2])
  })

  test('case 56: before its first step, and while it waits: it is not claimed, and a wake is not lost', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([waiting, done])
    const app = await openApp(t, { clock, model })
    const task = await enqueue(app)
    await ask(app, 'pause', task)
    await drained(app)
    assert.deepEqual([await standing(app, task), model.requests.length], [['pending', true], 0])
    await ask(app, 'resume', task)
    await drained(app)
    assert.equal((await standing(app, task))[0], 'waiting')
    await ask(app, 'pause', task)
    await clock.advance(600_000)
    await app.run('send', { session: task.session_id, text: 'hello?' })
    await drained(app)
    assert.deepEqual([await standing(app, task), model.requests.length], [['pending', true], 1])
    await ask(app, 'resume', task)
    await drained(app)
    assert.deepEqual([await standing(app, task), model.requests.length], [['done', false], 2])
  })

  test('case 56: resume is heard by whoever works the queue', async (t) => {
    const stop = new AbortController()
    const signals = { drain: stop.signal, abort: new AbortController().signal }
    const app = await openApp(t, { model: scriptedModel([done]), signals })
    const task = await enqueue(app)
    await ask(app, 'pause', task)
    const started = app.run('start', {})
    const other = await enqueue(app)
    await waitUntil(async () => (await standing(app, other))[0] === 'done')
    assert.deepEqual(await standing(app, task), ['pending', true])
    await ask(app, 'resume', task)
    await waitUntil(async () => (await standing(app, task))[0] === 'done')
    stop.abort()
    await started
  })

  test('case 56: it reaches the children of a dispatch, and theirs; so do resume and cancel', async (t) => {
    const app = await openApp(t, { model: scriptedModel([done]) })
    const parent = await enqueue(app, { prompt: 'parent' })
    const child = await enqueue(app, { prompt: 'child', parent: parent.dispatch_id })
    const grandchild = await enqueue(app, { prompt: 'grandchild', parent: child.dispatch_id })
    const stranger = await enqueue(app, { prompt: 'stranger' })
    const family = [parent, child, grandchild]
    const ids = family.map(({ dispatch_id }) => dispatch_id)
    assert.deepEqual(
      (await ask(app, 'pause', parent)).items.map(({ dispatch_id }) => dispatch_id),
      ids,
    )
    await drained(app)
    for (const member of family) assert.deepEqual(await standing(app, member), ['pending', true])
    assert.equal((await standing(app, stranger))[0], 'done')
    await ask(app, 'resume', child)
    await drained(app)
    assert.deepEqual(await Promise.all(family.map(async (member) => (await standing(app, member))[0])), [
      'pending',
      'done',
      'done',
    ])
    const late = await enqueue(app, { prompt: 'late', parent: parent.dispatch_id })
    assert.equal((await ask(app, 'cancel', parent)).items.length, 2)
    for (const member of [parent, late]) assert.equal((await standing(app, member))[0], 'cancelled')
  })

  test('case 56: the child of nobody is refused', async (t) => {
    const app = await openApp(t)
    await assert.rejects(enqueue(app, { parent: 'nobody' }), { code: 'not_found', message: /nobody/ })
  })

  test('case 53: what is paused can be cancelled, and is no longer paused then', async (t) => {
    const model = scriptedModel([waiting])
    const app = await openApp(t, { model })
    const task = await enqueue(app)
    await drained(app)
    await ask(app, 'pause', task)
    assert.equal((await ask(app, 'cancel', task)).items[0]?.status, 'cancelled')
    assert.deepEqual(await standing(app, task), ['cancelled', false])
  })

  test('case 56: at every moment of being claimed: none is lost', async (t) => {
    const model = scriptedModel((_, turn) => (turn < 12 ? { calls: [{ tool: 'poke', args: { turn } }] } : done))
    const app = await openApp(t, { model, tools: [fakeTool()] })
    for (let ticks = 0; ticks < 40; ticks++) {
      const task = await enqueue(app)
      const started = drained(app)
      for (let i = 0; i < ticks; i++) await Promise.resolve()
      await ask(app, 'pause', task)
      await started
      assert.deepEqual(await standing(app, task), ['pending', true], `after ${ticks} ticks`)
    }
  })
})
