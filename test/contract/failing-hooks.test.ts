/** Hooks that throw or hang: the run is unaffected, and its replay is the same. */

import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Hook } from '../../src/ports/hook.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { replayRun } from '../support/approval-fixtures.ts'
import {
  eventNames,
  finalAnswer,
  openRecordedApp,
  pokeDecision,
  pokeTool,
  recordingHook,
  runScripted,
  scriptedBehaviour,
} from '../support/event-recorder.ts'
import { PURE, recordsOf } from '../support/fake-tools.ts'
import { advanceUntilDone, dispatchOf, freshFolder, readLogs, waitUntil } from '../support/open-app.ts'

describe('hooks that fail or hang', () => {
  test('case 5, case 6: a hook that throws or rejects is called once and causes one diagnostic', async (t) => {
    for (const [name, fail] of [
      ['an Error', () => void assert.fail('hook failed')],
      ['a TypeError', () => void (undefined as unknown as string).length],
      ['a rejection', () => Promise.reject(new Error('hook failed'))],
    ] as const) {
      let calls = 0
      const broken: Hook = {
        name: 'broken',
        on_before_act() {
          calls += 1
          return fail()
        },
      }
      const { app, events } = await openRecordedApp(t, {
        behaviours: [scriptedBehaviour([finalAnswer()])],
        hooks: [broken],
      })
      assert.equal((await runScripted(app)).status, 'done', name)
      const diagnostics = events.filter(({ stage }) => stage === 'diagnostic')
      assert.deepEqual(
        { calls, diagnostics: diagnostics.length, ok: diagnostics[0]?.ok },
        { calls: 1, diagnostics: 1, ok: false },
        name,
      )
      assert.equal(diagnostics[0]?.payload.about, 'hook broken: on_before_act')
      assert.deepEqual(eventNames(events).slice(-1), ['END end'])
    }
  })

  test('case 5: a hook that throws in each call does not change the outcome of the run', async (t) => {
    const recording = recordingHook()
    const moments = Object.keys(recording).filter((key) => key.startsWith('on_'))
    const throwError = () => {
      throw new Error('hook failed')
    }
    const broken: Hook = {
      name: 'broken',
      ...Object.fromEntries(moments.map((moment) => [moment, throwError])),
      on_event: throwError,
    }
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
      hooks: [broken, recording],
    })
    const { status, stop_reason } = await runScripted(app)
    assert.deepEqual({ status, stop_reason }, { status: 'done', stop_reason: 'final' })
    // The failure in on_run_end comes after the last event; it is only in the log.
    assert.equal(events.filter(({ stage }) => stage === 'diagnostic').length, recording.moments.length - 1)
  })

  test('case 7: the run waits one second for a hook that never returns, only once', async (t) => {
    const clock = new FakeClock()
    let calls = 0
    const hanging: Hook = {
      name: 'hanging',
      on_before_observe() {
        calls += 1
        return new Promise(() => {})
      },
    }
    const { app, events } = await openRecordedApp(t, {
      clock,
      behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])],
      hooks: [hanging],
    })
    const { status } = await advanceUntilDone(clock, runScripted(app))
    const diagnostics = events.filter(({ stage }) => stage === 'diagnostic')
    assert.deepEqual(
      { status, calls, diagnostics: diagnostics.length },
      { status: 'done', calls: 2, diagnostics: 1 },
      'it is called again without waiting',
    )
    assert.match(String(diagnostics[0]?.payload.message), /longer than 1000 ms/)
  })

  test('case 7: a run with a hanging hook can be cancelled', async (t) => {
    const clock = new FakeClock()
    const hook: Hook = { name: 'hanging', on_after_decide: () => new Promise(() => {}) }
    const tool = pokeTool(() => {})
    const { app, events } = await openRecordedApp(t, {
      clock,
      tools: [tool],
      behaviours: [scriptedBehaviour([pokeDecision])],
      hooks: [hook],
    })
    const running = runScripted(app)
    await waitUntil(() => clock.sleeping > 2)
    const [dispatch] = (await app.run('queue list', {})).items
    const cancelled = app.run('queue cancel', { id: dispatch?.dispatch_id ?? '' })
    const { status, stop_reason } = await advanceUntilDone(clock, running)
    await cancelled
    assert.deepEqual(
      { status, stop_reason, runs: tool.runs },
      { status: 'cancelled', stop_reason: 'cancelled', runs: 0 },
    )
    assert.deepEqual(eventNames(events).at(-1), 'END end')
  })

  test('Q17: a hook that throws a value without a message gets a readable diagnostic, also in replay', async (t) => {
    for (const thrown of [[], '', null, new Error(''), Object.assign(new Error(''), { name: '' })]) {
      const broken: Hook = {
        name: 'broken',
        on_before_act() {
          throw thrown
        },
      }
      const { app, events } = await openRecordedApp(t, {
        behaviours: [scriptedBehaviour([finalAnswer()])],
        hooks: [broken],
      })
      const { dispatch_id } = await runScripted(app)
      assert.match(String(events.find(({ stage }) => stage === 'diagnostic')?.payload.message), /./)
      assert.equal((await replayRun(app, dispatch_id)).identical, true)
    }
  })

  test('Q17: a hook that fails again after a crash is diagnosed again, also in replay', async (t) => {
    const [home, crashedHome] = [freshFolder(t), freshFolder(t)]
    for (const moment of ['on_before_decide', 'on_after_decide', 'on_before_act'] as const) {
      rmSync(crashedHome, { recursive: true })
      const broken: Hook = { name: 'broken', [moment]: () => assert.fail('again') }
      // A copy taken while the tool runs is the state that a killed process leaves.
      const crashing = pokeTool(() => cpSync(home, crashedHome, { recursive: true }), { effect: () => PURE })
      const parts = { behaviours: [scriptedBehaviour([pokeDecision, finalAnswer()])], hooks: [broken] }
      const { app } = await openRecordedApp(t, { home, tools: [crashing], ...parts })
      const { dispatch_id, session_id } = await runScripted(app)
      await app.close()
      const { app: next } = await openRecordedApp(t, {
        home: crashedHome,
        tools: [pokeTool(() => {}, { effect: () => PURE })],
        ...parts,
      })
      await next.run('start', { until_idle: true })
      assert.equal((await dispatchOf(next, dispatch_id)).status, 'done', moment)
      const diagnosed = (await recordsOf(next, session_id, 'diagnosed')).map(({ turn, about }) => `${turn} ${about}`)
      const expected = `hook broken: ${moment}`
      assert.deepEqual(diagnosed, [`1 ${expected}`, `1 ${expected}`, `2 ${expected}`])
      assert.equal((await replayRun(next, dispatch_id)).identical, true, moment)
      await next.close()
    }
  })

  test('on_run_end is called last, after the end is on disk; its failures are logged', async (t) => {
    const received: string[] = []
    let stored: string | undefined
    const orderHook: Hook = {
      name: 'watching',
      on_event: ({ phase, stage }) => void received.push(`${phase} ${stage}`),
      on_after_check_stop: () => void received.push('after_check_stop'),
      async on_run_end({ run_id }) {
        received.push('run_end')
        stored = (await dispatchOf(app, run_id)).status
      },
    }
    const broken: Hook = { name: 'broken', on_run_end: () => assert.fail('hook failed here') }
    const { app, events } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      hooks: [orderHook, broken],
    })
    const { status, dispatch_id } = await runScripted(app)
    assert.deepEqual({ status, stored }, { status: 'done', stored: 'done' })
    assert.deepEqual(received.slice(-3), ['CHECK_STOP stop', 'END end', 'run_end'])
    assert.deepEqual(eventNames(events).slice(-1), ['END end'])
    const { items } = await readLogs(app)
    const expected = { event: 'hook failed', hook: 'broken', moment: 'on_run_end', message: 'hook failed here' }
    assert.partialDeepStrictEqual(
      items.filter(({ event }) => event === 'hook failed'),
      [expected],
    )
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })
})
