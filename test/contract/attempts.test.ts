import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Verdict } from '../../src/domain/decision.ts'
import type { Json } from '../../src/domain/json.ts'
import type { Critic } from '../../src/ports/behaviour.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import {
  finalAnswer,
  findEvent,
  openRecordedApp,
  pokeDecision,
  pokeTool,
  pushAndReturn,
  runScripted,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { advanceUntilDone, dispatchOf, freshFolder, journalOf, replayIn } from '../support/open-app.ts'

const DELAY_MS = 30_000

/** Asks for another attempt after each of the first `times` final answers, with a numbered instruction. */
function unsatisfiedCritic(times: number, after_ms = DELAY_MS): Critic {
  let retries = 0
  return {
    name: 'unsatisfied',
    judge(_, { decision }): Verdict {
      if (decision.kind !== 'final' || retries >= times) return { kind: 'continue' }
      retries += 1
      return { kind: 'retry', instruction: `not enough, number ${retries}`, attempt: { after_ms } }
    },
  }
}

const feedbackIn = async (app: App, session: string): Promise<(string | undefined)[]> =>
  (await journalOf(app, session)).flatMap((record) => (record.kind === 'input_bound' ? [record.feedback] : []))

const sleepingTool = (ms: number) => pokeTool(({ clock }) => clock.sleep(ms))

describe('E8: another attempt', () => {
  test('E8: another attempt starts after its delay with the feedback, more often than retries may', async (t) => {
    const clock = new FakeClock()
    const { app, events } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [unsatisfiedCritic(5)],
    })
    const startedAt = clock.now()
    const result = await advanceUntilDone(clock, runScripted(app))
    assert.deepEqual({ status: result.status, steps: result.steps }, { status: 'done', steps: 6 })
    assert.ok(clock.now() - startedAt >= 5 * DELAY_MS)
    const instructions = [1, 2, 3, 4, 5].map((n) => `not enough, number ${n}`)
    assert.deepEqual(await feedbackIn(app, result.session_id), [undefined, ...instructions])
    const verdicts = findEvent(events, 'CRITIC', 'outputs_ready').payload.verdicts
    const attempt = {
      critic: 'unsatisfied',
      kind: 'retry',
      instruction: instructions[0],
      attempt: { after_ms: DELAY_MS },
    }
    assert.deepEqual(verdicts, [attempt])
    assert.deepEqual(findEvent(events, 'CHECK_STOP', 'continue').payload, { parked: 'another attempt', attempt: true })
  })

  test('E8: an attempt does not count as a retry, and resets the count of retries', async (t) => {
    const clock = new FakeClock()
    const retry: Verdict = { kind: 'retry', instruction: 'the step again' }
    const verdicts: Verdict[] = [retry, retry, retry, { ...retry, attempt: { after_ms: 0 } }, retry, retry, retry]
    const picky: Critic = { name: 'picky', judge: () => verdicts.shift() ?? { kind: 'continue' } }
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [picky],
    })
    const { stop_reason, steps } = await advanceUntilDone(clock, runScripted(app))
    assert.deepEqual({ stop_reason, steps }, { stop_reason: 'final', steps: 8 })
  })

  test('E8: each attempt has the full time limit; exceeding it ends the run', async (t) => {
    const clock = new FakeClock()
    const decisions = [pokeDecision, finalAnswer(), pokeDecision, finalAnswer(), pokeDecision, finalAnswer()]
    const withinLimit = await openRecordedApp(t, {
      clock,
      tools: [sleepingTool(40_000)],
      behaviours: [scriptedBehaviour(decisions)],
      critics: [unsatisfiedCritic(2)],
    })
    const result = await advanceUntilDone(clock, runScripted(withinLimit.app, { max_seconds: 60 }))
    assert.deepEqual({ stop_reason: result.stop_reason, steps: result.steps }, { stop_reason: 'final', steps: 6 })
    let pokes = 0
    const slower = pokeTool(({ clock: runClock }) => runClock.sleep(++pokes === 2 ? 70_000 : 40_000))
    const overLimit = await openRecordedApp(t, {
      clock,
      tools: [slower],
      behaviours: [scriptedBehaviour(decisions)],
      critics: [unsatisfiedCritic(2)],
    })
    const ended = await advanceUntilDone(clock, runScripted(overLimit.app, { max_seconds: 60 }))
    assert.deepEqual(
      { stop_reason: ended.stop_reason, failure_class: ended.failure_class, steps: ended.steps },
      { stop_reason: 'budget_time', failure_class: 'timeout', steps: 3 },
    )
  })

  test('E8: the step limit counts the steps of all attempts', async (t) => {
    const clock = new FakeClock()
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [unsatisfiedCritic(9)],
    })
    const { stop_reason, steps } = await advanceUntilDone(clock, runScripted(app, { max_steps: 3 }))
    assert.deepEqual({ stop_reason, steps }, { stop_reason: 'budget_steps', steps: 3 })
  })

  test('E8: the feedback survives a restart and is given once', async (t) => {
    const clock = new FakeClock()
    const home = freshFolder(t)
    const parts = { clock, home, behaviours: [scriptedBehaviour([finalAnswer()])] }
    const first = await openRecordedApp(t, { ...parts, critics: [unsatisfiedCritic(1, 3_600_000)] })
    const parked = await runScripted(first.app)
    assert.deepEqual({ status: parked.status, kind: parked.wait?.kind }, { status: 'waiting', kind: 'retry' })
    await first.app.close()
    await clock.advance(3_600_000)
    const second = await openRecordedApp(t, { ...parts, critics: [unsatisfiedCritic(0)] })
    await advanceUntilDone(clock, second.app.run('start', { until_idle: true }))
    assert.equal((await dispatchOf(second.app, parked.dispatch_id)).status, 'done')
    assert.deepEqual(await feedbackIn(second.app, parked.session_id), [undefined, 'not enough, number 1'])
    const replayed = await replayIn(second.app, parked.dispatch_id)
    assert.equal(replayed.identical, true)
  })

  test('E8: a message does not shorten the delay; it is read together with the feedback', async (t) => {
    const clock = new FakeClock()
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [unsatisfiedCritic(1, 3_600_000)],
    })
    const { session_id, dispatch_id } = await runScripted(app)
    await app.run('send', { session: session_id, text: 'hurry' })
    await advanceUntilDone(clock, app.run('start', { until_idle: true }))
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'waiting')
    await clock.advance(3_600_000)
    await advanceUntilDone(clock, app.run('start', { until_idle: true }))
    const inputs = (await journalOf(app, session_id)).flatMap((record) =>
      record.kind === 'input_bound' ? [{ messages: record.input.length, feedback: record.feedback }] : [],
    )
    assert.deepEqual(inputs, [
      { messages: 1, feedback: undefined },
      { messages: 1, feedback: 'not enough, number 1' },
    ])
  })

  test('E8: when a step fails in observe, the next step still gets the feedback', async (t) => {
    const clock = new FakeClock()
    const feedbacks: Json[] = []
    const behaviour = scriptedBehaviour([finalAnswer()], {
      observe(_, { step, feedback = null }) {
        if (step === 2) throw new Error('observe failed')
        return pushAndReturn(feedbacks, feedback)
      },
    })
    const { app } = await openRecordedApp(t, { clock, behaviours: [behaviour], critics: [unsatisfiedCritic(1)] })
    const { status } = await advanceUntilDone(clock, runScripted(app))
    assert.equal(status, 'done')
    assert.deepEqual(feedbacks, [null, 'not enough, number 1\nbehaviour scripted failed in observe(): observe failed'])
  })

  test('E8: a run cancelled during the delay ends at once', async (t) => {
    const clock = new FakeClock()
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [unsatisfiedCritic(1, 3_600_000)],
    })
    const { dispatch_id } = await runScripted(app)
    await app.run('queue cancel', { id: dispatch_id })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'cancelled')
  })
})
