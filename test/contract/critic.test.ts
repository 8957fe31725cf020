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

/** Says what the list says, its last word for ever; notes that it was asked. */
function critic(name: string, said: readonly unknown[], asked: string[] = []): Critic {
  let times = 0
  return {
    name,
    judge() {
      asked.push(name)
      return said[Math.min(times++, said.length - 1)] as Verdict
    },
  }
}

describe('critics', () => {
  test('case 41, Q12: asked in order; the first that does not say continue wins, and nobody after it is asked', async (t) => {
    const asked: string[] = []
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()], { critics: [critic('own', [stop('never heard')], asked)] })],
      critics: [
        critic('mild', [CONTINUE], asked),
        critic('strict', [retry(), CONTINUE], asked),
        critic('third', [stop()], asked),
      ],
    })
    const { stop_reason, error, steps } = await runScripted(app)
    assert.deepEqual([stop_reason, error, steps], ['critic_stop', 'enough', 2])
    assert.deepEqual(asked, ['mild', 'strict', 'mild', 'strict', 'third'])
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

  test("case 41: a retry overrules a final; its instruction reaches a rule's next look and a model's next request", async (t) => {
    const heard: Json[] = []
    const behaviour = scriptedBehaviour([finalAnswer('first'), finalAnswer('second')], {
      observe: (_, { feedback = null }) => pushAndReturn(heard, feedback),
    })
    const ruling = await openRecordedApp(t, {
      behaviours: [behaviour],
      critics: [critic('strict', [retry('prove it'), CONTINUE])],
    })
    assert.equal((await runScripted(ruling.app)).answer, 'second')
    assert.deepEqual(heard, [null, 'prove it'])
    const model = scriptedModel([{ text: 'first' }, { text: 'second' }])
    const asking = await openRecordedApp(t, { model, critics: [critic('strict', [retry('prove it'), CONTINUE])] })
    assert.equal((await runTaskIn(asking.app)).answer, 'second')
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /prove it/)
  })

  test('case 41: three retries in a row are the most; the fourth stops the run', async (t) => {
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      critics: [critic('never', [retry('no')])],
    })
    const { stop_reason, steps, error, answer: given, failure_class } = await runScripted(app)
    assert.deepEqual([stop_reason, steps, given, failure_class], ['critic_stop', 4, null, 'invalid_result'])
    assert.match(error ?? '', /3 retries in a row.*no/)
  })

  test('E8: a critic that stops the run may say what kind of failure that is', async (t) => {
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

  test('case 41: a step that passes begins the count anew; every retry uses up a step of the budget', async (t) => {
    const three = [retry(), retry(), retry()]
    const said = [...three, CONTINUE, ...three, CONTINUE]
    const behaviours = [scriptedBehaviour([pokeDecision, pokeDecision, pokeDecision, pokeDecision, finalAnswer()])]
    const patient = await openRecordedApp(t, { behaviours, critics: [critic('picky', said)] })
    const result = await runScripted(patient.app)
    assert.deepEqual([result.stop_reason, result.steps], ['final', 8])
    const poor = await openRecordedApp(t, { behaviours, critics: [critic('picky', said)] })
    const ended = await runScripted(poor.app, { max_steps: 2 })
    assert.deepEqual([ended.stop_reason, ended.steps], ['budget_steps', 2])
  })

  for (const [what, broken] of [
    ['throws', { name: 'broken', judge: () => assert.fail('it broke') }],
    ['rejects', { name: 'broken', judge: () => Promise.reject(new TypeError('it broke')) }],
    ['says nothing', critic('broken', [undefined])],
    ['says what is no verdict', critic('broken', [{ kind: 'halt' }])],
    ['asks for a retry without an instruction', critic('broken', [{ kind: 'retry' }])],
    ['asks for an attempt without a rest', critic('broken', [{ ...retry(), attempt: {} }])],
    ['asks for an attempt before now', critic('broken', [{ ...retry(), attempt: { after_ms: -1 } }])],
    ['stops with a class that there is not', critic('broken', [{ ...stop(), failure_class: 'bad luck' }])],
  ] as const)
    test(`case 41, Q12: a critic that ${what} is diagnosed and passed over; the others are asked, the run goes on`, async (t) => {
      const asked: string[] = []
      const { app, events } = await openRecordedApp(t, {
        behaviours: [scriptedBehaviour([finalAnswer()])],
        critics: [broken, critic('sound', [CONTINUE], asked)],
      })
      const { status, stop_reason } = await runScripted(app)
      assert.deepEqual([status, stop_reason, asked], ['done', 'final', ['sound']])
      const judged = eventNames(events).filter((word) => word.startsWith('CRITIC'))
      assert.deepEqual(judged, ['CRITIC start', 'CRITIC diagnostic', 'CRITIC outputs_ready'])
      assert.equal(findEvent(events, 'CRITIC', 'diagnostic').payload.about, 'critic broken')
      assert.equal(eventNames(events).at(-1), 'END end')
    })

  test('Q12: a critic is shown the state as it will be, and cannot change it', async (t) => {
    const seen: unknown[] = []
    const meddling: Critic = {
      name: 'meddling',
      judge(state) {
        seen.push((state as ScriptedState).step)
        Object.assign(state as object, { step: 40 })
        return CONTINUE
      },
    }
    const shouldStop = (state: Json) => (state as ScriptedState).step === 40
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()], { shouldStop })],
      critics: [meddling],
    })
    assert.deepEqual([(await runScripted(app)).steps, seen], [2, [1, 2]])
  })

  test('case 44: a critic that never answers is left behind when the time is up', async (t) => {
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
