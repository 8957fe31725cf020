import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cycle } from '../../src/domain/cycle.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { until } from '../apps.ts'
import { diligent, dispatchesIn, kernelApp, once, stateOf } from './kernels.ts'

describe('once', () => {
  test('I10, E1: what is not over at the deadline comes to the end of its step before once returns, and is there to be taken up again', async (t) => {
    const { promise: holding, resolve: release } = Promise.withResolvers<void>()
    const scripted = scriptedModel(diligent)
    const model: typeof scripted = {
      ...scripted,
      async call(...given) {
        await holding
        return scripted.call(...given)
      },
    }
    const { app, clock, home } = await kernelApp(t, { agents: [{ agent_id: 'a' }], kernel: { timeout: '5s' }, model })
    const statuses = async () => (await dispatchesIn(app)).map(({ status }) => status)
    const done = once(app)
    await until(async () => (await statuses()).includes('running'))
    await clock.advance(5_000)
    const cycles = async () => ((await app.run('cycles list', {})) as { items: Cycle[] }).items
    await until(async () => (await cycles()).every(({ ended_at }) => ended_at !== null))
    release()
    const { agents } = await done
    assert.deepEqual([agents.map(({ status }) => status), await statuses()], [['running'], ['pending']])
    assert.match(stateOf(home), /^- agent_summary: a: running$/m)
    await app.run('start', { until_idle: true })
    assert.deepEqual(await statuses(), ['done'])
  })
})
