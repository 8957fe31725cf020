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

interface Deep {
  step: number
  gone?: string
  plan: { cursor: number; items: { name: string; done: boolean }[] }
}
const DEEP: Deep = {
  step: 0,
  gone: 'soon',
  plan: { cursor: 0, items: Array.from({ length: 200 }, (_, i) => ({ name: `item ${i}`, done: false })) },
}

function changed(state: Deep): void {
  state.step += 1
  delete state.gone
  state.plan.cursor += 1
  const item = state.plan.items[state.plan.cursor]
  if (item) item.done = true
}

class Watch {
  hour = 1
}
const boom = (): never => assert.fail('it broke')
function circle(): unknown {
  const self: Record<string, unknown> = {}
  self.self = [self]
  return self
}

describe('reduce', () => {
  test('case 39, Q6: returned anew or changed in place, the recorded diff is the same, deep, and no larger than the change', async (t) => {
    const ways: Behaviour['reduce'][] = [
      (state) => {
        const made = structuredClone(state) as unknown as Deep
        changed(made)
        return made as unknown as Json
      },
      (state) => void changed(state as unknown as Deep),
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

  test('case 39: a large change is whole in the journal, and bounded where it is told', async (t) => {
    const large = 'x'.repeat(1_000_000)
    const behaviour = scriptedBehaviour([pokeDecision, finalAnswer()], { reduce: () => ({ task: large, step: 1 }) })
    const { app, events } = await openRecordedApp(t, { behaviours: [behaviour] })
    const { session_id } = await runScripted(app)
    const told = JSON.stringify(findEvent(events, 'REDUCE', 'state_reduced'))
    assert.ok(told.length < 6000 && told.includes('characters more'), `${told.length} characters`)
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

  const breaking: [string, Partial<Behaviour>, RegExp][] = [
    ['throws', { reduce: () => assert.fail('it broke') }, /it broke/],
    [
      'leaves its schema',
      { reduce: (state) => ({ ...(state as ScriptedState), step: 'one' }), state: shapeOf(1) },
      /step.*does not fit/,
    ],
    ['returns what is not data', { reduce: () => ({ step: 1n }) as unknown as Json }, /BigInt/],
  ]
  const odd: readonly [string, () => unknown, RegExp][] = [
    ['a Map', () => new Map([['a', 1]]), /an instance of Map/],
    ['a Set', () => new Set([1]), /an instance of Set/],
    ['a Date', () => new Date(0), /an instance of Date/],
    ['an instance of a class', () => new Watch(), /an instance of Watch/],
    ['undefined', () => undefined, /undefined/],
    ['a function', () => () => 1, /a function/],
    ['a symbol', () => Symbol('x'), /a symbol/],
    ['NaN', () => Number.NaN, /NaN.*a finite number/],
    ['infinity', () => Number.POSITIVE_INFINITY, /Infinity.*a finite number/],
    ['a BigInt', () => 1n, /a BigInt/],
    ['a promise', () => Promise.reject(new Error('later')), /a promise/],
    ['a buffer', () => Buffer.from('x'), /an instance of Buffer/],
    ['a getter that throws', () => Object.defineProperty({}, 'x', { enumerable: true, get: boom }), /it broke/],
    ['itself', () => circle(), /contains itself/],
  ]
  for (const [what, made, message] of odd)
    test(`B5: ${what} in the state is refused with its path; nothing vanishes or changes silently`, async (t) => {
      const state = (): Json => ({ step: 0, plan: { items: [1, made()] } }) as unknown as Json
      const reducing = await openRecordedApp(t, { behaviours: [scriptedBehaviour([pokeDecision], { reduce: state })] })
      const { error } = await runScripted(reducing.app)
      assert.match(error ?? '', /^state_invalid: at \.plan\.items\[1\].*behaviour scripted returned from reduce\(\)/)
      assert.match(error ?? '', message)
      const beginning = await openRecordedApp(t, {
        behaviours: [scriptedBehaviour([pokeDecision], { initState: state })],
      })
      const { issues } = await runScripted(beginning.app)
      assert.deepEqual(
        issues.map(({ code }) => code),
        ['TASK_STATE_INVALID'],
      )
      assert.match(issues[0]?.message ?? '', /at \.plan\.items\[1\].*behaviour scripted returned from initState\(\)/)
      assert.match(issues[0]?.message ?? '', message)
    })

  test('B5: what a schema puts into the state is held to the same', async (t) => {
    const schema = z.object({ step: z.number().transform((step) => new Map([['step', step]])) })
    const state = { version: 1, schema: schema as unknown as z.ZodType<Json> }
    const { app } = await openRecordedApp(t, { behaviours: [scriptedBehaviour([pokeDecision], { state })] })
    const { issues } = await runScripted(app)
    assert.match(issues[0]?.message ?? '', /at \.step: .*after its schema.*an instance of Map/)
  })

  for (const [what, more, message] of breaking)
    test(`case 40, Q6: a reducer that ${what} is a state_error of REDUCE; the policy is asked, and the state stays`, async (t) => {
      const seen: Json[] = []
      const behaviour = scriptedBehaviour([pokeDecision], { observe: (state) => pushAndReturn(seen, state), ...more })
      const { app, events } = await openRecordedApp(t, { behaviours: [behaviour] })
      const result = await runScripted(app)
      assert.deepEqual([result.stop_reason, result.steps], ['unrecoverable_error', 3])
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
      assert.deepEqual(new Set(seen.map((state) => JSON.stringify(state))), new Set(['{"task":"the task","step":0}']))
    })

  test('Q6: a state that does not fit from the start keeps the run from beginning', async (t) => {
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()], { initState: () => ({ step: 'none' }), state: shapeOf(1) })],
    })
    const result = await runScripted(app)
    assert.deepEqual([result.stop_reason, issueCodes(result)], ['task_validation_failed', ['TASK_STATE_INVALID']])
  })
})

describe('versions of a state', () => {
  const wait = { kind: 'wait', match: 'user_message', reason: 'a word' } as const

  /** A run that was parked by one version of the program, and goes on under another. */
  async function overUpgrade(t: Parameters<typeof freshFolder>[0], after: StateShape, seen: Json[]) {
    const home = freshFolder(t)
    const before = await openRecordedApp(t, {
      home,
      behaviours: [scriptedBehaviour([wait, finalAnswer()], { state: shapeOf(1) })],
    })
    const { session_id, dispatch_id } = await runScripted(before.app)
    await before.app.close()
    const behaviour = scriptedBehaviour([wait, finalAnswer()], {
      state: after,
      observe: (state) => pushAndReturn(seen, state),
    })
    const { app, events } = await openRecordedApp(t, { home, behaviours: [behaviour] })
    await app.run('send', { session: session_id, text: 'go on' })
    await app.run('start', { until_idle: true })
    const journal = await journalOf(app, session_id)
    const { status, error } = (await app.run('queue show', { id: dispatch_id })) as { status: string; error: string }
    await app.close()
    return { journal, events, status, error }
  }

  test('Q6: a parked run wakes under a newer program: its state is migrated once, in the journal, before anything looks at it', async (t) => {
    const seen: Json[] = []
    const from: number[] = []
    const migrate: StateShape['migrate'] = (state, version) => {
      from.push(version)
      return { ...(state as ScriptedState), mood: 'calm' }
    }
    const { journal, status } = await overUpgrade(t, { ...shapeOf(3, { mood: z.string() }), migrate }, seen)
    assert.deepEqual([status, from, seen], ['done', [1], [{ task: 'the task', step: 1, mood: 'calm' }]])
    const migrated = journal.filter(({ kind }) => kind === 'migrated')
    assert.deepEqual(
      migrated.map((record) => record.kind === 'migrated' && [record.version, record.patch]),
      [[3, { keys: { mood: { set: 'calm' } } }]],
    )
  })

  for (const [what, after, message] of [
    ['there is no way to', shapeOf(2), /no migration from state version 1 to 2/],
    ['the way leads nowhere', { ...shapeOf(2), migrate: () => ({ lost: true }) }, /does not fit/],
  ] as const)
    test(`Q6: a state whose new version ${what} ends its run, and says so`, async (t) => {
      const seen: Json[] = []
      const { status, error, events } = await overUpgrade(t, after, seen)
      assert.deepEqual([status, seen], ['failed', []])
      assert.match(error, /TASK_STATE_INVALID/)
      assert.match(error, message)
      assert.deepEqual(eventNames(events), ['END end'])
    })
})

function shapeOf(version: number, more: Record<string, z.ZodType<Json>> = {}): StateShape {
  return { version, schema: z.strictObject({ task: z.string(), step: z.number(), ...more }) as z.ZodType<Json> }
}
