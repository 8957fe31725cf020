/** Rules of a user's own: when a run stops, and what follows a failed step. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { FailedStep, RecoveryChoice, RecoveryRule } from '../../src/ports/recovery-rule.ts'
import type { StopQuestion, StopRule } from '../../src/ports/stop-rule.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  finalAnswer,
  findEvent,
  openRecordedApp,
  pokeDecision,
  runScripted,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { advanceUntilDone, journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'

const poking = { behaviours: [scriptedBehaviour([pokeDecision])] }
const rule = (check: StopRule['check'], name = 'enough'): StopRule => ({ name, check })

describe('stop rules', () => {
  test('Q18: a stop rule ends a run with a reason and an answer; a replay does not ask it', async (t) => {
    const asked: StopQuestion[] = []
    const enough = rule((question) => {
      asked.push(question)
      return question.used.steps >= 2 ? { reason: 'two pokes are enough', answer: 'poked twice' } : undefined
    })
    const { app, events } = await openRecordedApp(t, { ...poking, stopRules: [enough] })
    const { status, stop_reason, answer, steps, dispatch_id } = await runScripted(app)
    assert.deepEqual(
      { status, stop_reason, answer, steps },
      { status: 'done', stop_reason: 'stop_rule', answer: 'poked twice', steps: 2 },
    )
    const { reason, rule: name } = findEvent(events, 'END', 'end').payload
    assert.deepEqual({ reason, name }, { reason: 'two pokes are enough', name: 'enough' })
    assert.deepEqual(
      asked.map(({ state, step, behaviour }) => [state, step.results[0]?.content, behaviour]),
      [
        [{ task: 'the task', step: 1 }, 'poked, number 1', 'scripted'],
        [{ task: 'the task', step: 2 }, 'poked, number 2', 'scripted'],
      ],
    )
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
    assert.equal(asked.length, 2)
  })

  test('Q18: a stop rule can fail a run; a final answer comes first', async (t) => {
    const fails = rule(() => ({ reason: 'too much poking', failed: true }))
    const { app } = await openRecordedApp(t, { ...poking, stopRules: [fails] })
    const { status, error, failure_class } = await runScripted(app)
    assert.deepEqual(
      { status, error, failure_class },
      { status: 'failed', error: 'too much poking', failure_class: 'invalid_result' },
    )
    const { app: other } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      stopRules: [fails],
    })
    assert.equal((await runScripted(other)).stop_reason, 'final')
  })

  test('Q18: a stop rule that throws, hangs or returns nonsense is diagnosed, and the run goes on', async (t) => {
    const clock = new FakeClock()
    const broken: StopRule[] = [
      rule(() => assert.fail('no idea'), 'throwing'),
      rule(() => new Promise(() => {}), 'hanging'),
      ...([42, Number.NaN, null, { reason: 7 }, 'x'.repeat(100_000_000)] as never[]).map((value, i) =>
        rule(() => value, `odd ${i}`),
      ),
      rule(async () => ({ reason: 'the last rule is heard' })),
    ]
    const app = await openApp(t, {
      ...poking,
      tools: [],
      clock,
      stopRules: broken,
      behaviours: [scriptedBehaviour([{ kind: 'wait', match: 'any', reason: 'x' }], { tools: [] })],
    })
    const { stop_reason, session_id, dispatch_id } = await advanceUntilDone(clock, runScripted(app))
    assert.equal(stop_reason, 'stop_rule')
    const diagnosed = (await journalOf(app, session_id)).flatMap((record) =>
      record.kind === 'diagnosed' ? record.about : [],
    )
    assert.deepEqual(
      diagnosed,
      broken.slice(0, -1).map(({ name }) => `stop rule ${name}`),
    )
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
  })
})

/** Fails `times` times with `code`, then answers. */
const flakyModel = (times: number, code: 'model_refused' | 'model_unavailable') => {
  let calls = 0
  return scriptedModel(() => {
    if (calls++ < times) throw new TirelessError(code, `failure ${calls}`)
    return { text: 'well' }
  })
}

const deciding = (choice: RecoveryChoice | undefined): RecoveryRule & { readonly asked: FailedStep[] } => {
  const asked: FailedStep[] = []
  return {
    asked,
    name: 'patient',
    decide(failure) {
      asked.push(failure)
      return choice
    },
  }
}

describe('recovery rules', () => {
  test('Q14, Q18: a rule retries a turn that the policy would give up; its choice is replayed', async (t) => {
    const clock = new FakeClock()
    const patient = deciding({ kind: 'retry', after_ms: 5_000 })
    const { app, events } = await openRecordedApp(t, {
      clock,
      model: flakyModel(2, 'model_refused'),
      recoveryRules: [patient],
    })
    const started = clock.now()
    const { status, answer, session_id, dispatch_id } = await advanceUntilDone(clock, runTaskIn(app))
    assert.deepEqual(
      { status, answer, waited: clock.now() - started >= 10_000 },
      { status: 'done', answer: 'well', waited: true },
    )
    const [first] = patient.asked
    assert.deepEqual(
      {
        phase: first?.phase,
        code: first?.code,
        category: first?.category,
        policy: first?.policy,
        is_model_call: first?.is_model_call,
      },
      { phase: 'DECIDE', code: 'model_refused', category: 'model_error', policy: 'fail', is_model_call: true },
    )
    assert.deepEqual(
      patient.asked.map(({ attempt, failures }) => [attempt, failures]),
      [
        [1, 1],
        [2, 2],
      ],
    )
    const failed = (await journalOf(app, session_id)).flatMap((record) =>
      record.kind === 'failed' ? [[record.rule, record.ruling.kind]] : [],
    )
    assert.deepEqual(failed, [
      ['patient', 'retry'],
      ['patient', 'retry'],
    ])
    assert.equal(findEvent(events, 'RECOVER', 'retry').payload.rule, 'patient')
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
    assert.equal(patient.asked.length, 2)
  })

  test('Q14: rules keep the limits of the policy: three failures in a row end the run', async (t) => {
    const stubborn = deciding({ kind: 'retry' })
    const { app } = await openRecordedApp(t, { model: flakyModel(99, 'model_unavailable'), recoveryRules: [stubborn] })
    const { status, error, dispatch_id } = await runTaskIn(app)
    assert.equal(status, 'failed')
    assert.match(error ?? '', /failure 3 \(after 3 failures in a row\)/)
    assert.equal(stubborn.asked.length, 2)
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
  })

  test('Q14: a rule fails a run that the policy would retry', async (t) => {
    const { app } = await openRecordedApp(t, {
      model: flakyModel(1, 'model_unavailable'),
      recoveryRules: [deciding({ kind: 'fail' })],
    })
    const { status, error, dispatch_id } = await runTaskIn(app)
    assert.deepEqual({ status, error }, { status: 'failed', error: 'model_unavailable: failure 1' })
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
  })

  test('Q14: a rule goes on with the next turn, with its own feedback, after a pause', async (t) => {
    const clock = new FakeClock()
    let fails = true
    const seen: (string | undefined)[] = []
    const flaky = scriptedBehaviour([finalAnswer()], {
      observe(_, view) {
        seen.push(view.feedback)
        return null
      },
      reduce(state) {
        if (!fails) return state
        fails = false
        throw new Error('the sum is wrong')
      },
    })
    const { app } = await openRecordedApp(t, {
      clock,
      behaviours: [flaky],
      recoveryRules: [deciding({ kind: 'next_turn', feedback: 'count again', after_ms: 60_000 })],
    })
    const started = clock.now()
    const { status, steps } = await advanceUntilDone(clock, runScripted(app))
    assert.deepEqual(
      { status, steps, waited: clock.now() - started >= 60_000 },
      { status: 'done', steps: 2, waited: true },
    )
    assert.deepEqual(seen, [undefined, 'count again'])
  })

  test('Q14: a rule that throws, hangs or returns nonsense is diagnosed, and the policy decides', async (t) => {
    const clock = new FakeClock()
    const decide = (name: string, decide: () => never): RecoveryRule => ({ name, decide })
    const broken = [
      decide('throwing', () => assert.fail('no idea')),
      decide('hanging', () => new Promise(() => {}) as never),
      ...[42, Number.NaN, null, { kind: 'retry', after_ms: -1 }, 'x'.repeat(100_000_000)].map((value, i) =>
        decide(`odd ${i}`, () => value as never),
      ),
    ]
    const { app } = await openRecordedApp(t, {
      clock,
      model: flakyModel(1, 'model_unavailable'),
      recoveryRules: broken,
    })
    const { status, session_id, dispatch_id } = await advanceUntilDone(clock, runTaskIn(app))
    assert.equal(status, 'done')
    const journal = await journalOf(app, session_id)
    assert.deepEqual(
      journal.flatMap((record) => (record.kind === 'diagnosed' ? record.about : [])),
      broken.map(({ name }) => `recovery rule ${name}`),
    )
    assert.deepEqual((await replayIn(app, dispatch_id)).first_divergence, null)
  })
})
