/** From plan to dispatches: one commit for all; dispatches that are bound to fail are left out, with a note. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { countPlanningCalls, diligentScript, listDispatches, openKernelApp, runOnce } from '../support/kernels.ts'
import { advanceUntilDone, waitUntil } from '../support/open-app.ts'

const agents = ['a', 'b', 'c', 'd', 'e', 'f'].map((agent_id) => ({ agent_id }))

/** A provider that answers nothing before `speak` is called. */
function silentProvider(answer = diligentScript) {
  const { promise: released, resolve: speak } = Promise.withResolvers<void>()
  const scripted = scriptedModel(answer, 'cloud/m')
  const model = {
    ...scripted,
    async call(...given: Parameters<typeof scripted.call>) {
      const answered = scripted.call(...given)
      await released
      return answered
    },
  }
  return { model, scripted, speak }
}

describe('a plan with six agents (E6)', () => {
  test('all six are queued before the first model answer; only one has started', async (t) => {
    const { model, scripted, speak } = silentProvider()
    const { app } = await openKernelApp(t, { agents, options: { model } })
    const cycle = runOnce(app)
    await waitUntil(() => scripted.requests.length > 0)
    const queued = await listDispatches(app)
    assert.deepEqual(queued.map(({ agent_id, status }) => `${agent_id} ${status}`).toSorted(), [
      'a running',
      ...['b', 'c', 'd', 'e', 'f'].map((agent_id) => `${agent_id} pending`),
    ])
    assert.equal(new Set(queued.map(({ created_at, cycle_id }) => `${created_at} ${cycle_id}`)).size, 1)
    assert.equal(scripted.requests.length, 1)
    speak()
    const { dispatched, succeeded } = await cycle
    assert.deepEqual({ dispatched, succeeded }, { dispatched: 6, succeeded: 6 })
  })

  test('the others start after half a minute if the first agent has no answer yet', async (t) => {
    const { model, speak } = silentProvider()
    const { app, clock } = await openKernelApp(t, { agents, options: { model } })
    const cycle = runOnce(app)
    await waitUntil(async () => (await listDispatches(app)).some(({ status }) => status === 'running'))
    await clock.advance(30_000)
    await waitUntil(async () => (await listDispatches(app)).filter(({ status }) => status === 'running').length > 1)
    speak()
    assert.equal((await advanceUntilDone(clock, cycle)).succeeded, 6)
  })

  test('stopped before the first model answer, all six are queued and the next process runs them', async (t) => {
    const drain = new AbortController()
    const signals = { drain: drain.signal, abort: new AbortController().signal }
    const { model, scripted, speak } = silentProvider()
    const { app, home } = await openKernelApp(t, { agents, options: { model, signals } })
    const cycle = runOnce(app)
    await waitUntil(() => scripted.requests.length > 0)
    drain.abort()
    speak()
    assert.equal((await cycle).status, 'partial_success')
    await app.close()
    const next = await openKernelApp(t, { agents, home })
    const { dispatched, succeeded } = await runOnce(next.app)
    assert.deepEqual(
      { dispatched, succeeded, dispatchCount: (await listDispatches(next.app)).length },
      { dispatched: 0, succeeded: 6, dispatchCount: 6 },
    )
  })

  test('case 134: when the key of the first is refused, the others are cancelled with that reason', async (t) => {
    const model = scriptedModel(() => {
      throw new TirelessError('model_auth', 'wrong key')
    }, 'cloud/m')
    const { app, clock } = await openKernelApp(t, { agents, model })
    const notes = new Set<string>()
    for (let n = 0; n < 4; n++) {
      const result = await app.run(
        'once',
        {},
        (progress) => void (progress.kind === 'note' && notes.add(progress.text)),
      )
      const { dispatched, failed } = result as { dispatched: number; failed: number }
      assert.deepEqual({ dispatched, failed }, { dispatched: 1, failed: 1 })
      // The key is tried again after ten minutes; until then only one agent is dispatched.
      if (n % 2 === 1) await clock.advance(11 * 60_000)
    }
    assert.equal(model.requests.length, 2)
    const cancelled = (await listDispatches(app)).filter(({ status }) => status === 'cancelled')
    assert.equal(cancelled.length, 10)
    assert.deepEqual([...new Set(cancelled.map(({ error }) => error))], ['the provider cloud refuses its key'])
    assert.match([...notes].join('\n'), /cloud refuses its key; not dispatched: b, c, d, e, f. Set the right key/)
    assert.doesNotMatch([...notes].join('\n'), /^[b-f] had the same result/m)
  })

  test('a plan above max_dispatches is truncated, with a note', async (t) => {
    const named = JSON.stringify(agents.map(({ agent_id }) => ({ agent_id, reason: 'x' })))
    const model = scriptedModel((request) => {
      const answer = diligentScript(request)
      return 'text' in answer && answer.text === '[]' ? { text: named } : answer
    })
    const kernel = { planner: { mode: 'llm', max_dispatches: 4 } }
    const { app } = await openKernelApp(t, { agents, kernel, model })
    const notes: string[] = []
    const result = await app.run('once', {}, (progress) => void (progress.kind === 'note' && notes.push(progress.text)))
    assert.deepEqual(
      { dispatched: (result as { dispatched: number }).dispatched, planningCallCount: countPlanningCalls(model) },
      { dispatched: 4, planningCallCount: 1 },
    )
    assert.deepEqual(notes, [
      'the planner named 6 agents; not dispatched: e, f. The limit is 4 (kernel.planner.max_dispatches).',
    ])
  })
})
