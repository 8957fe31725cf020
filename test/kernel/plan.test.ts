/** How a plan becomes dispatches: all of them in one commit, those that could only fail left out and told. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { countPlanningCalls, diligentScript, listDispatches, openKernelApp, runOnce } from '../support/kernels.ts'
import { advanceUntilDone, waitUntil } from '../support/open-app.ts'

const agents = ['a', 'b', 'c', 'd', 'e', 'f'].map((agent_id) => ({ agent_id }))

/** A provider that says nothing until it is told to. */
function silentProvider(answer = diligentScript) {
  const { promise: told, resolve: speak } = Promise.withResolvers<void>()
  const scripted = scriptedModel(answer, 'cloud/m')
  const model = {
    ...scripted,
    async call(...given: Parameters<typeof scripted.call>) {
      const answered = scripted.call(...given)
      await told
      return answered
    },
  }
  return { model, scripted, speak }
}

describe('a plan of six (C6, E6)', () => {
  test('C6: all six are in the queue before the first has heard of its provider; only that one is begun', async (t) => {
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
    assert.deepEqual([dispatched, succeeded], [6, 6])
  })

  test('C6: who does not ask its provider for half a minute holds up nobody', async (t) => {
    const { model, speak } = silentProvider()
    const { app, clock } = await openKernelApp(t, { agents, options: { model } })
    const cycle = runOnce(app)
    await waitUntil(async () => (await listDispatches(app)).some(({ status }) => status === 'running'))
    await clock.advance(30_000)
    await waitUntil(async () => (await listDispatches(app)).filter(({ status }) => status === 'running').length > 1)
    speak()
    assert.equal((await advanceUntilDone(clock, cycle)).succeeded, 6)
  })

  test('C6: told to stop before the first has heard of its provider, all six are there, and the next process does them', async (t) => {
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
    assert.deepEqual([dispatched, succeeded, (await listDispatches(next.app)).length], [0, 6, 6])
  })

  test('case 134: the first is refused: the others are called off with the reason, none is asked for, and none is said to repeat itself', async (t) => {
    const model = scriptedModel(() => {
      throw new TirelessError('model_auth', 'wrong key')
    }, 'cloud/m')
    const { app, clock } = await openKernelApp(t, { agents, model })
    const notes = new Set<string>()
    for (let n = 0; n < 4; n++) {
      const told = await app.run('once', {}, (progress) => void (progress.kind === 'note' && notes.add(progress.text)))
      const { dispatched, failed } = told as { dispatched: number; failed: number }
      assert.deepEqual([dispatched, failed], [1, 1])
      // Asked again after a while; until then it is known that the key is refused, and nobody else is sent at all.
      if (n % 2 === 1) await clock.advance(11 * 60_000)
    }
    assert.equal(model.requests.length, 2)
    const cancelled = (await listDispatches(app)).filter(({ status }) => status === 'cancelled')
    assert.equal(cancelled.length, 10)
    assert.deepEqual([...new Set(cancelled.map(({ error }) => error))], ['the provider cloud refuses its key'])
    assert.match([...notes].join('\n'), /cloud refuses its key; not dispatched: b, c, d, e, f. Set the right key/)
    assert.doesNotMatch([...notes].join('\n'), /^[b-f] had the same result/m)
  })

  test('C6: a planner that names more than may go is told of; the first ones go', async (t) => {
    const named = JSON.stringify(agents.map(({ agent_id }) => ({ agent_id, reason: 'x' })))
    const model = scriptedModel((request) => {
      const answer = diligentScript(request)
      return 'text' in answer && answer.text === '[]' ? { text: named } : answer
    })
    const kernel = { planner: { mode: 'llm', max_dispatches: 4 } }
    const { app } = await openKernelApp(t, { agents, kernel, model })
    const notes: string[] = []
    const told = await app.run('once', {}, (progress) => void (progress.kind === 'note' && notes.push(progress.text)))
    assert.deepEqual([(told as { dispatched: number }).dispatched, countPlanningCalls(model)], [4, 1])
    assert.deepEqual(notes, [
      'the planner named 6 agents; not dispatched: e, f. The limit is 4 (kernel.planner.max_dispatches).',
    ])
  })
})
