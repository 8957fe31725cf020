import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Verdict } from '../../src/domain/decision.ts'
import type { Json } from '../../src/domain/json.ts'
import type { Critic } from '../../src/ports/behaviour.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  eventNames,
  finalAnswer,
  findEvent,
  openRecordedApp,
  pokeDecision,
  pushAndReturn,
  runScripted,
  type ScriptedState,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { advanceUntilDone, runTaskIn } from '../support/open-app.ts'

const CONTINUE: Verdict = { kind: 'continue' }
const retry = (instruction = 'again'): Verdict => ({ kind: 'retry', instruction })
const stop = (reason = 'enough'): Verdict => ({ kind: 'stop', reason })

/** Gives the verdicts of the list in turn and repeats the last one; adds its name to `asked` per call. */
function critic(name: string, verdicts: readonly unknown[], judgeCalls: string[] = []): Critic {
  let times = 0
  return {
    name,
    judge() {
      judgeCalls.push(name)
      return verdicts[Math.min(times++, verdicts.length - 1)] as Verdict
    },
  }
}

describe('critics', () => {
  test('case 41, Q12: critics judge in order; the first verdict other than continue decides', async (t) => {
    const judgeCalls: string[] = []
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()], { critics: [critic('own', [stop('not reached')], judgeCalls)] })],
      critics: [
        critic('mild', [CONTINUE], judgeCalls),
        critic('strict', [retry(), CONTINUE], judgeCalls),
        critic('third', [stop()], judgeCalls),
      ],
    })
    const { stop_reason, error, steps } = await runScripted(app)
    assert.deepEqual({ stop_reason, error, steps }, { stop_reason: 'critic_stop', error: 'enough', steps: 2 })
    assert.deepEqual(judgeCalls, ['mild', 'strict', 'mild', 'strict', 'third'])
    assert.deepEqual(
      events.filter(({ stage }) => stage === 'outputs_ready').map(({ payload }) => payload.verdicts),
      [
        [
          { critic: 'mild', kind: 'continue' },
          { critic: 'strict', kind: 'retry', instruction: 'again' },
        ],
        [
          { critic: 'mild', kind: 'continue' },
          { critic: 'strict', kind: 'continue' },
          { critic: 'third', kind: 'stop', reason: 'enough' },
        ],
      ],
    )
  })

  test('case 41: a retry overrides a final answer; observe and the model get its instruction', async (t) => {
    const feedbacks: Json[] = []
    const behaviour = scriptedBehaviour([finalAnswer('first'), finalAnswer('second')], {
      observe: (_, { feedback = null }) => pushAndReturn(feedbacks, feedback),
    })
    const withoutModel = await openRecordedApp(t, {
      behaviours: [behaviour],
      critics: [critic('strict', [retry('prove it'), CONTINUE])],
    })
    assert.equal((await runScripted(withoutModel.app)).answer, 'second')
    assert.deepEqual(feedbacks, [null, 'prove it'])
    const model = scriptedModel([{ text: 'first' }, { text: 'second' }])
    const withModel = await openRecordedApp(t, { model, critics: [critic('strict', [retry('prove it'), CONTINUE])] })
    assert.equal((await runTaskIn(withModel.app)).answer, 'second')
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /prove it/)
  })

  test('case 41: the fourth retry in a row stops the run', async (t) => {
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [critic('unsatisfied', [retry('no')])],
    })
    const { stop_reason, steps, error, answer: finalText, failure_class } = await runScripted(app)
    assert.deepEqual(
      { stop_reason, steps, finalText, failure_class },
      { stop_reason: 'critic_stop', steps: 4, finalText: null, failure_class: 'invalid_result' },
    )
    assert.match(error ?? '', /3 retries in a row.*no/)
  })

  test('E8: a critic that stops the run may set the failure class', async (t) => {
    const stopping = { kind: 'stop', reason: 'it only asked', failure_class: 'awaiting_input' } as const
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [critic('c', [stopping])],
    })
    const { status, stop_reason, failure_class, error } = await runScripted(app)
    const ended = [status, stop_reason, failure_class, error]
    assert.deepEqual(ended, ['failed', 'critic_stop', 'awaiting_input', 'it only asked'])
    const { verdicts } = findEvent(events, 'CRITIC', 'outputs_ready').payload
    assert.deepEqual(verdicts, [{ critic: 'c', ...stopping }])
  })

  test('case 41: an accepted step resets the retry count; each retry counts as a step', async (t) => {
    const three = [retry(), retry(), retry()]
    const verdicts = [...three, CONTINUE, ...three, CONTINUE]
    const behaviours = [scriptedBehaviour([pokeDecision, pokeDecision, pokeDecision, pokeDecision, finalAnswer()])]
    const unlimited = await openRecordedApp(t, { behaviours, critics: [critic('picky', verdicts)] })
    const result = await runScripted(unlimited.app)
    assert.deepEqual({ stop_reason: result.stop_reason, steps: result.steps }, { stop_reason: 'final', steps: 8 })
    const limited = await openRecordedApp(t, { behaviours, critics: [critic('picky', verdicts)] })
    const ended = await runScripted(limited.app, { max_steps: 2 })
    assert.deepEqual({ stop_reason: ended.stop_reason, steps: ended.steps }, { stop_reason: 'budget_steps', steps: 2 })
  })

  for (const [what, broken] of [
    ['throws', { name: 'broken', judge: () => assert.fail('critic failed') }],
    ['rejects', { name: 'broken', judge: () => Promise.reject(new TypeError('critic failed')) }],
    ['returns undefined', critic('broken', [undefined])],
    ['returns an invalid verdict', critic('broken', [{ kind: 'halt' }])],
    ['asks for a retry without an instruction', critic('broken', [{ kind: 'retry' }])],
    ['asks for an attempt without a delay', critic('broken', [{ ...retry(), attempt: {} }])],
    ['asks for an attempt with a negative delay', critic('broken', [{ ...retry(), attempt: { after_ms: -1 } }])],
    ['stops with an unknown failure class', critic('broken', [{ ...stop(), failure_class: 'bad luck' }])],
  ] as const)
    test(`case 41, Q12: a critic that ${what} is diagnosed and skipped`, async (t) => {
      const judgeCalls: string[] = []
      const { app, events } = await openRecordedApp(t, {
        behaviours: [scriptedBehaviour([finalAnswer()])],
        critics: [broken, critic('sound', [CONTINUE], judgeCalls)],
      })
      const { status, stop_reason } = await runScripted(app)
      assert.deepEqual(
        { status, stop_reason, judgeCalls },
        { status: 'done', stop_reason: 'final', judgeCalls: ['sound'] },
      )
      const stages = eventNames(events).filter((name) => name.startsWith('CRITIC'))
      assert.deepEqual(stages, ['CRITIC start', 'CRITIC diagnostic', 'CRITIC outputs_ready'])
      assert.equal(findEvent(events, 'CRITIC', 'diagnostic').payload.about, 'critic broken')
      assert.equal(eventNames(events).at(-1), 'END end')
    })

  test('Q12: a critic gets a copy of the new state and cannot change it', async (t) => {
    const judgedSteps: unknown[] = []
    const tampering: Critic = {
      name: 'tampering',
      judge(state) {
        judgedSteps.push((state as ScriptedState).step)
        Object.assign(state as object, { step: 40 })
        return CONTINUE
      },
    }
    const shouldStop = (state: Json) => (state as ScriptedState).step === 40
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()], { shouldStop })],
      critics: [tampering],
    })
    assert.deepEqual({ steps: (await runScripted(app)).steps, judgedSteps }, { steps: 2, judgedSteps: [1, 2] })
  })

  test('case 44: the time limit ends a run whose critic never answers', async (t) => {
    const clock = new FakeClock()
    const { app, events } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [{ name: 'hanging', judge: () => new Promise<Verdict>(() => {}) }],
    })
    const { stop_reason } = await advanceUntilDone(clock, runScripted(app, { max_seconds: 60 }))
    assert.equal(stop_reason, 'budget_time')
    assert.equal(eventNames(events).at(-1), 'END end')
  })
})
