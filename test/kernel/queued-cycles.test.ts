import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Cycle, CycleResult } from '../../src/domain/cycle.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { diligentScript, type KernelHome, listDispatches, MINUTE, openKernelApp, runOnce } from '../support/kernels.ts'
import { waitUntil } from '../support/open-app.ts'

const cyclesIn = async (app: App): Promise<readonly Cycle[]> =>
  ((await app.run('cycles list', { limit: 100 })) as { items: Cycle[] }).items

/** A home whose model answers nobody until it is let go. */
async function held(t: TestContext, more: Partial<Parameters<typeof openKernelApp>[1]> = {}) {
  let release = (): void => {}
  const holding = new Promise<void>((resolve) => {
    release = resolve
  })
  const scripted = scriptedModel(diligentScript)
  const stop = new AbortController()
  const home = await openKernelApp(t, {
    agents: [{ agent_id: 'a' }],
    ...more,
    options: {
      signals: { drain: stop.signal, abort: new AbortController().signal },
      model: {
        ...scripted,
        async call(...given) {
          await holding
          return scripted.call(...given)
        },
      },
    },
  })
  t.after(() => {
    release()
    stop.abort()
  })
  return { ...home, release, stop }
}

const isRunning = async ({ app }: Pick<KernelHome, 'app'>): Promise<boolean> =>
  (await listDispatches(app)).some(({ status }) => status === 'running')

describe('cycles of a kernel never overlap (I5)', () => {
  test('I5: cycle now beside a beat that is made up for: it comes after it, and neither is cut short', async (t) => {
    const home = await held(t)
    await home.app.run('start', { until_idle: true })
    await home.clock.advance(15 * MINUTE)
    const catching = home.app.run('start', { until_idle: true })
    await waitUntil(() => isRunning(home))
    const now = home.app.run('cycle now', {}) as Promise<CycleResult>
    home.release()
    const [{ status }] = await Promise.all([now, catching])
    const cycles = await cyclesIn(home.app)
    assert.deepEqual([status, cycles.map(({ result }) => result?.status)], ['success', ['success', 'success']])
    const [second, first] = cycles
    assert.ok(Date.parse(second?.started_at ?? '') >= Date.parse(first?.ended_at ?? ''))
  })

  test('I5: two cycles asked for at once where no kernel lives: one after the other', async (t) => {
    const home = await held(t)
    const both = [runOnce(home.app), home.app.run('cycle now', {}) as Promise<CycleResult>]
    await waitUntil(() => isRunning(home))
    home.release()
    assert.deepEqual(
      (await Promise.all(both)).map(({ status }) => status),
      ['success', 'success'],
    )
  })

  test('I5: a cycle asked for just before the kernel lives gives way to its beats, however long its work takes', async (t) => {
    const home = await held(t)
    const asked = home.app.run('cycle now', {})
    await waitUntil(() => isRunning(home))
    const life = home.app.run('start', {})
    await waitUntil(() => home.app.context.kernel.nextBeatAt() !== undefined)
    await home.clock.advance(10 * MINUTE)
    await waitUntil(async () => (await cyclesIn(home.app)).some(({ trigger }) => trigger === 'kernel:default'))
    home.release()
    home.stop.abort()
    await Promise.all([asked, life])
  })

  test('a cycle that the kernel does not come to before it is stopped: whoever asked is told so', async (t) => {
    const home = await held(t)
    const life = home.app.run('start', {})
    const kernel = async () => ((await home.app.run('status', {})) as { kernel: { next_beat: unknown } }).kernel
    await waitUntil(async () => (await kernel()).next_beat !== null)
    await home.clock.advance(10 * MINUTE)
    await waitUntil(() => isRunning(home))
    const asked = assert.rejects(
      home.app.run('cycle now', {}),
      (thrown) => thrown instanceof TirelessError && thrown.code === 'aborted' && thrown.message.includes('stopped'),
    )
    home.stop.abort()
    home.release()
    await Promise.all([asked, life])
    assert.equal((await cyclesIn(home.app)).length, 1)
  })
})
