import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  actingTurn,
  buildJournal,
  callIntended,
  callSettled,
  finalTurn,
  inputBound,
  makeCall,
  modelAnswered,
  modelRequested,
  RUN,
  requestedCall,
  runEnded,
  runStarted,
  stepCommitted,
} from '../../test/support/journals.ts'
import type { Event } from './event.ts'
import { eventsFromRecords } from './event-fold.ts'
import type { FailingPhase, RecordBody, RetryRuling } from './journal-record.ts'

const eventsFrom = (...bodies: readonly RecordBody[]): readonly Event[] =>
  eventsFromRecords(RUN, buildJournal(...bodies))
const stageNames = (events: readonly Event[]): string[] => events.map(({ phase, stage }) => `${phase} ${stage}`)
const findEvent = (events: readonly Event[], phase: string, stage: string): Event => {
  const event = events.find((each) => each.phase === phase && each.stage === stage)
  assert.ok(event, `${phase} ${stage} among ${stageNames(events).join(', ')}`)
  return event
}
const failed = (turn: number, phase: FailingPhase, ruling: RetryRuling = { kind: 'feedback' }): RecordBody => ({
  kind: 'failed',
  turn,
  phase,
  code: 'internal',
  message: `${phase} broke`,
  ruling,
})

const OBSERVED = ['OBSERVE start', 'OBSERVE observation_ready']
const ASKED = ['DECIDE start', 'DECIDE model_input', 'DECIDE model_output']
const DECIDED = [...OBSERVED, ...ASKED, 'DECIDE decision_ready']
const ACTED = [...DECIDED, 'ACT start', 'ACT action_results']
const REDUCED = ['REDUCE start', 'REDUCE state_reduced']
const GOES_ON = ['CHECK_STOP start', 'CHECK_STOP continue']
const STOPS = ['CHECK_STOP start', 'CHECK_STOP stop']

describe('events of a run', () => {
  test('case 1, case 2: act, then final: phases and stages are in order; no CRITIC without critics', () => {
    assert.deepEqual(stageNames(eventsFrom(runStarted(), ...actingTurn(1), ...finalTurn(2))), [
      'INIT start',
      ...[...ACTED, ...REDUCED, ...GOES_ON],
      ...[...DECIDED, 'ACT start', 'ACT skipped', ...REDUCED, ...STOPS],
      'END end',
    ])
  })

  test('case 2: with critics, CRITIC has start and outputs_ready', () => {
    const verdicts = [
      { critic: 'tests', verdict: { kind: 'retry', instruction: 'run them' } },
      { critic: 'style', verdict: { kind: 'continue' } },
    ] as const
    const events = eventsFrom(runStarted(), ...actingTurn(1).slice(0, -1), stepCommitted(1, { verdicts }))
    assert.deepEqual(stageNames(events).slice(-4), ['CRITIC start', 'CRITIC outputs_ready', ...GOES_ON])
    assert.deepEqual(findEvent(events, 'CRITIC', 'start').payload, { critics: ['tests', 'style'] })
    assert.deepEqual(findEvent(events, 'CRITIC', 'outputs_ready').payload, {
      verdicts: [
        { critic: 'tests', kind: 'retry', instruction: 'run them' },
        { critic: 'style', kind: 'continue' },
      ],
    })
  })

  test('case 3: events name their run and session; seq has no gaps; steps count from 1 in every run', () => {
    const events = eventsFrom(runStarted(), ...actingTurn(41), ...actingTurn(42), ...finalTurn(43))
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, i) => i + 1),
    )
    assert.deepEqual([...new Set(events.map(({ step_id }) => step_id))], [0, 1, 2, 3])
    for (const event of events) {
      assert.deepEqual([event.run_id, event.session_id, event.ok], [RUN.run_id, RUN.session_id, true])
      assert.equal(typeof event.ts, 'number')
    }
  })

  test('Q17: the same records give the same events, one by one or at once; none depends on later records', () => {
    const records = buildJournal(
      runStarted(),
      ...actingTurn(1),
      inputBound(2),
      failed(2, 'DECIDE'),
      stepCommitted(2),
      ...finalTurn(3),
    )
    const whole = eventsFromRecords(RUN, records)
    for (let n = 0; n <= records.length; n++) {
      const some = eventsFromRecords(RUN, records.slice(0, n))
      assert.deepEqual(whole.slice(0, some.length), some)
    }
  })

  test('INIT has the setup of the run, END its result', () => {
    const events = eventsFrom(runStarted('say hello'), runEnded({ stop_reason: 'cancelled' }))
    assert.partialDeepStrictEqual(events[0]?.payload, {
      agent_id: 'default',
      behaviour: 'solo',
      task: 'say hello',
      setup: { parser: 'native' },
    })
    assert.deepEqual([events[1]?.ok, events[1]?.payload], [false, { stop_reason: 'cancelled' }])
    const good = eventsFrom(runStarted(), runEnded({ answer: 'hello' })).at(-1)
    assert.deepEqual([good?.ok, good?.payload], [true, { stop_reason: 'final', answer: 'hello' }])
  })

  test('case 11: a run that did not start ends with ok false and its issues', () => {
    const issues = [{ code: 'ENV_HEALTH_CHECK_FAILED', message: 'no disk' }]
    const events = eventsFrom(
      runStarted(),
      runEnded({ stop_reason: 'env_capability_mismatch', failure_class: 'infra', error: 'no disk', issues }),
    )
    assert.deepEqual(stageNames(events), ['INIT start', 'END end'])
    const { ok, payload, error, step_id } = events[1] as Event
    assert.deepEqual(
      [ok, payload, error, step_id],
      [false, { stop_reason: 'env_capability_mismatch', failure_class: 'infra', issues }, 'no disk', 0],
    )
  })
})

describe('DECIDE', () => {
  test('each request has an event, DECIDE starts once; a cut is part of the next request', () => {
    const cut = { from: 3, summary: 'before', recalled: ['once'] }
    const events = eventsFrom(
      runStarted(),
      inputBound(1),
      { kind: 'cut', turn: 1, cut },
      modelRequested(1),
      modelRequested(1),
    )
    assert.deepEqual(stageNames(events).slice(3), ['DECIDE start', 'DECIDE model_input', 'DECIDE model_input'])
    assert.deepEqual(
      events.slice(4).map(({ payload }) => payload),
      [
        { model: 'scripted/model', digest: 'abc', cut },
        { model: 'scripted/model', digest: 'abc' },
      ],
    )
  })

  test('model_output has the text, calls and usage of the answer, and the parsed fields', () => {
    const calls = [requestedCall('poke', { where: 'here' })]
    const events = eventsFrom(
      runStarted(),
      modelAnswered(1, { text: 'hm', calls, said: 'x', notes: { thought: 'why' } }),
    )
    assert.deepEqual(findEvent(events, 'DECIDE', 'model_output').payload, {
      text: 'hm',
      calls: [{ tool: 'poke', args: '{"where":"here"}' }],
      usage: { input_tokens: 10, output_tokens: 5, cached_tokens: 1 },
      said: 'x',
      notes: { thought: 'why' },
    })
  })

  test('the decision is derived from the answer', () => {
    const kinds = [
      modelAnswered(1, { text: 'hello' }),
      modelAnswered(1, { calls: [requestedCall('finish', { answer: 'bye' })] }),
      modelAnswered(1, { calls: [requestedCall('wait', { for: 'a reply' })] }),
      modelAnswered(1, { calls: [requestedCall('poke'), requestedCall('prod')] }),
      modelAnswered(1, { text: 'Final Answer: no', said: 'yes' }),
      modelAnswered(1, { text: '{', fault: 'the object is not closed' }),
      modelAnswered(1, { text: 'long', finish: 'length' }),
    ].map((body) => findEvent(eventsFrom(runStarted(), body, stepCommitted(1)), 'DECIDE', 'decision_ready').payload)
    assert.deepEqual(kinds, [
      { kind: 'final', answer: 'hello' },
      { kind: 'final', answer: 'bye', via: 'finish' },
      { kind: 'wait', reason: 'a reply', via: 'wait' },
      {
        kind: 'act',
        calls: [
          { tool: 'poke', args: '{}' },
          { tool: 'prod', args: '{}' },
        ],
      },
      { kind: 'final', answer: 'yes' },
      { kind: 'invalid', feedback: 'the object is not closed' },
      { kind: 'invalid', feedback: 'the answer was truncated at the output limit' },
    ])
  })

  test('case 15: a decision of the behaviour itself has no model events', () => {
    const decision = { kind: 'act', calls: [makeCall('poke', { n: 1 })] } as const
    const events = eventsFrom(
      runStarted(),
      inputBound(1),
      { kind: 'decided', turn: 1, decision },
      callIntended(1, 0),
      callSettled(1, 0),
      stepCommitted(1),
    )
    assert.deepEqual(stageNames(events).slice(3, 7), [
      ...['DECIDE start', 'DECIDE decision_ready'],
      ...['ACT start', 'ACT action_results'],
    ])
    assert.deepEqual(findEvent(events, 'DECIDE', 'decision_ready').payload, {
      kind: 'act',
      calls: [{ tool: 'poke', args: { n: 1 } }],
    })
  })

  test('case 19: a branch has one event, with its candidates, their scores and the chosen one', () => {
    const decision = {
      kind: 'branch',
      candidates: [
        { kind: 'final', answer: 'a' },
        { kind: 'wait', match: 'any', reason: 'more' },
      ],
    } as const
    const candidates = [
      { kind: 'final', answer: 'a' },
      { kind: 'wait', reason: 'more' },
    ]
    const branch = (chosen: number | null) =>
      eventsFrom(
        runStarted(),
        inputBound(1),
        { kind: 'decided', turn: 1, decision },
        { kind: 'branched', turn: 1, scores: [1, null], chosen },
        stepCommitted(1),
      )
    const taken = branch(0).filter(({ stage }) => stage === 'decision_ready')
    assert.deepEqual(
      taken.map(({ payload }) => payload),
      [{ kind: 'final', answer: 'a', candidates, scores: [1, null], chosen: 0 }],
    )
    const none = branch(null)
    assert.partialDeepStrictEqual(findEvent(none, 'DECIDE', 'decision_ready').payload, { kind: 'branch', chosen: null })
    assert.deepEqual(findEvent(none, 'ACT', 'skipped').payload, { reason: 'the decision is branch' })
  })
})

describe('ACT', () => {
  test('one event for the results of all calls, in call order', () => {
    const events = eventsFrom(
      runStarted(),
      inputBound(1),
      modelRequested(1),
      modelAnswered(1, { calls: [requestedCall('poke'), requestedCall('prod')] }),
      ...[callIntended(1, 0), callIntended(1, 1, 'prod')],
      ...[callSettled(1, 1, { content: 'second' }), callSettled(1, 0, { status: 'error', content: 'first' })],
      stepCommitted(1),
    )
    assert.deepEqual(stageNames(events).slice(1, 9), ACTED)
    const results = findEvent(events, 'ACT', 'action_results')
    assert.equal(results.ok, false)
    assert.deepEqual(results.payload, {
      results: [
        { tool: 'poke', status: 'error', content: 'first' },
        { tool: 'prod', status: 'ok', content: 'second' },
      ],
    })
  })

  test('a decision made through a call (finish) is no act', () => {
    const events = eventsFrom(
      runStarted(),
      inputBound(1),
      modelRequested(1),
      modelAnswered(1, { calls: [requestedCall('finish', { answer: 'x' })] }),
      callSettled(1, 0, { content: 'finished' }),
      stepCommitted(1, { next: { kind: 'end', stop_reason: 'final' } }),
    )
    assert.deepEqual(stageNames(events).slice(1), [...DECIDED, 'ACT start', 'ACT skipped', ...REDUCED, ...STOPS])
  })
})

describe('CHECK_STOP', () => {
  test('CHECK_STOP says that the run continues, what it waits for, or why it stops', () => {
    const wait = { kind: 'observation', match: 'any', until: 5, reason: 'a reply' } as const
    const nexts = [
      { kind: 'continue' },
      { kind: 'continue', retry: true },
      { kind: 'park', wait },
      { kind: 'end', stop_reason: 'stagnation' },
    ] as const
    assert.deepEqual(
      nexts.map((next) => {
        const { stage, payload } = eventsFrom(runStarted(), inputBound(1), stepCommitted(1, { next })).at(-1) as Event
        return [stage, payload]
      }),
      [
        ['continue', {}],
        ['continue', { retry: true }],
        ['continue', { parked: 'a reply' }],
        ['stop', { stop_reason: 'stagnation' }],
      ],
    )
  })

  test('REDUCE has the state difference, truncated', () => {
    const small = { keys: { n: { set: 1 } } }
    const of = (patch: object) =>
      findEvent(
        eventsFrom(runStarted(), ...actingTurn(1).slice(0, -1), stepCommitted(1, { patch: patch as never })),
        'REDUCE',
        'state_reduced',
      ).payload.state_diff
    assert.deepEqual(of(small), small)
    const large = of({ set: 'x'.repeat(100_000) })
    assert.equal(typeof large, 'string')
    assert.ok(String(large).length < 4200, `${String(large).length}`)
  })
})

describe('failures', () => {
  test('case 47: DECIDE_ERROR, then RECOVER; the failed turn is closed without REDUCE', () => {
    const events = eventsFrom(runStarted(), inputBound(1), modelRequested(1), failed(1, 'DECIDE'), stepCommitted(1))
    assert.deepEqual(stageNames(events).slice(3), [
      ...['DECIDE start', 'DECIDE model_input', 'DECIDE_ERROR error', 'RECOVER feedback'],
      ...GOES_ON,
    ])
    for (const event of events.slice(5, 7)) assert.deepEqual([event.ok, event.error], [false, 'DECIDE broke'])
    assert.deepEqual(findEvent(events, 'RECOVER', 'feedback').payload, {
      phase: 'DECIDE',
      code: 'internal',
      ruling: { kind: 'feedback' },
    })
  })

  test('case 47: ACT_ERROR after the decision, and no results', () => {
    const events = eventsFrom(
      runStarted(),
      ...actingTurn(1).slice(0, 4),
      failed(1, 'ACT', { kind: 'stop' }),
      stepCommitted(1, { next: { kind: 'end', stop_reason: 'unrecoverable_error' } }),
      runEnded({ stop_reason: 'unrecoverable_error' }),
    )
    assert.deepEqual(stageNames(events).slice(1), [
      ...[...DECIDED, 'ACT start', 'ACT_ERROR error', 'RECOVER stop'],
      ...[...STOPS, 'END end'],
    ])
  })

  test('case 40: a failed reduction is an error of REDUCE, after the results', () => {
    const events = eventsFrom(runStarted(), ...actingTurn(1).slice(0, -1), failed(1, 'REDUCE'), stepCommitted(1))
    assert.deepEqual(stageNames(events).slice(1), [
      ...[...ACTED, 'REDUCE start', 'REDUCE error', 'RECOVER feedback'],
      ...GOES_ON,
    ])
  })

  test('a retried turn continues where it stopped, and is complete at its end', () => {
    const retry = { kind: 'retry', until: null } as const
    const events = eventsFrom(
      runStarted(),
      ...[inputBound(1), modelRequested(1), failed(1, 'DECIDE', retry)],
      ...actingTurn(1).slice(1, -1),
      failed(1, 'CRITIC', retry),
      stepCommitted(1),
    )
    assert.deepEqual(stageNames(events).slice(3), [
      ...['DECIDE start', 'DECIDE model_input', 'DECIDE_ERROR error', 'RECOVER retry'],
      ...['DECIDE model_input', 'DECIDE model_output', 'DECIDE decision_ready', 'ACT start', 'ACT action_results'],
      ...[...REDUCED, 'CRITIC start', 'CRITIC error', 'RECOVER retry'],
      ...[...REDUCED, ...GOES_ON],
    ])
  })

  test('a failure before the observation is an error of OBSERVE', () => {
    assert.deepEqual(stageNames(eventsFrom(runStarted(), failed(1, 'OBSERVE'), stepCommitted(1))).slice(1), [
      ...['OBSERVE start', 'OBSERVE error', 'RECOVER feedback'],
      ...GOES_ON,
    ])
  })

  test('a turn that was interrupted has no REDUCE event', () => {
    const over = stepCommitted(1, { next: { kind: 'end', stop_reason: 'cancelled' } })
    assert.deepEqual(stageNames(eventsFrom(runStarted(), inputBound(1), modelRequested(1), over)).slice(5), STOPS)
    assert.deepEqual(stageNames(eventsFrom(runStarted(), ...actingTurn(1).slice(0, 4), over)).slice(8), STOPS)
  })

  test('case 5: a failed hook is one diagnostic event, in the phase where it failed', () => {
    const diagnosed = { kind: 'diagnosed', turn: 1, about: 'hook watcher', message: 'boom' } as const
    const events = eventsFrom(runStarted(), inputBound(1), modelRequested(1), diagnosed)
    const { phase, stage, ok, payload, step_id } = events.at(-1) as Event
    assert.deepEqual(
      [phase, stage, ok, payload, step_id],
      ['DECIDE', 'diagnostic', false, { about: 'hook watcher', message: 'boom' }, 1],
    )
    const early = eventsFrom(runStarted(), { ...diagnosed, turn: 0 }, ...actingTurn(1)).map(({ phase, step_id }) => [
      phase,
      step_id,
    ])
    assert.deepEqual(early.slice(1, 3), [
      ['INIT', 0],
      ['OBSERVE', 1],
    ])
  })

  test("case 41: a critic's exception is a diagnostic event inside CRITIC, and never lost", () => {
    const diagnosed = { kind: 'diagnosed', turn: 1, about: 'critic tests', message: 'boom' } as const
    const events = eventsFrom(runStarted(), ...actingTurn(1).slice(0, -1), diagnosed, stepCommitted(1))
    assert.deepEqual(stageNames(events).slice(-5), [
      ...['CRITIC start', 'CRITIC diagnostic', 'CRITIC outputs_ready'],
      ...GOES_ON,
    ])
    const cut = eventsFrom(runStarted(), inputBound(1), diagnosed, runEnded())
    assert.deepEqual(stageNames(cut).slice(-2), ['CRITIC diagnostic', 'END end'])
  })
})

describe('case 63: the events of a step are limited in size', () => {
  test('truncated texts say how many characters are missing', () => {
    const events = eventsFrom(
      runStarted(),
      modelAnswered(1, { text: 'x'.repeat(5000), calls: [requestedCall('poke', { text: 'y'.repeat(5000) })] }),
    )
    const { text, calls } = findEvent(events, 'DECIDE', 'model_output').payload
    assert.equal(text, `${'x'.repeat(2000)}… (3000 characters more)`)
    assert.ok(JSON.stringify(calls).length < 2200)
  })

  test('no character is cut in half', () => {
    const events = eventsFrom(runStarted(`${'x'.repeat(1999)}😀${'y'.repeat(10)}`))
    assert.equal(events[0]?.payload.task, `${'x'.repeat(1999)}… (12 characters more)`)
  })

  test('the events of a step with huge values stay small', () => {
    const huge = 'z'.repeat(1_000_000)
    const events = eventsFrom(
      runStarted(huge),
      { kind: 'input_bound', turn: 1, input: [], feedback: huge, observation: { huge } },
      { kind: 'cut', turn: 1, cut: { from: 1, summary: huge, recalled: [huge] } },
      modelRequested(1),
      modelAnswered(1, {
        text: huge,
        calls: [requestedCall('poke', { huge })],
        said: huge,
        notes: { thought: huge },
        reasoning: huge,
      }),
      callIntended(1, 0, 'poke', { huge }),
      callSettled(1, 0, { content: huge, facts: { huge } }),
      { kind: 'diagnosed', turn: 1, about: 'hook', message: huge },
      { ...(failed(1, 'REDUCE', { kind: 'retry', until: null }) as object), message: huge } as RecordBody,
      stepCommitted(1, {
        patch: { set: huge },
        verdicts: [{ critic: 'c', verdict: { kind: 'retry', instruction: huge } }],
      }),
      runEnded({ answer: huge, error: huge, issues: [{ code: 'X', message: huge }] }),
    )
    assert.ok(JSON.stringify(events).length < 60_000, `${JSON.stringify(events).length}`)
  })
})
