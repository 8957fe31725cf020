/** What a kernel does with nothing to do: nothing; and that what it does has a lease all the while. */

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
import { advanceUntilDone, openApp, runTaskIn, waitUntil } from '../support/open-app.ts'

interface Status {
  readonly workers: readonly { readonly epoch: number; readonly lease_until: string }[]
}

test('I8: an hour without work is an hour without a write, and the worker is there all the same', async (t) => {
  const { app, clock } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], kernel: { schedule: '0 4 1 1 *' } })
  const { context } = app
  const enough = new AbortController()
  const draining = context.drain({ untilIdle: false, until: enough.signal })
  await waitUntil(() => context.epoch() !== undefined)
  const pass = async (minutes: number): Promise<void> => {
    for (let i = 0; i < minutes; i++) await advanceUntilDone(clock, clock.sleep(MINUTE))
  }
  await pass(1)
  const before = context.store.commits()
  await pass(60)
  assert.equal(context.store.commits(), before)
  const { workers } = (await app.run('status', {})) as Status
  assert.deepEqual(
    workers.map(({ epoch }) => epoch),
    [context.epoch()],
  )
  enough.abort()
  await draining
})

test('E6: who works for longer than a lease keeps it; who rested has one again with the work', async (t) => {
  const clock = new FakeClock({ now: NOON })
  const alive = async (): Promise<number> => (await app.context.store.workers(clock.now())).length
  const seen: number[] = []
  const work = defineTool({
    name: 'work_long',
    description: 'works for five minutes',
    args: z.object({}),
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    async run() {
      for (let i = 0; i < 60; i++) {
        seen.push(await alive())
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
  await waitUntil(async () => (await alive()) === 1)
  await advanceUntilDone(clock, clock.sleep(2 * MINUTE))
  assert.equal(await alive(), 0, 'it rests')
  const worked = async (): Promise<void> => {
    const running = runTaskIn(app)
    // Before any time has passed.
    await waitUntil(() => seen.length > 0)
    assert.equal((await advanceUntilDone(clock, running)).status, 'done')
    assert.deepEqual(
      seen.splice(0),
      Array.from({ length: 60 }, () => 1),
    )
  }
  await worked()
  stop.abort()
  await draining
  await advanceUntilDone(clock, clock.sleep(2 * MINUTE))
  assert.equal(await alive(), 0, 'nobody works the queue')
  await worked()
})

test('case 101: a store that fails while nothing is at work ends the drain all the same', async (t) => {
  const clock = new FakeClock({ now: NOON })
  const app = await openApp(t, { clock })
  const engine = app.service('engine')
  const bell = createWakeSignal()
  let isGone = false
  const commit: Store['commit'] = (batches) =>
    isGone ? Promise.reject(new TirelessError('store_failed', 'the disk is gone')) : engine.store.commit(batches)
  const store = ringOnCommit({ ...engine.store, commit }, bell)
  const { epoch } = await joinHome({ ...engine, store }, 'worker')
  const kernel: DrainDeps = {
    engine: { ...engine, store },
    wakeSignal: bell,
    epoch,
    maxConcurrent: 1,
    controls: new Map(),
    held: createHeldDispatches(bell),
  }
  const signals = { drain: new AbortController().signal, abort: new AbortController().signal }
  const draining = drain(kernel, { untilIdle: false, signals })
  await advanceUntilDone(clock, clock.sleep(MINUTE))
  isGone = true
  await assert.rejects(commitOne(store, [{ op: 'set', name: 'a', value: 1 }]), { code: 'store_failed' })
  await assert.rejects(advanceUntilDone(clock, draining), { code: 'store_failed' })
})
