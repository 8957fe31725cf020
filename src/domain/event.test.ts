/** Events of a run: phases and stages in order, ACT, CHECK_STOP, limits of size. */

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
  buildJournal,
  callIntended,
  callSettled,
  finalTurn,
  inputBound,
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
import type { RecordBody } from './journal-record.ts'

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
      assert.deepEqual(
        { run_id: event.run_id, session_id: event.session_id, ok: event.ok },
        { run_id: RUN.run_id, session_id: RUN.session_id, ok: true },
      )
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
    assert.deepEqual(
      { ok: events[1]?.ok, payload: events[1]?.payload },
      { ok: false, payload: { stop_reason: 'cancelled' } },
    )
    const good = eventsFrom(runStarted(), runEnded({ answer: 'hello' })).at(-1)
    assert.deepEqual(
      { ok: good?.ok, payload: good?.payload },
      { ok: true, payload: { stop_reason: 'final', answer: 'hello' } },
    )
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
      { ok, payload, error, step_id },
      {
        ok: false,
        payload: { stop_reason: 'env_capability_mismatch', failure_class: 'infra', issues },
        error: 'no disk',
        step_id: 0,
      },
    )
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
