/** An idle kernel writes nothing, and a worker holds a lease whenever it works. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { TirelessError } from '../../src/domain/error.ts'
import { type DrainDeps, drain, joinHome } from '../../src/kernel/queue/drain.ts'
import { createHeldDispatches } from '../../src/kernel/queue/held-dispatches.ts'
import { createWakeSignal, ringOnCommit } from '../../src/kernel/queue/wake-signal.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { commitOne, type Store } from '../../src/ports/store.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { MINUTE, NOON, openKernelApp } from '../support/kernels.ts'
import { advanceUntilDone, openApp, passTime, runTaskIn, waitUntil } from '../support/open-app.ts'

test('I8, O15, case 65: an idle hour has no commit, and the worker is still listed', async (t) => {
  const { app, clock } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], kernel: { schedule: '0 4 1 1 *' } })
  const { context } = app
  const stopDrain = new AbortController()
  const draining = context.drain({ untilIdle: false, until: stopDrain.signal })
  await waitUntil(() => context.epoch() !== undefined)
  const pass = async (minutes: number): Promise<void> => {
    for (let i = 0; i < minutes; i++) await passTime(clock, MINUTE)
  }
  await pass(1)
  const before = context.store.commits()
  await pass(60)
  assert.equal(context.store.commits(), before)
  const { workers } = await app.run('status', {})
  assert.deepEqual(
    workers.map(({ epoch }) => epoch),
    [context.epoch()],
  )
  stopDrain.abort()
  await draining
})

test('E6: a worker renews its lease during long work, and takes one again after idling', async (t) => {
  const clock = new FakeClock({ now: NOON })
  const countWorkers = async (): Promise<number> => (await app.context.store.workers(clock.now())).length
  const workerCounts: number[] = []
  const work = defineTool({
    name: 'work_long',
    description: 'works for five minutes',
    args: z.object({}),
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    async run() {
      for (let i = 0; i < 60; i++) {
        workerCounts.push(await countWorkers())
        await clock.sleep(5000)
      }
      return { status: 'ok', content: 'worked' }
    },
  })
  const model = scriptedModel(({ messages }) =>
    messages.length > 1 ? { text: 'done' } : { calls: [{ tool: 'work_long', args: {} }] },
  )
  const app = await openApp(t, { clock, model, tools: [work] })
  const stop = new AbortController()
  const draining = app.context.drain({ untilIdle: false, until: stop.signal })
  await waitUntil(async () => (await countWorkers()) === 1)
  await passTime(clock, 2 * MINUTE)
  assert.equal(await countWorkers(), 0, 'the worker is idle')
  const runLongTask = async (): Promise<void> => {
    const running = runTaskIn(app)
    // Wait in real time, before the fake clock advances.
    await waitUntil(() => workerCounts.length > 0)
    assert.equal((await advanceUntilDone(clock, running)).status, 'done')
    assert.deepEqual(
      workerCounts.splice(0),
      Array.from({ length: 60 }, () => 1),
    )
  }
  await runLongTask()
  stop.abort()
  await draining
  await passTime(clock, 2 * MINUTE)
  assert.equal(await countWorkers(), 0, 'no worker drains the queue')
  await runLongTask()
})

test('case 101: a failed commit ends an idle drain at once, not at the next heartbeat', {
  timeout: 60_000,
}, async (t) => {
  const clock = new FakeClock({ now: NOON })
  const app = await openApp(t, { clock })
  const engine = app.service('engine')
  const wakeSignal = createWakeSignal()
  let hasFailed = false
  const commit: Store['commit'] = (batches) =>
    hasFailed ? Promise.reject(new TirelessError('store_failed', 'the disk is gone')) : engine.store.commit(batches)
  const store = ringOnCommit({ ...engine.store, commit }, wakeSignal)
  const { epoch } = await joinHome({ ...engine, store }, 'worker')
  const kernel: DrainDeps = {
    engine: { ...engine, store },
    wakeSignal,
    epoch,
    maxConcurrent: 1,
    controls: new Map(),
    held: createHeldDispatches(wakeSignal),
  }
  const signals = { drain: new AbortController().signal, abort: new AbortController().signal }
  const draining = drain(kernel, { untilIdle: false, signals })
  await passTime(clock, MINUTE)
  hasFailed = true
  await assert.rejects(commitOne(store, [{ op: 'set', name: 'a', value: 1 }]), { code: 'store_failed' })
  // The fake clock stands still from here on: no heartbeat is due.
  await assert.rejects(draining, { code: 'store_failed' })
})

test('a worker that was told to stop while it waited for its turn to claim claims nothing', async (t) => {
  const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
  const { context } = app
  const { dispatch_id } = await app.run('enqueue', { prompt: 'work' })
  // The worker joins the home here, because joining, too, waits for an undo.
  await context.drain({ untilIdle: true, only: [] })
  const [undo, stop] = [Promise.withResolvers<void>(), new AbortController()]
  const undoing = context.withoutClaims(() => undo.promise)
  const draining = context.drain({ untilIdle: false, until: stop.signal })
  await waitUntil(() => context.epoch() !== undefined)
  // The worker is now at its claim, behind the undo.
  for (let i = 0; i < 5; i++) await context.store.counts()
  stop.abort()
  undo.resolve()
  await Promise.all([undoing, draining])
  assert.equal((await context.store.dispatch(dispatch_id))?.attempts, 0)
})

test('E6: a waiting worker starts a retried dispatch at once, not at its next look', { timeout: 60_000 }, async (t) => {
  let isBroken = true
  const model = scriptedModel(() => {
    if (isBroken) throw new TirelessError('model_refused', 'not today')
    return { text: 'done after all' }
  })
  const app = await openApp(t, { model, clock: new FakeClock({ now: NOON }) })
  const { dispatch_id: id } = await app.run('run', { task: 'try' })
  isBroken = false
  const stop = new AbortController()
  const draining = app.context.drain({ untilIdle: false, until: stop.signal })
  await waitUntil(() => app.context.epoch() !== undefined)
  for (let i = 0; i < 20; i++) await app.context.store.counts()
  // The clock stands still: only the retry itself can wake the worker.
  await app.run('queue retry', { id })
  await waitUntil(async () => (await app.run('queue show', { id })).status === 'done')
  stop.abort()
  await draining
})
