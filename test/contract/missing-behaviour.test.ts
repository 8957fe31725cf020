import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ProposedDecision } from '../../src/ports/behaviour.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { replayRun } from '../support/approval-fixtures.ts'
import { finalAnswer, pokeTool, runScripted, scriptedBehaviour } from '../support/event-recorder.ts'
import { stopReasonsOf } from '../support/fake-tools.ts'
import { advanceUntilDone, dispatchOf, freshFolder, openApp } from '../support/open-app.ts'

const waitDecision: ProposedDecision = { kind: 'wait', match: 'user_message', reason: 'a message' }

describe('a parked run whose behaviour is missing', () => {
  test('the run waits, status reports it, and it continues when the behaviour is back', async (t) => {
    const clock = new FakeClock()
    const home = freshFolder(t)
    const options = {
      home,
      clock,
      tools: [pokeTool()],
      behaviours: [scriptedBehaviour([waitDecision, finalAnswer('message read')])],
    }
    const first = await openApp(t, options)
    const { dispatch_id, session_id, status } = await advanceUntilDone(clock, runScripted(first))
    assert.equal(status, 'waiting')
    await first.run('send', { session: session_id, text: 'now' })
    await first.close()

    const without = await openApp(t, { home, clock })
    await advanceUntilDone(clock, without.run('start', { until_idle: true }))
    const parked = await dispatchOf(without, dispatch_id)
    assert.equal(parked.status, 'waiting')
    assert.match(
      parked.wait?.reason ?? '',
      /the behaviour scripted is not installed; the run continues after it is installed/,
    )
    const { degraded } = await without.run('status', {})
    assert.match(degraded.join('\n'), /1 parked run needs the behaviour scripted, .*Add it, or cancel/)
    // The next check finds the behaviour still missing.
    await clock.advance(5 * 60_000)
    await advanceUntilDone(clock, without.run('start', { until_idle: true }))
    assert.equal((await dispatchOf(without, dispatch_id)).status, 'waiting')
    await without.close()

    await clock.advance(5 * 60_000)
    const restarted = await openApp(t, options)
    assert.deepEqual(
      (await restarted.run('status', {})).degraded.filter((line) => /behaviour/.test(line)),
      [],
    )
    await advanceUntilDone(clock, restarted.run('start', { until_idle: true }))
    const { status: finalStatus, result } = await dispatchOf(restarted, dispatch_id)
    assert.deepEqual({ finalStatus, result }, { finalStatus: 'done', result: 'message read' })
    assert.deepEqual(await stopReasonsOf(restarted, { dispatch_id, session_id }), ['final'])
    assert.equal((await replayRun(restarted, dispatch_id)).identical, true)
  })

  test('the waiting run can be cancelled; a new run with that behaviour is refused', async (t) => {
    const home = freshFolder(t)
    const first = await openApp(t, { home, behaviours: [scriptedBehaviour([waitDecision])], tools: [pokeTool()] })
    const { dispatch_id, session_id } = await runScripted(first)
    await first.run('send', { session: session_id, text: 'now' })
    await first.close()
    const without = await openApp(t, { home })
    await without.run('start', { until_idle: true })
    const cancelled = without.run('queue cancel', { id: dispatch_id })
    await without.run('start', { until_idle: true })
    await cancelled
    assert.equal((await dispatchOf(without, dispatch_id)).status, 'cancelled')
    const { status, issues } = await runScripted(without)
    assert.deepEqual(
      { status, codes: issues.map(({ code }) => code) },
      { status: 'failed', codes: ['TASK_BEHAVIOUR_UNKNOWN'] },
    )
  })
})
