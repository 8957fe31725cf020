import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { Event } from '../../src/domain/event.ts'
import { eventsFromRecords } from '../../src/domain/event-fold.ts'
import type { EnvView } from '../../src/ports/behaviour.ts'
import type { MemoryKind } from '../../src/ports/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  eventNames,
  finalAnswer,
  findEvent,
  openRecordedApp,
  pokeDecision,
  pokeTool,
  runScripted,
  type ScriptedState,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { freshFolder, journalOf, runTaskIn } from '../support/open-app.ts'

const OBSERVED = ['OBSERVE start', 'OBSERVE observation_ready']
const MODEL_DECIDED = ['DECIDE start', 'DECIDE model_input', 'DECIDE model_output', 'DECIDE decision_ready']
const DECIDED = ['DECIDE start', 'DECIDE decision_ready']
const ACTED = ['ACT start', 'ACT action_results']
const SKIPPED = ['ACT start', 'ACT skipped']
const REDUCED = ['REDUCE start', 'REDUCE state_reduced']
const JUDGED = ['CRITIC start', 'CRITIC outputs_ready']
const CONTINUES = ['CHECK_STOP start', 'CHECK_STOP continue']
const STOPS = ['CHECK_STOP start', 'CHECK_STOP stop']

describe('the lifecycle of a run', () => {
  test('case 1, Q1: two steps have each phase twice between INIT and END, and no CRITIC', async (t) => {
    const model = scriptedModel([])
    const { app, events } = await openRecordedApp(t, {
      model,
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
    })
    const result = await runScripted(app)
    assert.deepEqual(
      { status: result.status, stop_reason: result.stop_reason, answer: result.answer, steps: result.steps },
      { status: 'done', stop_reason: 'final', answer: 'all done', steps: 2 },
    )
    const loop = ['OBSERVE', 'DECIDE', 'ACT', 'REDUCE', 'CHECK_STOP']
    assert.deepEqual(
      events.map(({ phase }) => phase).filter((phase, i, all) => phase !== all[i - 1]),
      ['INIT', ...loop, ...loop, 'END'],
    )
    assert.equal(model.requests.length, 0)
  })

  test('case 2, Q2: the stages of each phase come in order, with and without model and critic', async (t) => {
    const withoutModel = await openRecordedApp(t, { behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])] })
    await runScripted(withoutModel.app)
    assert.deepEqual(eventNames(withoutModel.events), [
      'INIT start',
      ...[...OBSERVED, ...DECIDED, ...ACTED, ...REDUCED, ...CONTINUES],
      ...[...OBSERVED, ...DECIDED, ...SKIPPED, ...REDUCED, ...STOPS],
      'END end',
    ])
    const withCritic = await openRecordedApp(t, {
      model: scriptedModel([{ calls: [{ tool: 'poke' }] }, { text: 'all done' }]),
      critics: [{ name: 'mild', judge: () => ({ kind: 'continue' }) }],
    })
    await runTaskIn(withCritic.app)
    assert.deepEqual(eventNames(withCritic.events), [
      'INIT start',
      ...[...OBSERVED, ...MODEL_DECIDED, ...ACTED, ...REDUCED, ...JUDGED, ...CONTINUES],
      ...[...OBSERVED, ...MODEL_DECIDED, ...SKIPPED, ...REDUCED, ...JUDGED, ...STOPS],
      'END end',
    ])
    assert.equal(findEvent(withCritic.events, 'END', 'end').payload.stop_reason, 'final')
  })

  test('case 3, Q2: events carry run, session, time and ok; seq has no gaps across a restart', async (t) => {
    const home = freshFolder(t)
    const wait = { kind: 'wait', match: 'user_message', reason: 'a message' } as const
    const behaviours = [scriptedBehaviour([pokeDecision, wait, finalAnswer()])]
    const before = await openRecordedApp(t, { home, behaviours })
    const { dispatch_id, session_id, status } = await runScripted(before.app)
    assert.equal(status, 'waiting')
    await before.app.close()
    const after = await openRecordedApp(t, { home, behaviours })
    await after.app.run('send', { session: session_id, text: 'go on' })
    await after.app.run('start', { until_idle: true })
    const events = [...before.events, ...after.events]
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, i) => i + 1),
    )
    assert.deepEqual([...new Set(events.map(({ step_id }) => step_id))], [0, 1, 2, 3])
    for (const event of events) {
      assert.deepEqual(
        { run_id: event.run_id, session_id: event.session_id, ok: event.ok },
        { run_id: dispatch_id, session_id, ok: true },
      )
      assert.ok(Number.isInteger(event.ts) && event.ts > 0)
    }
    const journal = await journalOf(after.app, session_id)
    assert.deepEqual(
      events,
      eventsFromRecords({ run_id: dispatch_id, session_id }, journal),
      'the events match the journal',
    )
    await after.app.close()
  })

  test('case 8: each run starts with its task in the state, a new memory and no failures', async (t) => {
    const observed: { state: unknown; view: EnvView }[] = []
    const memoryCalls: string[] = []
    let decideCalls = 0
    const failing = scriptedBehaviour([pokeDecision, finalAnswer()], {
      memory: 'recording',
      observe(state, view) {
        observed.push({ state, view })
        return (state as ScriptedState).task
      },
      decide(state) {
        if (decideCalls++ % 3 < 2) throw new Error('not yet')
        return (state as ScriptedState).step === 0 ? pokeDecision : finalAnswer()
      },
    })
    const { app } = await openRecordedApp(t, {
      behaviours: [failing],
      memories: [recordingMemory(memoryCalls)],
      yaml: 'budget: { per_dispatch_calls: 7 }',
    })
    for (const task of ['the first', 'the second', 'the third']) {
      const { status, session_id } = await runScripted(app, { task })
      const failures = (await journalOf(app, session_id)).filter(({ kind }) => kind === 'failed')
      assert.deepEqual(
        { status, failures: failures.length },
        { status: 'done', failures: 4 },
        'fewer failures than three in a row or ten in one run',
      )
    }
    assert.deepEqual(observed[0]?.state, { task: 'the first', step: 0 })
    assert.deepEqual(observed[6]?.state, { task: 'the second', step: 0 })
    assert.deepEqual(observed[0]?.view.budget, { steps: 7, ms: 30 * 60_000, tokens: null, usd: null })
    assert.deepEqual(observed[3]?.view.budget.steps, 4)
    assert.ok(observed[0]?.view.env.ops.includes('file'))
    assert.deepEqual(memoryCalls, Array(3).fill(['open', 'reset', 'append', 'append']).flat())
  })

  test('case 9: a second run has exactly the same events as the first', async (t) => {
    const same = pokeTool(() => {}, { run: async () => ({ status: 'ok', content: 'the same' }) })
    const { app, events } = await openRecordedApp(t, {
      tools: [same],
      behaviours: [scriptedBehaviour([pokeDecision, pokeDecision, finalAnswer()])],
    })
    const runs = [await runScripted(app), await runScripted(app)]
    const shapes = runs.map(({ dispatch_id }) => events.filter(({ run_id }) => run_id === dispatch_id).map(shapeOf))
    assert.deepEqual(shapes[0], shapes[1])
    for (const { status, steps } of runs) assert.deepEqual({ status, steps }, { status: 'done', steps: 3 })
  })

  test("case 9: a session's second run has its own counts of steps, retries and repetitions", async (t) => {
    const model = scriptedModel((_, turn) => (turn % 3 < 2 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const same = pokeTool(() => {}, { run: async () => ({ status: 'ok', content: 'the same' }) })
    const repeating = await openRecordedApp(t, { model, tools: [same], yaml: 'budget: { per_dispatch_calls: 3 }' })
    const { session_id } = await runTaskIn(repeating.app)
    await repeating.app.run('send', { session: session_id, text: 'and again' })
    await repeating.app.run('start', { until_idle: true })
    const ends = repeating.events.filter(({ phase }) => phase === 'END')
    assert.deepEqual(
      ends.map(({ payload, step_id }) => [payload.stop_reason, step_id]),
      Array(2).fill(['final', 3]),
    )
    assert.doesNotMatch(JSON.stringify(repeating.events), /warning|blocked/, 'four pokes, but never three in one run')
    assert.equal(model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool').length, 4)

    let modelCalls = 0
    const refusingOnce = scriptedModel(() => {
      if (modelCalls++ === 2) throw new TirelessError('model_refused', 'not like this')
      return { text: 'done' }
    })
    const unsatisfied = { name: 'unsatisfied', judge: () => ({ kind: 'retry', instruction: 'no' }) as const }
    const retried = await openRecordedApp(t, { model: refusingOnce, critics: [unsatisfied] })
    const first = await runTaskIn(retried.app)
    await retried.app.run('send', { session: first.session_id, text: 'and again' })
    await retried.app.run('start', { until_idle: true })
    assert.deepEqual(
      retried.events
        .filter(({ phase }) => phase === 'END')
        .map(({ payload, step_id }) => ({ stop_reason: payload.stop_reason, step_id })),
      [
        { stop_reason: 'unrecoverable_error', step_id: 3 },
        { stop_reason: 'critic_stop', step_id: 4 },
      ],
      'retries of the first run do not count in the second',
    )
  })

  test('case 10: the events of two concurrent runs do not mix', async (t) => {
    const gate = Promise.withResolvers<void>()
    const both = pokeTool(async () => {
      if (both.runs === 2) gate.resolve()
      await gate.promise
    })
    const { app, events } = await openRecordedApp(t, {
      tools: [both],
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
      yaml: 'kernel: { max_concurrent: 2 }',
    })
    const prompts = ['left', 'right']
    for (const prompt of prompts) await app.run('enqueue', { prompt, behaviour: 'scripted' })
    await app.run('start', { until_idle: true })
    const runs = Map.groupBy(events, ({ run_id }) => run_id)
    assert.equal(runs.size, 2)
    const switches = events.filter(({ run_id }, i) => run_id !== events[i - 1]?.run_id).length
    assert.ok(switches > 2, 'the runs overlapped')
    for (const runEvents of runs.values()) {
      assert.deepEqual(
        runEvents.map(({ seq }) => seq),
        runEvents.map((_, i) => i + 1),
      )
      const task = findEvent(runEvents, 'INIT', 'start').payload.task as string
      const other = prompts.find((prompt) => prompt !== task) ?? ''
      assert.ok(prompts.includes(task) && !JSON.stringify(runEvents).includes(other))
    }
  })
})

const recordingMemory = (log: string[]): MemoryKind => ({
  name: 'recording',
  open() {
    log.push('open')
    return {
      reset: () => void log.push('reset'),
      append: () => void log.push('append'),
      retrieve: () => ({ from: 0, summary: '', recalled: [] }),
      summarise: () => '',
      evict: () => 0,
    }
  },
})

const shapeOf = ({ seq, step_id, phase, stage, ok, payload }: Event): unknown => ({
  seq,
  step_id,
  phase,
  stage,
  ok,
  payload,
})
