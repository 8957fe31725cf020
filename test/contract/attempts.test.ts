import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Verdict } from '../../src/domain/decision.ts'
import type { Json } from '../../src/domain/json.ts'
import type { Critic } from '../../src/ports/behaviour.ts'
import type { TaskResult } from '../../src/run-task.ts'
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
import { advanceUntilDone, dispatchOf, freshFolder, journalOf } from '../support/open-app.ts'

const REST_MS = 30_000

/** Sends a final back so many times, and says each time which one it was. */
function unhappy(times: number, after_ms = REST_MS): Critic {
  let asked = 0
  return {
    name: 'unhappy',
    judge(_, { decision }): Verdict {
      if (decision.kind !== 'final' || asked >= times) return { kind: 'continue' }
      asked += 1
      return { kind: 'retry', instruction: `not enough, number ${asked}`, attempt: { after_ms } }
    },
  }
}

const feedbackIn = async (app: App, session: string): Promise<(string | undefined)[]> =>
  (await journalOf(app, session)).flatMap((record) => (record.kind === 'input_bound' ? [record.feedback] : []))

const waitsFor = (ms: number) => pokeTool(({ clock }) => clock.sleep(ms))

describe('E8: another attempt', () => {
  test('E8: the run rests, then begins with the feedback; so often in a row that mere retries would have been the end', async (t) => {
    const clock = new FakeClock()
    const { app, events } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [unhappy(5)],
    })
    const began = clock.now()
    const result = await advanceUntilDone(clock, runScripted(app))
    assert.deepEqual([result.status, result.steps], ['done', 6])
    assert.ok(clock.now() - began >= 5 * REST_MS)
    const said = [1, 2, 3, 4, 5].map((n) => `not enough, number ${n}`)
    assert.deepEqual(await feedbackIn(app, result.session_id), [undefined, ...said])
    const judged = findEvent(events, 'CRITIC', 'outputs_ready').payload.verdicts
    const attempt = { critic: 'unhappy', kind: 'retry', instruction: said[0], attempt: { after_ms: REST_MS } }
    assert.deepEqual(judged, [attempt])
    assert.deepEqual(findEvent(events, 'CHECK_STOP', 'continue').payload, { parked: 'another attempt', attempt: true })
  })

  test('E8: an attempt is no retry: it may follow as many of those as there may be, and begins their count anew', async (t) => {
    const clock = new FakeClock()
    const retry: Verdict = { kind: 'retry', instruction: 'the step again' }
    const said: Verdict[] = [retry, retry, retry, { ...retry, attempt: { after_ms: 0 } }, retry, retry, retry]
    const picky: Critic = { name: 'picky', judge: () => said.shift() ?? { kind: 'continue' } }
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [picky],
    })
    const { stop_reason, steps } = await advanceUntilDone(clock, runScripted(app))
    assert.deepEqual([stop_reason, steps], ['final', 8])
  })

  test('E8: each attempt has all of the time; one that uses it up is the last', async (t) => {
    const clock = new FakeClock()
    const wishes = [pokeDecision, finalAnswer(), pokeDecision, finalAnswer(), pokeDecision, finalAnswer()]
    const patient = await openRecordedApp(t, {
      clock,
      tools: [waitsFor(40_000)],
      behaviours: [scriptedBehaviour(wishes)],
      critics: [unhappy(2)],
    })
    const result = await advanceUntilDone(clock, runScripted(patient.app, { max_seconds: 60 }))
    assert.deepEqual([result.stop_reason, result.steps], ['final', 6])
    let pokes = 0
    const slower = pokeTool(({ clock: its }) => its.sleep(++pokes === 2 ? 70_000 : 40_000))
    const late = await openRecordedApp(t, {
      clock,
      tools: [slower],
      behaviours: [scriptedBehaviour(wishes)],
      critics: [unhappy(2)],
    })
    const ended = await advanceUntilDone(clock, runScripted(late.app, { max_seconds: 60 }))
    assert.deepEqual([ended.stop_reason, ended.failure_class, ended.steps], ['budget_time', 'timeout', 3])
  })

  test('E8: steps are counted over all attempts', async (t) => {
    const clock = new FakeClock()
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [unhappy(9)],
    })
    const { stop_reason, steps } = await advanceUntilDone(clock, runScripted(app, { max_steps: 3 }))
    assert.deepEqual([stop_reason, steps], ['budget_steps', 3])
  })

  test('E8: what is to be done better outlives the process, and is said once', async (t) => {
    const clock = new FakeClock()
    const home = freshFolder(t)
    const parts = { clock, home, behaviours: [scriptedBehaviour([finalAnswer()])] }
    const first = await openRecordedApp(t, { ...parts, critics: [unhappy(1, 3_600_000)] })
    const parked = await runScripted(first.app)
    assert.deepEqual([parked.status, parked.wait?.kind], ['waiting', 'retry'])
    await first.app.close()
    await clock.advance(3_600_000)
    const second = await openRecordedApp(t, { ...parts, critics: [unhappy(0)] })
    await advanceUntilDone(clock, second.app.run('start', { until_idle: true }))
    assert.equal((await dispatchOf(second.app, parked.dispatch_id)).status, 'done')
    assert.deepEqual(await feedbackIn(second.app, parked.session_id), [undefined, 'not enough, number 1'])
    const replayed = (await second.app.run('replay', { run: parked.dispatch_id })) as { identical: boolean }
    assert.equal(replayed.identical, true)
  })

  test('E8: nothing wakes it before its rest is over; what is said meanwhile comes with the feedback', async (t) => {
    const clock = new FakeClock()
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [unhappy(1, 3_600_000)],
    })
    const { session_id, dispatch_id } = await runScripted(app)
    await app.run('send', { session: session_id, text: 'hurry' })
    await advanceUntilDone(clock, app.run('start', { until_idle: true }))
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'waiting')
    await clock.advance(3_600_000)
    await advanceUntilDone(clock, app.run('start', { until_idle: true }))
    const bound = (await journalOf(app, session_id)).flatMap((record) =>
      record.kind === 'input_bound' ? [{ heard: record.input.length, feedback: record.feedback }] : [],
    )
    assert.deepEqual(bound, [
      { heard: 1, feedback: undefined },
      { heard: 1, feedback: 'not enough, number 1' },
    ])
  })

  test('E8: a step that fails before anybody heard the feedback hands it on', async (t) => {
    const clock = new FakeClock()
    const heard: Json[] = []
    const behaviour = scriptedBehaviour([finalAnswer()], {
      observe(_, { step, feedback = null }) {
        if (step === 2) throw new Error('the look failed')
        return pushAndReturn(heard, feedback)
      },
    })
    const { app } = await openRecordedApp(t, { clock, behaviours: [behaviour], critics: [unhappy(1)] })
    const { status } = await advanceUntilDone(clock, runScripted(app))
    assert.equal(status, 'done')
    assert.deepEqual(heard, [null, 'not enough, number 1\nbehaviour scripted failed in observe(): the look failed'])
  })

  test('E8: a run that is cancelled while it rests is over at once', async (t) => {
    const clock = new FakeClock()
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [unhappy(1, 3_600_000)],
    })
    const { dispatch_id } = (await runScripted(app)) as TaskResult
    await app.run('queue cancel', { id: dispatch_id })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'cancelled')
  })
})
