import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { Json } from '../../src/domain/json.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  eventNames,
  finalAnswer,
  openRecordedApp,
  pokeDecision,
  pokeTool,
  pushAndReturn,
  runScripted,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { advanceUntilDone, journalOf, runTaskIn } from '../support/open-app.ts'

const reportOf = async (app: App, session: string): Promise<Json> => {
  const end = (await journalOf(app, session)).at(-1)
  return end?.kind === 'run_ended' ? (end.failure_report ?? null) : null
}

/** One letter per decision: F fails, S succeeds, "." ends the run; the last letter repeats. */
const failingBehaviour = (letters: string) => {
  let calls = 0
  return scriptedBehaviour([], {
    decide() {
      const letter = letters[Math.min(calls++, letters.length - 1)]
      if (letter === 'F') throw new Error('not now')
      return letter === '.' ? finalAnswer() : pokeDecision
    },
  })
}

describe('recovery', () => {
  test('case 47, Q14: a failing DECIDE is recovered; the third failure in a row ends the run', async (t) => {
    const { app, events } = await openRecordedApp(t, { behaviours: [failingBehaviour('F')] })
    const result = await runScripted(app)
    const failing = (ruling: string, end: string) => [
      ...['OBSERVE start', 'OBSERVE observation_ready', 'DECIDE start', 'DECIDE_ERROR error', `RECOVER ${ruling}`],
      ...['CHECK_STOP start', `CHECK_STOP ${end}`],
    ]
    assert.deepEqual(eventNames(events), [
      'INIT start',
      ...[...failing('feedback', 'continue'), ...failing('feedback', 'continue'), ...failing('stop', 'stop')],
      'END end',
    ])
    assert.deepEqual(
      { stop_reason: result.stop_reason, steps: result.steps },
      { stop_reason: 'unrecoverable_error', steps: 3 },
    )
    assert.match(result.error ?? '', /not now \(after 3 failures in a row\)/)
    assert.deepEqual(await reportOf(app, result.session_id), {
      ...{ phase: 'DECIDE', code: 'plugin_failed', category: 'system_error' },
      ...{ in_a_row: 3, in_all: 3 },
    })
  })

  test('case 47: a failing ACT is recovered; the started call is settled and the error fed back', async (t) => {
    const feedbacks: Json[] = []
    let reads = 0
    // `timeoutMs` is read when the tool is added and before each call.
    const timeoutMs = () => (reads++ === 0 ? undefined : assert.fail('timeoutMs failed'))
    const broken = Object.defineProperty(pokeTool(), 'timeoutMs', { get: timeoutMs })
    const behaviour = scriptedBehaviour([pokeDecision], {
      observe: (_, { feedback = null }) => pushAndReturn(feedbacks, feedback),
      decide: (_, observation) => (observation === null ? pokeDecision : finalAnswer()),
    })
    const { app, events } = await openRecordedApp(t, { tools: [broken], behaviours: [behaviour] })
    const { status, session_id } = await runScripted(app)
    assert.deepEqual({ status, feedbacks }, { status: 'done', feedbacks: [null, 'timeoutMs failed'] })
    const names = eventNames(events)
    const from = names.indexOf('ACT start')
    assert.deepEqual(names.slice(from, from + 5), [
      ...['ACT start', 'ACT_ERROR error', 'RECOVER feedback'],
      ...['CHECK_STOP start', 'CHECK_STOP continue'],
    ])
    const settled = (await journalOf(app, session_id)).filter(({ kind }) => kind === 'call_settled')
    assert.deepEqual(
      settled.map((record) => record.kind === 'call_settled' && record.result.status),
      ['unknown'],
    )
  })

  test('case 48, Q14: the third failure in a row ends the run; a success resets the count', async (t) => {
    for (const [letters, reason, steps] of [
      ['FFF', 'unrecoverable_error', 3],
      ['FFSFFS.', 'final', 7],
      ['FFSFFF', 'unrecoverable_error', 6],
    ] as const) {
      const { app } = await openRecordedApp(t, { behaviours: [failingBehaviour(letters)] })
      const result = await runScripted(app)
      assert.deepEqual(
        { stop_reason: result.stop_reason, steps: result.steps },
        { stop_reason: reason, steps },
        letters,
      )
    }
  })

  test('case 48: the tenth failure of a run ends it, despite successes in between', async (t) => {
    const { app } = await openRecordedApp(t, { behaviours: [failingBehaviour(`${'FFS'.repeat(4)}FFS.`)] })
    const result = await runScripted(app)
    assert.deepEqual(
      { stop_reason: result.stop_reason, steps: result.steps },
      { stop_reason: 'unrecoverable_error', steps: 14 },
    )
    const report = (await reportOf(app, result.session_id)) as Record<string, Json>
    assert.deepEqual({ in_a_row: report.in_a_row, in_all: report.in_all }, { in_a_row: 2, in_all: 10 })
  })

  test('case 48: a turn that succeeds at its second try resets the count of failures in a row', async (t) => {
    const clock = new FakeClock()
    const faults = [new TirelessError('model_unavailable', 'busy')]
    const step = { calls: [{ tool: 'poke' }], faults }
    const model = scriptedModel([step, step, step, step, { text: 'done', faults }])
    const { app } = await openRecordedApp(t, { clock, model })
    const result = await advanceUntilDone(clock, runTaskIn(app))
    assert.deepEqual({ status: result.status, steps: result.steps }, { status: 'done', steps: 5 })
  })

  const categories: [string, () => unknown, string][] = [
    ['a model that refuses', () => new TirelessError('model_refused', 'no'), 'model_error'],
    [
      'an Error whose text mentions models, parsers and json',
      () => new Error('model: parser: json state tool'),
      'system_error',
    ],
    ['a thrown string', () => 'the tool was not found', 'system_error'],
    ['an invalid state', () => new TirelessError('state_invalid', 'no'), 'state_error'],
    ['a refused path', () => new TirelessError('path_refused', 'no'), 'env_error'],
    ['aborted, without an interruption', () => new TirelessError('aborted', 'no'), 'system_error'],
  ]
  for (const [what, thrown, category] of categories)
    test(`Q14: the error type, not its text, decides the category: ${what}: ${category}`, async (t) => {
      const decide = () => {
        throw thrown()
      }
      const { app } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([], { decide })] })
      const { stop_reason, session_id } = await runScripted(app)
      const report = (await reportOf(app, session_id)) as Record<string, Json>
      assert.deepEqual(
        { stop_reason, phase: report.phase, category: report.category },
        { stop_reason: 'unrecoverable_error', phase: 'DECIDE', category },
      )
    })
})

describe('requests that are too long for the model', () => {
  const oversize = () => new TirelessError('model_oversize', 'too long')
  const toolsIn = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === 'tool').length

  test('case 49: the request is shortened once in the same turn, and the run continues', async (t) => {
    let pokes = 0
    const model = scriptedModel((request) => {
      if (toolsIn(request) > 3) throw oversize()
      return pokes++ < 6 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }
    })
    const { app, events } = await openRecordedApp(t, { model })
    const result = await runTaskIn(app)
    assert.deepEqual({ status: result.status, steps: result.steps }, { status: 'done', steps: 7 })
    const lengths = model.requests.map(toolsIn)
    assert.ok(lengths.includes(4), 'one request was too long')
    assert.deepEqual(lengths.slice(0, 6), [0, 1, 2, 3, 4, 2])
    assert.ok(eventNames(events).includes('RECOVER retry'))
  })

  test('case 49: a request that is still too long, or cannot be shortened, is context_overflow', async (t) => {
    for (const [from, steps] of [
      [3, 4],
      [0, 1],
    ] as const) {
      let calls = 0
      const model = scriptedModel((_, turn) => {
        if (calls++ >= from) throw oversize()
        return { calls: [{ tool: 'poke' }], text: `turn ${turn}` }
      })
      const { app } = await openRecordedApp(t, { model })
      const result = await runTaskIn(app)
      assert.deepEqual(
        { stop_reason: result.stop_reason, failure_class: result.failure_class, steps: result.steps },
        { stop_reason: 'context_overflow', failure_class: 'provider', steps },
      )
      assert.equal(model.requests.length, from === 0 ? 1 : from + 2)
    }
  })

  test('case 104, O14: no request exceeds models.max_input; cuts are rare and recorded', async (t) => {
    let calls = 0
    const model = scriptedModel(() =>
      calls++ < 40 ? { calls: [{ tool: 'poke' }], text: `${calls} ${'words '.repeat(100)}` } : { text: 'done' },
    )
    const { app } = await openRecordedApp(t, {
      model,
      yaml: 'models: { max_input: 6000 }\nbudget: { per_dispatch_calls: 60 }',
    })
    const { session_id, dispatch_id, status } = await runTaskIn(app)
    assert.equal(status, 'done')
    const journal = await journalOf(app, session_id)
    const sizes = journal.flatMap((record) =>
      record.kind === 'model_requested' ? [sum(Object.values(record.composition?.sections ?? {}))] : [],
    )
    assert.equal(sizes.length, 41)
    assert.ok(Math.max(...sizes) <= 6000, `${Math.max(...sizes)} tokens`)
    const cuts = journal.filter(({ kind }) => kind === 'cut').length
    assert.ok(cuts >= 2 && cuts <= 14, `${cuts} cuts in 41 requests`)
    assert.match(JSON.stringify(await app.run('replay', { run: dispatch_id })), /"identical":true/)
  })

  test('case 105: a request that cannot be cut to fit ends the run before the model is called', async (t) => {
    const model = scriptedModel([{ text: 'done' }])
    const { app } = await openRecordedApp(t, { model, yaml: 'models: { max_input: 300 }' })
    const result = await runTaskIn(app)
    assert.deepEqual(
      { stop_reason: result.stop_reason, requests: model.requests.length },
      { stop_reason: 'context_overflow', requests: 0 },
    )
    assert.match(result.error ?? '', /tokens; expected at most 300 \(models\.max_input\)/)
  })
})

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0)
