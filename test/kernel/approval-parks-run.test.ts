/** An unattended run with an open approval waits for the answer, whatever its model says (E8). */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, listApprovals, sendTool } from '../support/approval-fixtures.ts'
import { openKernelApp, runOnce } from '../support/kernels.ts'
import { dispatchOf, readLogs, replayIn } from '../support/open-app.ts'

const LETTER = { to: 'bob', text: 'hi' }

/** Makes a call that needs approval, then answers `text`; after the wake-up it gives its summary. */
const modelAnswering = (text: string) =>
  scriptedModel((request) => {
    const { length } = request.messages.filter(({ role }) => role === 'assistant')
    if (length === 0) return { calls: [call('send', LETTER)] }
    return length === 1 ? { text } : { text: '## Execution Summary\nover' }
  })

describe('an open approval parks the run (E8)', () => {
  for (const [what, text] of [
    ['a result', '## Execution Summary\nasked for leave to send'],
    ['an answer without a result', 'ok'],
    ['a question', 'Please confirm that I may send it.'],
  ] as const)
    test(`E8: ${what} after the call parks the run; allowed, it continues in its session`, async (t) => {
      const send = sendTool()
      const model = modelAnswering(text)
      const { app } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], model, options: { tools: [send] } })
      const first = await runOnce(app)
      const [parked] = first.agents
      assert.deepEqual(
        {
          firstStatus: first.status,
          firstParked: first.parked,
          firstFailed: first.failed,
          parkedStatus: parked?.status,
        },
        { firstStatus: 'partial_success', firstParked: 1, firstFailed: 0, parkedStatus: 'waiting' },
      )
      const [approval] = await listApprovals(app, { status: 'open' })
      assert.match(
        parked?.summary ?? '',
        new RegExp(`send needs approval\\. Run: tireless approvals allow ${approval?.id}`),
      )
      assert.equal(model.requests.length, 2, 'the model is not called again before the approval is answered')
      await app.run('approvals allow', { id: approval?.id ?? '' })
      const next = await runOnce(app)
      assert.deepEqual(
        { succeeded: next.succeeded, dispatch_id: next.agents[0]?.dispatch_id, receivedArgs: send.receivedArgs },
        { succeeded: 1, dispatch_id: parked?.dispatch_id, receivedArgs: [LETTER] },
      )
      const replayed = await replayIn(app, parked?.dispatch_id ?? '')
      assert.equal(replayed.identical, true)
    })

  for (const how of ['denied', 'expired'] as const)
    test(`E8: a run whose approval is ${how} ends without executing the call`, async (t) => {
      const send = sendTool()
      const { app, clock } = await openKernelApp(t, {
        agents: [{ agent_id: 'a', metadata: { noop: true } }],
        model: modelAnswering('## Execution Summary\nasked'),
        options: { tools: [send] },
      })
      const [parked] = (await runOnce(app)).agents
      const [approval] = await listApprovals(app, { status: 'open' })
      if (how === 'denied') await app.run('approvals deny', { id: approval?.id ?? '' })
      else await clock.advance(24 * 3_600_000)
      await runOnce(app)
      const { status } = await dispatchOf(app, parked?.dispatch_id ?? '')
      assert.notEqual(status, 'waiting')
      assert.deepEqual(
        { receivedArgs: send.receivedArgs, approvals: await listApprovals(app, { status: 'open' }) },
        { receivedArgs: [], approvals: [] },
      )
    })

  test('E8: an agent that repeats its call is parked too, with one approval', async (t) => {
    const model = scriptedModel(() => ({ calls: [call('send', LETTER)] }))
    const { app } = await openKernelApp(t, { agents: [{ agent_id: 'a' }], model, options: { tools: [sendTool()] } })
    assert.equal((await runOnce(app)).parked, 1)
    assert.equal((await listApprovals(app, { status: 'open' })).length, 1)
  })
})

test('E20: the log has one line per cycle with id, trigger, status, counts and duration', async (t) => {
  const { app } = await openKernelApp(t, { agents: [{ agent_id: 'a' }] })
  const { cycle_id } = await runOnce(app)
  await app.run('cycle now', {})
  const { items } = await readLogs(app, 200)
  const lines = items.filter(({ event }) => event === 'cycle')
  assert.equal(lines.length, 2)
  const { trigger, status, dispatched, succeeded, failed, parked, duration_ms } = lines[0] ?? assert.fail()
  assert.deepEqual(
    { cycle_id: lines[0]?.cycle_id, trigger, status, dispatched, succeeded, failed, parked, duration_ms },
    {
      cycle_id,
      trigger: 'manual',
      status: 'success',
      dispatched: 1,
      succeeded: 1,
      failed: 0,
      parked: 0,
      duration_ms: 0,
    },
  )
})
