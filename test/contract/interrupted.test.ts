import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import type { Verdict } from '../../src/domain/decision.ts'
import { GRACE_MS } from '../../src/engine/grace-period.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { blockCommits } from '../support/blocking-store.ts'
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
import { advanceUntilDone, freshFolder, openApp, waitUntil } from '../support/open-app.ts'

const CONTINUE: Verdict = { kind: 'continue' }
const BEFORE = { status: 'not_started', content: 'The run was interrupted before this call started.' }

const poking = (times: number): ScriptedModel =>
  scriptedModel([{ calls: Array.from({ length: times }, (_, n) => ({ tool: 'poke', args: { n } })) }, { text: 'done' }])

const replayed = async (app: App, { dispatch_id }: QueuedTask): Promise<boolean> =>
  ((await app.run('replay', { run: dispatch_id })) as { identical: boolean }).identical

/** A task under way in an app that can be told to stop at once, as a second SIGTERM does. */
async function underWay(t: TestContext, options: AppOptions, home = freshFolder(t)) {
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

describe('interrupted', () => {
  for (const times of [1, 2])
    test(`I10, I4: while the intent of ${times} is written: the hand does not begin to move, and the mind is told so`, async (t) => {
      const tool = fakeTool({ effect: PURE })
      const writing = blockCommits(
        (op) => op.op === 'append' && op.records.some(({ kind }) => kind === 'call_intended'),
      )
      const options = { tools: [tool], model: poking(times), plugins: [writing.plugin] }
      const { app, task, started, stop, home } = await underWay(t, options)
      await waitUntil(writing.isBlocked)
      stop()
      writing.release()
      await started
      assert.deepEqual([tool.receivedArgs, await statusOf(app, task)], [[], 'pending'])
      assert.deepEqual(await resultsOf(app, task.session_id), Array(times).fill(BEFORE))
      assert.equal(await replayed(app, task), true)
      await app.close()
      const next = await openApp(t, { home, tools: [tool], model: poking(times) })
      await next.run('start', { until_idle: true })
      assert.deepEqual([await statusOf(next, task), tool.receivedArgs], ['done', []])
      assert.equal(await replayed(next, task), true)
    })

  test('I10, I4: cancelled while the intent is written: it is not begun, and nothing is unknown', async (t) => {
    const tool = fakeTool()
    const writing = blockCommits((op) => op.op === 'append' && op.records.some(({ kind }) => kind === 'call_intended'))
    const options = { tools: [tool], model: poking(1), plugins: [writing.plugin] }
    const { app, task, started } = await underWay(t, options)
    await waitUntil(writing.isBlocked)
    const cancelled = cancelDispatch(app, task, 'immediate')
    await waitUntil(
      async () =>
        ((await app.run('queue show', { id: task.dispatch_id })) as { cancel: string | null }).cancel !== null,
    )
    writing.release()
    await Promise.all([cancelled, started])
    assert.deepEqual([tool.receivedArgs, await stopReasonsOf(app, task)], [[], ['cancelled']])
    assert.deepEqual(await resultsOf(app, task.session_id), [BEFORE])
    assert.deepEqual(((await app.run('unknowns list', {})) as { items: unknown[] }).items, [])
    assert.equal(await replayed(app, task), true)
  })

  test('I11: a program that stops has booked what it paid to know its intent, however long that takes', async (t) => {
    const clock = new FakeClock()
    const booking = blockCommits((op) => op.op === 'spent' && op.id.includes('-intent-'))
    const read = fakeTool({ name: 'read', effect: PURE })
    const send = fakeTool({ effect: { recovery: 'once', reach: 'third_party' } })
    const model = scriptedModel(({ system }, turn) =>
      system.startsWith('You decide') ? { text: '[]' } : { calls: [{ tool: turn === 0 ? 'read' : 'poke', args: {} }] },
    )
    const { app, started, stop } = await underWay(t, { tools: [read, send], model, plugins: [booking.plugin], clock })
    await waitUntil(booking.isBlocked)
    stop()
    let isBooked = false
    // Long after everything else that is interrupted was left behind.
    void clock.sleep(10 * GRACE_MS).then(() => {
      isBooked = true
      booking.release()
    })
    await advanceUntilDone(clock, started)
    assert.equal(isBooked, true)
    await app.close()
  })

  test('Q17: neighbours that were cut short side by side are so again', async (t) => {
    const tool = fakeTool({ effect: PURE, run: untilAborted })
    const { app, task, started } = await underWay(t, { tools: [tool], model: poking(3) })
    await waitUntil(() => tool.receivedArgs.length === 3)
    await Promise.all([cancelDispatch(app, task, 'immediate'), started])
    const results = await resultsOf(app, task.session_id)
    assert.deepEqual(
      results.map(({ status }) => status),
      ['interrupted', 'interrupted', 'interrupted'],
    )
    assert.equal(await replayed(app, task), true)
  })

  test('Q17: a run that was put down between its call and the end of its step is replayed as far as it came, and as another program took it up', async (t) => {
    const clock = new FakeClock()
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const judge = (): Promise<never> => {
      ask()
      return new Promise(() => {})
    }
    const options = { tools: [fakeTool()], model: poking(1), critics: [{ name: 'slow', judge }], clock }
    const { app, task, started, stop, home } = await underWay(t, options)
    await asked
    stop()
    await advanceUntilDone(clock, started)
    assert.deepEqual([await statusOf(app, task), (await resultsOf(app, task.session_id)).length], ['pending', 1])
    assert.equal(await replayed(app, task), true)
    await app.close()
    const more = {
      tools: [fakeTool(), fakeTool({ name: 'prod' })],
      critics: [{ name: 'quick', judge: () => CONTINUE }],
    }
    const next = await openApp(t, { home, model: poking(1), ...more })
    await next.run('start', { until_idle: true })
    assert.deepEqual(
      [await statusOf(next, task), (await recordsOf(next, task.session_id, 'refitted')).length],
      ['done', 1],
    )
    assert.equal(await replayed(next, task), true)
  })

  test('Q17: one that was put down while a critic was asked, with a hook that breaks as it is taken up: replayed as it was', async (t) => {
    const clock = new FakeClock()
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const judge = (): Promise<never> => {
      ask()
      return new Promise(() => {})
    }
    const parts = { tools: [fakeTool()], clock }
    const { app, task, started, stop, home } = await underWay(t, {
      ...parts,
      model: poking(1),
      critics: [{ name: 'slow', judge }],
    })
    await asked
    stop()
    await advanceUntilDone(clock, started)
    await app.close()
    const hooks = [{ name: 'broken', on_before_act: () => assert.fail('it broke') }]
    const critics = [{ name: 'slow', judge: () => CONTINUE }]
    const next = await openApp(t, { home, model: poking(1), critics, hooks, ...parts })
    await advanceUntilDone(clock, next.run('start', { until_idle: true }))
    assert.deepEqual(
      [await statusOf(next, task), (await recordsOf(next, task.session_id, 'diagnosed')).length],
      ['done', 2],
    )
    assert.equal(await replayed(next, task), true)
  })
})
