/** Events of DECIDE, and of steps that fail. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  ACTED,
  DECIDED,
  eventsFrom,
  failed,
  findEvent,
  GOES_ON,
  REDUCED,
  STOPS,
  stageNames,
} from '../../test/support/event-stages.ts'
import {
  actingTurn,
  callIntended,
  callSettled,
  inputBound,
  makeCall,
  modelAnswered,
  modelRequested,
  requestedCall,
  runEnded,
  runStarted,
  stepCommitted,
} from '../../test/support/journals.ts'
import type { Event } from './event.ts'

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

describe('failures', () => {
  test('case 47: DECIDE_ERROR, then RECOVER; the failed turn is closed without REDUCE', () => {
    const events = eventsFrom(runStarted(), inputBound(1), modelRequested(1), failed(1, 'DECIDE'), stepCommitted(1))
    assert.deepEqual(stageNames(events).slice(3), [
      ...['DECIDE start', 'DECIDE model_input', 'DECIDE_ERROR error', 'RECOVER feedback'],
      ...GOES_ON,
    ])
    for (const event of events.slice(5, 7))
      assert.deepEqual({ ok: event.ok, error: event.error }, { ok: false, error: 'DECIDE broke' })
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
      { phase, stage, ok, payload, step_id },
      {
        phase: 'DECIDE',
        stage: 'diagnostic',
        ok: false,
        payload: { about: 'hook watcher', message: 'boom' },
        step_id: 1,
      },
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
