import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import { type Event, eventsFromRecords } from '../../src/domain/event.ts'
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
const ASKED = ['DECIDE start', 'DECIDE model_input', 'DECIDE model_output', 'DECIDE decision_ready']
const DECIDED = ['DECIDE start', 'DECIDE decision_ready']
const ACTED = ['ACT start', 'ACT action_results']
const SKIPPED = ['ACT start', 'ACT skipped']
const REDUCED = ['REDUCE start', 'REDUCE state_reduced']
const JUDGED = ['CRITIC start', 'CRITIC outputs_ready']
const GOES_ON = ['CHECK_STOP start', 'CHECK_STOP continue']
const STOPS = ['CHECK_STOP start', 'CHECK_STOP stop']

describe('the life of a run', () => {
  test('case 1, Q1: a rule agent acts, then ends: every phase twice between INIT and END, and no CRITIC without a critic', async (t) => {
    const model = scriptedModel([])
    const { app, events } = await openRecordedApp(t, {
      model,
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
    })
    const result = await runScripted(app)
    assert.deepEqual([result.status, result.stop_reason, result.answer, result.steps], ['done', 'final', 'all done', 2])
    const loop = ['OBSERVE', 'DECIDE', 'ACT', 'REDUCE', 'CHECK_STOP']
    assert.deepEqual(
      events.map(({ phase }) => phase).filter((phase, i, all) => phase !== all[i - 1]),
      ['INIT', ...loop, ...loop, 'END'],
    )
    assert.equal(model.requests.length, 0)
  })

  test('case 2, Q2: the stages of each phase, in the order of the seed, of a rule, of a model, and with a critic', async (t) => {
    const ruling = await openRecordedApp(t, { behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])] })
    await runScripted(ruling.app)
    assert.deepEqual(eventNames(ruling.events), [
      'INIT start',
      ...[...OBSERVED, ...DECIDED, ...ACTED, ...REDUCED, ...GOES_ON],
      ...[...OBSERVED, ...DECIDED, ...SKIPPED, ...REDUCED, ...STOPS],
      'END end',
    ])
    const judging = await openRecordedApp(t, {
      model: scriptedModel([{ calls: [{ tool: 'poke' }] }, { text: 'all done' }]),
      critics: [{ name: 'mild', judge: () => ({ kind: 'continue' }) }],
    })
    await runTaskIn(judging.app)
    assert.deepEqual(eventNames(judging.events), [
      'INIT start',
      ...[...OBSERVED, ...ASKED, ...ACTED, ...REDUCED, ...JUDGED, ...GOES_ON],
      ...[...OBSERVED, ...ASKED, ...SKIPPED, ...REDUCED, ...JUDGED, ...STOPS],
      'END end',
    ])
    assert.equal(findEvent(judging.events, 'END', 'end').payload.stop_reason, 'final')
  })

  test('case 3, Q2: every event says whose it is, when, and whether it is well; seq has no gaps, also over a restart', async (t) => {
    const home = freshFolder(t)
    const wait = { kind: 'wait', match: 'user_message', reason: 'a word' } as const
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
      assert.deepEqual([event.run_id, event.session_id, event.ok], [dispatch_id, session_id, true])
      assert.ok(Number.isInteger(event.ts) && event.ts > 0)
    }
    const journal = await journalOf(after.app, session_id)
    assert.deepEqual(
      events,
      eventsFromRecords({ run_id: dispatch_id, session_id }, journal),
      'told as the journal has it',
    )
    await after.app.close()
  })

  test('case 8: the task is in the state before the first OBSERVE; memory and failures begin anew with every run, once', async (t) => {
    const seen: { state: unknown; view: EnvView }[] = []
    const memory: string[] = []
    let asked = 0
    const failing = scriptedBehaviour([pokeDecision, finalAnswer()], {
      memory: 'noting',
      observe(state, view) {
        seen.push({ state, view })
        return (state as ScriptedState).task
      },
      decide(state) {
        if (asked++ % 3 < 2) throw new Error('not yet')
        return (state as ScriptedState).step === 0 ? pokeDecision : finalAnswer()
      },
    })
    const { app } = await openRecordedApp(t, {
      behaviours: [failing],
      memories: [noting(memory)],
      yaml: 'budget: { per_dispatch_calls: 7 }',
    })
    for (const task of ['the first', 'the second', 'the third']) {
      const { status, session_id } = await runScripted(app, { task })
      const failures = (await journalOf(app, session_id)).filter(({ kind }) => kind === 'failed')
      assert.deepEqual([status, failures.length], ['done', 4], 'never three in a row, never ten in one run')
    }
    assert.deepEqual(seen[0]?.state, { task: 'the first', step: 0 })
    assert.deepEqual(seen[6]?.state, { task: 'the second', step: 0 })
    assert.deepEqual(seen[0]?.view.budget, { steps: 7, ms: 30 * 60_000, tokens: null, usd: null })
    assert.deepEqual(seen[3]?.view.budget.steps, 4)
    assert.ok(seen[0]?.view.env.ops.includes('file'))
    assert.deepEqual(memory, Array(3).fill(['open', 'reset', 'append', 'append']).flat())
  })

  test('case 9: a second run is told exactly as the first: state, events, budgets', async (t) => {
    const same = pokeTool(() => {}, { run: async () => ({ status: 'ok', content: 'the same' }) })
    const { app, events } = await openRecordedApp(t, {
      tools: [same],
      behaviours: [scriptedBehaviour([pokeDecision, pokeDecision, finalAnswer()])],
    })
    const runs = [await runScripted(app), await runScripted(app)]
    const told = runs.map(({ dispatch_id }) => events.filter(({ run_id }) => run_id === dispatch_id).map(shapeOf))
    assert.deepEqual(told[0], told[1])
    for (const { status, steps } of runs) assert.deepEqual([status, steps], ['done', 3])
  })

  test("case 9: a session's second run has its own steps, retries and repetitions; only its past is shared", async (t) => {
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
    assert.doesNotMatch(JSON.stringify(repeating.events), /warning|blocked/, 'four pokes, never three in one run')
    assert.equal(model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool').length, 4)

    let asked = 0
    const moody = scriptedModel(() => {
      if (asked++ === 2) throw new TirelessError('model_refused', 'not like this')
      return { text: 'done' }
    })
    const never = { name: 'never', judge: () => ({ kind: 'retry', instruction: 'no' }) as const }
    const told = await openRecordedApp(t, { model: moody, critics: [never] })
    const first = await runTaskIn(told.app)
    await told.app.run('send', { session: first.session_id, text: 'and again' })
    await told.app.run('start', { until_idle: true })
    assert.deepEqual(
      told.events.filter(({ phase }) => phase === 'END').map(({ payload, step_id }) => [payload.stop_reason, step_id]),
      [
        ['unrecoverable_error', 3],
        ['critic_stop', 4],
      ],
      'with the two retries of the first run, the second would have had one too many in its second step',
    )
  })

  test('case 10: two runs at once in one app stay apart, event by event', async (t) => {
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
    assert.ok(switches > 2, 'they were under way together')
    for (const told of runs.values()) {
      assert.deepEqual(
        told.map(({ seq }) => seq),
        told.map((_, i) => i + 1),
      )
      const task = findEvent(told, 'INIT', 'start').payload.task as string
      const other = prompts.find((prompt) => prompt !== task) ?? ''
      assert.ok(prompts.includes(task) && !JSON.stringify(told).includes(other))
    }
  })
})

const noting = (log: string[]): MemoryKind => ({
  name: 'noting',
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
