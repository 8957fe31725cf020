import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blockCommits } from '../support/blocking-store.ts'
import { listDispatches, MINUTE, openKernelApp } from '../support/kernels.ts'
import { waitUntil } from '../support/open-app.ts'

describe('start --until-idle', () => {
  test('I10: --max-minutes ends before the dispatch is stored: the next start runs it', async (t) => {
    const dispatchWrite = blockCommits(
      (op) => op.op === 'enqueue' && op.dispatches.some(({ source }) => source === 'cycle'),
    )
    const plugins = [dispatchWrite.plugin]
    const { app, clock, model } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], options: { plugins } })
    const statuses = async () => (await listDispatches(app)).map(({ status }) => status)
    await app.run('start', { until_idle: true })
    await clock.advance(15 * MINUTE)
    const catchUp = app.run('start', { until_idle: true, max_minutes: 1 })
    await waitUntil(dispatchWrite.isBlocked)
    await clock.advance(MINUTE)
    dispatchWrite.release()
    await catchUp
    assert.deepEqual(
      { statuses: await statuses(), requestCount: model.requests.length },
      { statuses: ['pending'], requestCount: 0 },
    )
    await app.run('start', { until_idle: true })
    assert.deepEqual(await statuses(), ['done'])
  })
})
