import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { App } from '../../src/app.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { Json } from '../../src/domain/json.ts'
import { applyPatch } from '../../src/domain/json-patch.ts'
import type { Behaviour, StateShape } from '../../src/ports/behaviour.ts'
import {
  eventNames,
  finalAnswer,
  findEvent,
  issueCodes,
  openRecordedApp,
  pokeDecision,
  pushAndReturn,
  runScripted,
  type ScriptedState,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { freshFolder, journalOf } from '../support/open-app.ts'

type Committed = Extract<JournalRecord, { kind: 'step_committed' }>
const commitsOf = async (app: App, session: string): Promise<Committed[]> =>
  (await journalOf(app, session)).filter((record): record is Committed => record.kind === 'step_committed')

interface DeepState {
  step: number
  gone?: string
  plan: { cursor: number; items: { name: string; done: boolean }[] }
}
const DEEP: DeepState = {
  step: 0,
  gone: 'soon',
  plan: { cursor: 0, items: Array.from({ length: 200 }, (_, i) => ({ name: `item ${i}`, done: false })) },
}

function changeState(state: DeepState): void {
  state.step += 1
  delete state.gone
  state.plan.cursor += 1
  const item = state.plan.items[state.plan.cursor]
  if (item) item.done = true
}

class CustomClass {
  hour = 1
}
const throwError = (): never => assert.fail('reducer failed')
function circularObject(): unknown {
  const self: Record<string, unknown> = {}
  self.self = [self]
  return self
}

describe('reduce', () => {
  test('case 39, Q6: a returned and an in-place changed state record the same minimal diff', async (t) => {
    const ways: Behaviour['reduce'][] = [
      (state) => {
        const copy = structuredClone(state) as unknown as DeepState
        changeState(copy)
        return copy as unknown as Json
      },
      (state) => void changeState(state as unknown as DeepState),
    ]
    const recorded: unknown[] = []
    for (const reduce of ways) {
      const behaviour = scriptedBehaviour([pokeDecision, finalAnswer()], {
        initState: () => DEEP as unknown as Json,
        ...(reduce ? { reduce } : {}),
      })
      const { app, events } = await openRecordedApp(t, { behaviours: [behaviour] })
      const { session_id } = await runScripted(app)
      const patches = (await commitsOf(app, session_id)).map(({ patch }) => patch)
      recorded.push(patches)
      assert.deepEqual(patches[0], {
        keys: {
          step: { set: 1 },
          plan: {
            keys: { cursor: { set: 1 }, items: { length: 200, items: { 1: { keys: { done: { set: true } } } } } },
          },
        },
        gone: ['gone'],
      })
      assert.deepEqual(findEvent(events, 'REDUCE', 'state_reduced').payload.state_diff, patches[0])
    }
    assert.deepEqual(recorded[0], recorded[1])
  })

  test('case 39: a large change is complete in the journal and truncated in events', async (t) => {
    const large = 'x'.repeat(1_000_000)
    const behaviour = scriptedBehaviour([pokeDecision, finalAnswer()], { reduce: () => ({ task: large, step: 1 }) })
    const { app, events } = await openRecordedApp(t, { behaviours: [behaviour] })
    const { session_id } = await runScripted(app)
    const event = JSON.stringify(findEvent(events, 'REDUCE', 'state_reduced'))
    assert.ok(event.length < 6000 && event.includes('characters more'), `${event.length} characters`)
    const [first] = await commitsOf(app, session_id)
    assert.deepEqual(applyPatch({ task: 'the task', step: 0 }, first?.patch ?? {}), { task: large, step: 1 })
  })

  test('Q6: a step that changes nothing has no diff', async (t) => {
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()], { reduce: (state) => state })],
    })
    const { session_id } = await runScripted(app)
    assert.deepEqual(
      (await commitsOf(app, session_id)).map((record) => 'patch' in record),
      [false],
    )
    assert.equal(findEvent(events, 'REDUCE', 'state_reduced').payload.state_diff, null)
  })

  const brokenReducers: [string, Partial<Behaviour>, RegExp][] = [
    ['throws', { reduce: () => assert.fail('reducer failed') }, /reducer failed/],
    [
      'violates its schema',
      { reduce: (state) => ({ ...(state as ScriptedState), step: 'one' }), state: shapeOf(1) },
      /step.*does not fit/,
    ],
    ['returns a value that is not JSON', { reduce: () => ({ step: 1n }) as unknown as Json }, /BigInt/],
  ]
  const invalidValues: readonly [string, () => unknown, RegExp][] = [
    ['a Map', () => new Map([['a', 1]]), /an instance of Map/],
    ['a Set', () => new Set([1]), /an instance of Set/],
    ['a Date', () => new Date(0), /an instance of Date/],
    ['an instance of a class', () => new CustomClass(), /an instance of CustomClass/],
    ['undefined', () => undefined, /undefined/],
    ['a function', () => () => 1, /a function/],
    ['a symbol', () => Symbol('x'), /a symbol/],
    ['NaN', () => Number.NaN, /NaN.*a finite number/],
    ['infinity', () => Number.POSITIVE_INFINITY, /Infinity.*a finite number/],
    ['a BigInt', () => 1n, /a BigInt/],
    ['a promise', () => Promise.reject(new Error('later')), /a promise/],
    ['a buffer', () => Buffer.from('x'), /an instance of Buffer/],
    [
      'a getter that throws',
      () => Object.defineProperty({}, 'x', { enumerable: true, get: throwError }),
      /reducer failed/,
    ],
    ['a circular reference', () => circularObject(), /contains itself/],
  ]
  for (const [what, makeValue, message] of invalidValues)
    test(`${what} in the state is refused with its path`, async (t) => {
      const state = (): Json => ({ step: 0, plan: { items: [1, makeValue()] } }) as unknown as Json
      const inReduce = await openRecordedApp(t, { behaviours: [scriptedBehaviour([pokeDecision], { reduce: state })] })
      const { error } = await runScripted(inReduce.app)
      assert.match(error ?? '', /^state_invalid: at \.plan\.items\[1\].*behaviour scripted returned from reduce\(\)/)
      assert.match(error ?? '', message)
      const inInitState = await openRecordedApp(t, {
        behaviours: [scriptedBehaviour([pokeDecision], { initState: state })],
      })
      const { issues } = await runScripted(inInitState.app)
      assert.deepEqual(
        issues.map(({ code }) => code),
        ['TASK_STATE_INVALID'],
      )
      assert.match(issues[0]?.message ?? '', /at \.plan\.items\[1\].*behaviour scripted returned from initState\(\)/)
      assert.match(issues[0]?.message ?? '', message)
    })

  test('values that a schema puts into the state are checked as well', async (t) => {
    const schema = z.object({ step: z.number().transform((step) => new Map([['step', step]])) })
    const state = { version: 1, schema: schema as unknown as z.ZodType<Json> }
    const { app } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([pokeDecision], { state })] })
    const { issues } = await runScripted(app)
    assert.match(issues[0]?.message ?? '', /at \.step: .*after its schema.*an instance of Map/)
  })

  for (const [what, more, message] of brokenReducers)
    test(`case 40, Q6: a reducer that ${what} is a state_error; the state stays unchanged`, async (t) => {
      const observedStates: Json[] = []
      const behaviour = scriptedBehaviour([pokeDecision], {
        observe: (state) => pushAndReturn(observedStates, state),
        ...more,
      })
      const { app, events } = await openRecordedApp(t, { behaviours: [behaviour] })
      const result = await runScripted(app)
      assert.deepEqual(
        { stop_reason: result.stop_reason, steps: result.steps },
        { stop_reason: 'unrecoverable_error', steps: 3 },
      )
      assert.match(result.error ?? '', message)
      const end = (await journalOf(app, result.session_id)).at(-1)
      assert.deepEqual(end?.kind === 'run_ended' && end.failure_report, {
        ...{ phase: 'REDUCE', code: 'state_invalid', category: 'state_error' },
        ...{ in_a_row: 3, in_all: 3 },
      })
      const failing = eventNames(events).slice(eventNames(events).indexOf('REDUCE start'))
      assert.deepEqual(failing.slice(0, 5), [
        'REDUCE start',
        ...['REDUCE error', 'RECOVER feedback', 'CHECK_STOP start', 'CHECK_STOP continue'],
      ])
      assert.deepEqual(
        new Set(observedStates.map((state) => JSON.stringify(state))),
        new Set(['{"task":"the task","step":0}']),
      )
    })

  test('Q6: an initial state that violates its schema is a preflight issue', async (t) => {
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()], { initState: () => ({ step: 'none' }), state: shapeOf(1) })],
    })
    const result = await runScripted(app)
    assert.deepEqual(
      { stop_reason: result.stop_reason, issueCodes: issueCodes(result) },
      { stop_reason: 'task_validation_failed', issueCodes: ['TASK_STATE_INVALID'] },
    )
  })
})

describe('state versions', () => {
  const wait = { kind: 'wait', match: 'user_message', reason: 'a message' } as const

  /** Parks a run under state version 1 and resumes it under `after`. */
  async function resumeAfterUpgrade(t: Parameters<typeof freshFolder>[0], after: StateShape, observedStates: Json[]) {
    const home = freshFolder(t)
    const before = await openRecordedApp(t, {
      home,
      behaviours: [scriptedBehaviour([wait, finalAnswer()], { state: shapeOf(1) })],
    })
    const { session_id, dispatch_id } = await runScripted(before.app)
    await before.app.close()
    const behaviour = scriptedBehaviour([wait, finalAnswer()], {
      state: after,
      observe: (state) => pushAndReturn(observedStates, state),
    })
    const { app, events } = await openRecordedApp(t, { home, behaviours: [behaviour] })
    await app.run('send', { session: session_id, text: 'go on' })
    await app.run('start', { until_idle: true })
    const journal = await journalOf(app, session_id)
    const { status, error } = await app.run('queue show', { id: dispatch_id })
    await app.close()
    return { journal, events, status, error }
  }

  test('Q6: the state of a parked run is migrated once, and recorded, before it is used', async (t) => {
    const observedStates: Json[] = []
    const from: number[] = []
    const migrate: StateShape['migrate'] = (state, version) => {
      from.push(version)
      return { ...(state as ScriptedState), mood: 'calm' }
    }
    const { journal, status } = await resumeAfterUpgrade(
      t,
      { ...shapeOf(3, { mood: z.string() }), migrate },
      observedStates,
    )
    assert.deepEqual(
      { status, from, observedStates },
      { status: 'done', from: [1], observedStates: [{ task: 'the task', step: 1, mood: 'calm' }] },
    )
    const migrated = journal.filter(({ kind }) => kind === 'migrated')
    assert.deepEqual(
      migrated.map((record) => record.kind === 'migrated' && [record.version, record.patch]),
      [[3, { keys: { mood: { set: 'calm' } } }]],
    )
  })

  for (const [what, after, message] of [
    ['has no migration', shapeOf(2), /cannot migrate its state from version 1 to 2: it has no state\.migrate/],
    ['gets an invalid state from its migration', { ...shapeOf(2), migrate: () => ({ lost: true }) }, /does not fit/],
  ] as const)
    test(`Q6: a run whose new state version ${what} fails with TASK_STATE_INVALID`, async (t) => {
      const observedStates: Json[] = []
      const { status, error, events } = await resumeAfterUpgrade(t, after, observedStates)
      assert.deepEqual({ status, observedStates }, { status: 'failed', observedStates: [] })
      assert.match(error ?? '', /TASK_STATE_INVALID/)
      assert.match(error ?? '', message)
      assert.deepEqual(eventNames(events), ['END end'])
    })
})

function shapeOf(version: number, more: Record<string, z.ZodType<Json>> = {}): StateShape {
  return { version, schema: z.strictObject({ task: z.string(), step: z.number(), ...more }) as z.ZodType<Json> }
}
