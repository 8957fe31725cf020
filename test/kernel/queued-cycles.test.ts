import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { CycleResult } from '../../src/domain/cycle.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  diligentScript,
  type KernelHome,
  type ListedCycle,
  listDispatches,
  MINUTE,
  openKernelApp,
  runOnce,
} from '../support/kernels.ts'
import { waitUntil } from '../support/open-app.ts'

const listCycles = async (app: App): Promise<readonly ListedCycle[]> =>
  (await app.run('cycles list', { limit: 100 })).items

/** A home whose model answers only after `release`. */
async function openBlockedKernel(t: TestContext, more: Partial<Parameters<typeof openKernelApp>[1]> = {}) {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
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
          await released
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
  test('I5: cycle now during a caught-up beat runs after it, and both complete', async (t) => {
    const home = await openBlockedKernel(t)
    await home.app.run('start', { until_idle: true })
    await home.clock.advance(15 * MINUTE)
    const catchUp = home.app.run('start', { until_idle: true })
    await waitUntil(() => isRunning(home))
    const manual = home.app.run('cycle now', {}) as Promise<CycleResult>
    home.release()
    const [{ status }] = await Promise.all([manual, catchUp])
    const cycles = await listCycles(home.app)
    assert.deepEqual(
      { status, cycles: cycles.map(({ result }) => result?.status) },
      { status: 'success', cycles: ['success', 'success'] },
    )
    const [second, first] = cycles
    assert.ok(Date.parse(second?.started_at ?? '') >= Date.parse(first?.ended_at ?? ''))
  })

  test('I5: two manual cycles without a running kernel run one after the other', async (t) => {
    const home = await openBlockedKernel(t)
    const both = [runOnce(home.app), home.app.run('cycle now', {}) as Promise<CycleResult>]
    await waitUntil(() => isRunning(home))
    home.release()
    assert.deepEqual(
      (await Promise.all(both)).map(({ status }) => status),
      ['success', 'success'],
    )
  })

  test('I5: a manual cycle started before the kernel does not delay its beats', async (t) => {
    const home = await openBlockedKernel(t)
    const manualCycle = home.app.run('cycle now', {})
    await waitUntil(() => isRunning(home))
    const running = home.app.run('start', {})
    await waitUntil(() => home.app.context.kernel.nextBeatAt() !== undefined)
    await home.clock.advance(10 * MINUTE)
    await waitUntil(async () => (await listCycles(home.app)).some(({ trigger }) => trigger === 'kernel:default'))
    home.release()
    home.stop.abort()
    await Promise.all([manualCycle, running])
  })

  test('cycle now fails with "aborted" when the kernel stops before it runs', async (t) => {
    const home = await openBlockedKernel(t)
    const running = home.app.run('start', {})
    const kernel = async () => (await home.app.run('status', {})).kernel
    await waitUntil(async () => (await kernel()).next_beat !== null)
    await home.clock.advance(10 * MINUTE)
    await waitUntil(() => isRunning(home))
    const manualCycle = assert.rejects(
      home.app.run('cycle now', {}),
      (thrown) => thrown instanceof TirelessError && thrown.code === 'aborted' && thrown.message.includes('stopped'),
    )
    home.stop.abort()
    home.release()
    await Promise.all([manualCycle, running])
    assert.equal((await listCycles(home.app)).length, 1)
  })
})
