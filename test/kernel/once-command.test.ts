import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CycleResult } from '../../src/domain/cycle.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, listApprovals, sendTool } from '../support/approval-fixtures.ts'
import {
  createFileStep,
  diligentScript,
  hasToolResult,
  listDispatches,
  MINUTE,
  openKernelApp,
  readState,
  runOnce,
  taskIn,
} from '../support/kernels.ts'
import { advanceUntilDone, dispatchOf, freshFolder, runTaskIn, waitUntil } from '../support/open-app.ts'

describe('once', () => {
  test('E19: a store that fails while the kernel starts stops no later cycle of this process', async (t) => {
    const { app } = await openKernelApp(t, { agents: [{ agent_id: 'a' }] })
    const { store } = app.context
    const { cycles } = store
    Object.assign(store, { cycles: () => Promise.reject(new TirelessError('store_failed', 'the disk is full')) })
    await assert.rejects(runOnce(app), /the disk is full/)
    Object.assign(store, { cycles })
    assert.equal((await runOnce(app)).status, 'success')
  })

  test('I10, E1: at its timeout once finishes the current step; the run can be resumed later', async (t) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const scripted = scriptedModel(diligentScript)
    const model: typeof scripted = {
      ...scripted,
      async call(...given) {
        await released
        return scripted.call(...given)
      },
    }
    const { app, clock, home } = await openKernelApp(t, {
      agents: [{ agent_id: 'a' }],
      kernel: { timeout: '5s' },
      model,
    })
    const statuses = async () => (await listDispatches(app)).map(({ status }) => status)
    const done = runOnce(app)
    await waitUntil(async () => (await statuses()).includes('running'))
    await clock.advance(5_000)
    const cycles = async () => (await app.run('cycles list', {})).items
    await waitUntil(async () => (await cycles()).every(({ ended_at }) => ended_at !== null))
    release()
    const { agents } = await done
    assert.deepEqual(
      { agents: agents.map(({ status }) => status), stored: await statuses() },
      { agents: ['running'], stored: ['pending'] },
    )
    assert.match(readState(home), /^- agent_summary: a: running$/m)
    await app.run('start', { until_idle: true })
    assert.deepEqual(await statuses(), ['done'])
  })
})

test('E14: a run that ends while a stopped once waits is noted, and counted by the next cycle', async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let isLast = false
  const drain = new AbortController()
  const signals = { drain: drain.signal, abort: new AbortController().signal }
  const scripted = scriptedModel(diligentScript)
  const model: typeof scripted = {
    ...scripted,
    async call(...given) {
      if (!hasToolResult(given[0])) return scripted.call(...given)
      isLast = true
      await released
      return scripted.call(...given)
    },
  }
  const { app, home, clock } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], model, options: { signals } })
  const notes: string[] = []
  const done = app.run('once', {}, (progress) => void (progress.kind === 'note' && notes.push(progress.text)))
  await waitUntil(() => isLast)
  drain.abort()
  const cycles = async () => (await app.run('cycles list', {})).items
  await waitUntil(async () => (await cycles()).every(({ ended_at }) => ended_at !== null))
  release()
  const { status, left } = (await done) as CycleResult & { left: unknown[] }
  const [dispatch] = await listDispatches(app)
  assert.deepEqual(
    { status, left, dispatchStatus: dispatch?.status },
    { status: 'partial_success', left: [], dispatchStatus: 'done' },
  )
  assert.deepEqual(notes, [`a (${dispatch?.dispatch_id}) is now done. The next cycle counts it.`])
  await app.close()
  const next = await openKernelApp(t, { agents: [{ agent_id: 'a' }], home, clock })
  assert.ok((await runOnce(next.app)).agents.some(({ dispatch_id }) => dispatch_id === dispatch?.dispatch_id))
})

describe('once continues earlier work (E19)', () => {
  /** Waits with these arguments first; after the wake-up it writes a file and gives its summary. */
  const waitingModel = (args: object) =>
    scriptedModel((request) => {
      if (request.messages.length === 1) return { calls: [{ tool: 'wait', args: args as never }] }
      return hasToolResult(request) && JSON.stringify(request.messages).includes('create_file')
        ? { text: '## Execution Summary\ndone' }
        : createFileStep('x.md')
    })

  test('E19: an enqueued task runs together with the cycle', async (t) => {
    const { app } = await openKernelApp(t, { agents: [{ agent_id: 'a' }] })
    const { dispatch_id } = await app.run('enqueue', { prompt: 'enqueued task' })
    assert.equal((await runOnce(app)).dispatched, 1)
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
  })

  test('E19: a run whose wait deadline passed while no kernel ran continues and is counted', async (t) => {
    const home = freshFolder(t)
    const given = { agents: [{ agent_id: 'a' }], home, model: waitingModel({ for: 'the deploy event', until: '2h' }) }
    const before = await openKernelApp(t, given)
    assert.equal((await runOnce(before.app)).parked, 1)
    await before.app.close()
    const { clock } = before
    await clock.advance(3 * 60 * MINUTE)
    const { app } = await openKernelApp(t, { ...given, clock })
    const { dispatched, succeeded, idle_reason } = await runOnce(app)
    assert.deepEqual(
      { dispatched, succeeded, idle_reason },
      { dispatched: 0, succeeded: 1, idle_reason: 'finished earlier work of a' },
    )
  })

  test('E19: a run whose message arrived while no kernel ran continues', async (t) => {
    const home = freshFolder(t)
    const given = { agents: [{ agent_id: 'a' }], home, model: waitingModel({ for: 'the deploy event' }) }
    const before = await openKernelApp(t, given)
    const [parked] = (await runOnce(before.app)).agents
    await before.app.run('send', { session: parked?.session_id ?? '', text: 'deployed' })
    await before.app.close()
    const { app } = await openKernelApp(t, { ...given, clock: before.clock })
    const { succeeded, agents } = await runOnce(app)
    assert.deepEqual(
      { succeeded, dispatch_id: agents[0]?.dispatch_id },
      { succeeded: 1, dispatch_id: parked?.dispatch_id },
    )
  })

  test('E19: a call that was approved while no kernel ran is executed once', async (t) => {
    const home = freshFolder(t)
    const send = sendTool()
    const model = scriptedModel((request) => {
      const { length } = request.messages.filter(({ role }) => role === 'assistant')
      const steps = [{ calls: [call('send', { to: 'bob', text: 'hi' })] }, { calls: [call('wait', { for: 'reply' })] }]
      return steps[length] ?? { text: '## Execution Summary\nsent it' }
    })
    const given = { agents: [{ agent_id: 'a' }], home, model, options: { tools: [send] } }
    const before = await openKernelApp(t, given)
    assert.equal((await runOnce(before.app)).parked, 1)
    const [approval] = await listApprovals(before.app, { status: 'open' })
    await before.app.run('approvals allow', { id: approval?.id ?? '' })
    await before.app.close()
    const { app } = await openKernelApp(t, { ...given, clock: before.clock })
    assert.deepEqual(
      { succeeded: (await runOnce(app)).succeeded, receivedArgs: send.receivedArgs.length },
      { succeeded: 1, receivedArgs: 1 },
    )
    assert.deepEqual(
      { dispatched: (await runOnce(app)).dispatched, receivedArgs: send.receivedArgs.length },
      { dispatched: 1, receivedArgs: 1 },
    )
  })

  test('E19, E14: once does not wait for a distant retry: partial success; a later once runs it', async (t) => {
    let fails = true
    const model = scriptedModel((request) => {
      if (fails) throw new TirelessError('model_limited', 'too many', { retryAfterMs: 10 * MINUTE })
      return diligentScript(request)
    })
    const home = freshFolder(t)
    const { app, clock } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], home, model })
    const first = (await advanceUntilDone(clock, runOnce(app))) as CycleResult & {
      left: { reason: string; until: string }[]
    }
    assert.equal(first.status, 'partial_success')
    assert.match(first.left[0]?.reason ?? '', /model_limited/)
    assert.equal((await runOnce(app)).status, 'partial_success')
    fails = false
    await app.close()
    await clock.advance(Date.parse(first.left[0]?.until ?? '') - clock.now())
    const later = await openKernelApp(t, { agents: [{ agent_id: 'a' }], home, model, clock })
    assert.deepEqual(
      { succeeded: (await runOnce(later.app)).succeeded, statuses: await statusesIn(later.app) },
      { succeeded: 1, statuses: ['done'] },
    )
  })

  test('E19: once and a foreground task run together, each exactly once', async (t) => {
    const model = scriptedModel((request) =>
      taskIn(request).includes('watched') ? { text: 'handled' } : diligentScript(request),
    )
    const { app } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], model })
    const [{ answer }, cycle] = await Promise.all([runTaskIn(app, 'watched'), runOnce(app)])
    assert.deepEqual(
      { answer, succeeded: cycle.succeeded, requests: model.requests.length },
      { answer: 'handled', succeeded: 1, requests: 3 },
    )
  })

  const statusesIn = async (app: Parameters<typeof listDispatches>[0]) =>
    (await listDispatches(app)).map(({ status }) => status)
})
